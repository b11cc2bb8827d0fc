#include "views/models/recorder.h"

#include <set>

#include "core/base/error.h"
#include "core/search/run/run_record.h"
#include "core/search/tree/search_tree.h"
#include "core/store/workspace.h"
#include "core/strategy/file/named_strategy.h"
#include "views/models/recovery.h"

namespace strato {
namespace {

// The settings that the window needs at once: what a person demands of strategies.
constexpr std::string_view kListedSettings = "constraints/";

// None: those of before stay (a run that goes on and failed then).
void save_curves(Workspace& workspace, RunRow run, const std::vector<PlanResult::Curve>& curves) {
  if (!curves.empty()) workspace.settings().set(curves_key(run), curves_text(curves));
}

}  // namespace

// Touched on the recorder's thread only.
struct Recorder::State {
  std::unique_ptr<Workspace> workspace;
  std::shared_ptr<const Problem> problem;
  ModelRow model = 0;
  ClusterRow cluster = 0;
  std::map<Digest, StrategyRow> rows;  // of the problem's strategies that were stored or shown
  std::set<Digest> passed;  // of rows: those that perhaps only searches had, on their way
  Digest shown;
  bool knows_stored = false;  // rows has those of the problem that were stored before, too
  std::optional<StoredRun> run;
  std::unique_ptr<RunLock> lock;  // while the run is searched
  std::int64_t version = -1;      // of the workspace, as it was told last
  bool tell_waits = false;        // a job that tells what is there
  // A workspace has just been opened: the problem that may be stored in it, and the one before.
  std::optional<RecordedProblem> offered;
  std::unique_ptr<State> former;  // has a problem; its own are being searched in

  // What goes on where it is once another workspace is open.
  std::unique_ptr<State> left() {
    if (!problem) return std::move(former);
    auto now = std::make_unique<State>(std::move(*this));
    for (auto* at = &now->former; *at;) {
      if ((*at)->lock) {
        at = &(*at)->former;
      } else {
        *at = std::move((*at)->former);
      }
    }
    return now;
  }
  void leave_run() {
    lock.reset();
    run.reset();
  }
  void keep(StrategyRow row) const {
    keep_shown(*workspace, row, run ? std::optional(run->id) : std::nullopt);
  }
  void lock_run() {
    if (!lock) lock = std::make_unique<RunLock>(workspace->file(), run->id);
  }
};

Recorder::Recorder(Callbacks callbacks)
    : state_(std::make_unique<State>()),
      callbacks_(std::move(callbacks)),
      worker_(std::make_unique<Worker>(Worker::OnExit::FinishQueued)) {}

Recorder::~Recorder() {
  tell_no_more();
  worker_->end();  // its last jobs still post to it
}

void Recorder::post(std::function<void(State&)> job) {
  worker_->post([this, job = std::move(job)] {
    try {
      job(*state_);
    } catch (const std::exception& error) {
      callbacks_.failed(error.what());
    }
  });
}

void Recorder::open(const std::filesystem::path& file) {
  post([file](State& state) {
    state = State();
    state.workspace = std::make_unique<Workspace>(file);
  });
}

void Recorder::open(const WorkspaceOpening& opening) {
  post([this, opening](State& state) {
    OpenedWorkspace result;
    const auto told = [this](const auto& attempt) {  // what fails there refuses no workspace
      try {
        attempt();
      } catch (const std::exception& error) {
        callbacks_.failed(error.what());
      }
    };
    auto next = std::make_unique<State>();
    try {
      next->workspace = std::make_unique<Workspace>(opening.file);
      told([&] { end_orphaned_runs(*next->workspace); });
      result.lists = std::make_shared<const WorkspaceLists>(*next->workspace, kListedSettings);
      told([&] {
        if (opening.looks_for_latest) result.latest = latest_to_show(*next->workspace);
      });
    } catch (const std::exception& error) {
      result.lists.reset();
      result.error = error.what();
      return opening.opened(result);
    }
    next->version = result.lists->version();
    next->offered = opening.keep;
    next->former = state.left();
    state = std::move(*next);
    opening.opened(result);
    if (state.offered && !result.latest)
      take_problem(state, *std::exchange(state.offered, std::nullopt));
  });
}

void Recorder::problem(const ModelSource& model, const ClusterSource& cluster,
                       std::shared_ptr<const Problem> problem) {
  post([this, given = RecordedProblem{model, cluster, problem}](State& state) {
    state.former.reset();
    state.offered.reset();
    const bool same_shape = state.problem && state.problem->grouping == given.problem->grouping &&
                            state.problem->cluster == given.problem->cluster;
    if (!same_shape) return take_problem(state, given);
    state.problem = given.problem;  // with the run that is under way
  });
}

void Recorder::nothing_comes() {
  post([this](State& state) {
    if (!state.problem && state.offered)
      take_problem(state, *std::exchange(state.offered, std::nullopt));
  });
}

void Recorder::take_problem(State& state, const RecordedProblem& given) {
  state.problem = given.problem;
  state.rows.clear();
  state.passed.clear();
  state.knows_stored = false;
  state.leave_run();
  if (!state.workspace) return;
  state.model = state.workspace->add(row_of(given.model, *given.problem));
  state.cluster = state.workspace->add(row_of(*given.cluster.cluster));
  keep_if_shown(state);
  wrote();
}

// Where the problem that is edited is stored.
Recorder::State& Recorder::state_for_edits(State& state) {
  if (state.problem) return state;
  if (state.former && state.former->workspace) return *state.former;
  if (state.offered) take_problem(state, *std::exchange(state.offered, std::nullopt));
  return state;
}

// Null: no run is under way.
Recorder::State* Recorder::state_of_run(State& state) {
  for (State* each = &state; each; each = each->former.get())
    if (each->run) return each;
  return nullptr;
}

void Recorder::wrote() {
  callbacks_.written();
  if (!callbacks_.lists || ending_ || std::exchange(state_->tell_waits, true)) return;
  post([this](State& state) {  // once for all that is written until then
    state.tell_waits = false;
    if (!state.workspace || ending_) return;
    auto lists = std::make_shared<const WorkspaceLists>(*state.workspace, kListedSettings);
    state.version = lists->version();
    callbacks_.lists(std::move(lists));
  });
}

void Recorder::look() {
  if (ending_ || look_waits_.exchange(true)) return;
  post([this](State& state) {
    look_waits_ = false;
    try {
      if (!ending_ && state.workspace && state.workspace->data_version() != state.version) wrote();
    } catch (const InputError&) {
    }
  });
}

void Recorder::ask(std::function<void(const Workspace*)> question) {
  post([question = std::move(question)](State& state) { question(state.workspace.get()); });
}

StrategyRow Recorder::add(State& state, const RecordedStrategy& recorded,
                          std::optional<RunRow> run) {
  StoredStrategy row;
  row.model = state.model;
  row.cluster = state.cluster;
  if (recorded.parent) {
    const auto parent = state.rows.find(*recorded.parent);
    if (parent != state.rows.end()) row.parent = parent->second;
  }
  row.run = run;
  row.origin = recorded.origin;
  row.label = recorded.label;
  const Problem problem = problem_for(*state.problem, recorded.strategy);
  row.json = strategy_json(
      name_strategy(recorded.strategy, *problem.graph, *problem.grouping, *problem.cluster));
  row.digest = recorded.strategy.digest();
  row.step_time_ns = recorded.score.step_time.value;
  row.feasible = recorded.score.feasible;
  const StrategyRow id = state.workspace->add(row);
  state.rows[row.digest] = id;
  if (row.digest == state.shown) state.keep(id);
  return id;
}

// Until it is stored, what was shown before it stays known.
void Recorder::keep_if_shown(State& state) {
  if (!state.workspace || !state.problem) return;
  if (!state.rows.contains(state.shown) && !std::exchange(state.knows_stored, true)) {
    for (const StoredStrategy& strategy : state.workspace->strategies().all()) {
      if (strategy.model != state.model || strategy.cluster != state.cluster) continue;
      const bool is_new = state.rows.emplace(strategy.digest, strategy.id).second;
      if (strategy.run && is_new) state.passed.insert(strategy.digest);
    }
  }
  const auto known = state.rows.find(state.shown);
  if (known != state.rows.end()) state.keep(known->second);
}

void Recorder::shown(const Digest& strategy) {
  post([strategy](State& state) {
    for (State* each : {&state, state.problem ? nullptr : state.former.get()}) {
      if (!each) continue;
      each->shown = strategy;
      keep_if_shown(*each);
    }
  });
}

void Recorder::strategy(const RecordedStrategy& recorded) {
  post([this, recorded](State& open) {
    State& state = state_for_edits(open);
    if (!state.workspace || !state.problem) return;
    const Digest digest = recorded.strategy.digest();
    if (state.rows.contains(digest) && state.passed.erase(digest) == 0) return keep_if_shown(state);
    add(state, recorded, {});
    wrote();
  });
}

void Recorder::start_run(const std::string& planner, const RunOptions& options, Nanos baseline) {
  post([this, planner, options, baseline](State& open) {
    State& state = state_for_edits(open);
    if (!state.workspace || !state.problem) return;
    state.leave_run();
    StoredRun run;
    run.model = state.model;
    run.cluster = state.cluster;
    run.planner = planner;
    run.options = run_options_text(options);
    run.baseline_ns = baseline.value;
    run.id = state.workspace->add(run);
    state.run = run;
    state.lock_run();
    callbacks_.run_started(run.id);
    wrote();
  });
}

void Recorder::adopt_run(const StoredRun& run) {
  post([run](State& state) {
    if (!state.workspace || !state.problem) return;
    state.leave_run();
    state.run = run;
    keep_if_shown(state);
  });
}

void Recorder::progress(const HistoryPoint& point, RunState run_state) {
  post([point, run_state](State& open) {
    if (!state_of_run(open)) return;
    State& state = *state_of_run(open);
    state.lock_run();
    state.workspace->runs().add_history(state.run->id, point);
    state.run->state = run_state;
    state.run->evaluations = point.evaluations;
    state.run->wall_seconds = point.elapsed_seconds;
    state.run->best_ns = point.best_ns;
    state.workspace->update(*state.run);
  });
}

void Recorder::best(const RecordedStrategy& recorded) {
  post([this, recorded](State& open) {
    if (!state_of_run(open)) return;
    State& state = *state_of_run(open);
    const Digest digest = recorded.strategy.digest();
    if (!state.rows.contains(digest)) state.passed.insert(digest);
    state.run->best = add(state, recorded, state.run->id);
    state.run->best_ns = recorded.score.step_time.value;
    state.workspace->update(*state.run);
    wrote();
  });
}

void Recorder::tree(std::shared_ptr<const SearchTree> tree) {
  post([tree](State& open) {
    if (!state_of_run(open) || !tree) return;
    State& state = *state_of_run(open);
    const bool searched = state.lock != nullptr;
    state.lock_run();
    state.workspace->runs().save_tree(state.run->id, serialise(*tree));
    if (!searched) state.lock.reset();  // steered between searches
  });
}

void Recorder::finish_run(RunState run_state, const std::string& note,
                          const std::vector<PlanResult::Curve>& curves) {
  post([this, run_state, note, curves](State& open) {
    if (!state_of_run(open)) return;
    State& state = *state_of_run(open);
    save_curves(*state.workspace, state.run->id, curves);
    state.run->state = run_state;
    state.run->note = note;
    state.workspace->update(*state.run);
    state.lock.reset();
    wrote();
  });
}

void Recorder::kept_run(const StoredRun& done, const std::vector<HistoryPoint>& course,
                        const RecordedStrategy& best, const std::vector<PlanResult::Curve>& curves,
                        std::function<void(RunRow)> kept) {
  post([this, done, course, best, curves, kept](State& open) {
    State& state = state_for_edits(open);
    if (!state.workspace || !state.problem) return;
    StoredRun run = done;
    run.model = state.model;
    run.cluster = state.cluster;
    run.id = state.workspace->add(run);
    RecordedStrategy named = best;
    named.label += " #" + std::to_string(run.id);
    run.best = add(state, named, run.id);
    for (const HistoryPoint& point : course) state.workspace->runs().add_history(run.id, point);
    save_curves(*state.workspace, run.id, curves);
    state.workspace->update(run);
    kept(run.id);
    wrote();
  });
}

void Recorder::launch(const RecordedStrategy& recorded, const StoredLaunch& done,
                      std::function<void(LaunchRow, const std::filesystem::path&)> kept) {
  post([this, recorded, done, kept = std::move(kept)](State& open) {
    State& state = state_for_edits(open);
    if (!state.workspace || !state.problem) return;
    const auto known = state.rows.find(recorded.strategy.digest());
    StoredLaunch launch = done;
    launch.strategy = known != state.rows.end() ? known->second : add(state, recorded, {});
    kept(state.workspace->add(launch), state.workspace->file());
    wrote();
  });
}

void Recorder::change(std::function<void(Workspace&)> change, const std::filesystem::path& file) {
  post([this, change, file](State& state) {
    if (!file.empty() && !(state.workspace && state.workspace->file() == file)) {
      if (!std::filesystem::exists(file)) return;
      Workspace other(file);
      return change(other);
    }
    if (!state.workspace) return;
    change(*state.workspace);
    wrote();
  });
}

void Recorder::tell_no_more() { ending_ = true; }

void Recorder::wait() { worker_->wait(); }

bool Recorder::wait_for(std::chrono::milliseconds patience) { return worker_->wait_for(patience); }

}  // namespace strato
