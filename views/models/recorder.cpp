#include "views/models/recorder.h"

#include "core/base/error.h"
#include "core/search/run_curves.h"
#include "core/store/run_lock.h"
#include "core/strategy/strategy_file.h"
#include "views/models/recovery.h"

namespace strato {
namespace {

// None: those of before stay (a run that goes on and failed then).
void save_curves(Workspace& workspace, RunRow run, const std::vector<PlanResult::Curve>& curves) {
  if (!curves.empty()) workspace.set_setting(curves_key(run), curves_text(curves));
}

}  // namespace

// Touched on the recorder's thread only.
struct Recorder::State {
  std::unique_ptr<Workspace> workspace;
  std::shared_ptr<const Problem> problem;
  ModelRow model = 0;
  ClusterRow cluster = 0;
  std::map<Digest, StrategyRow> rows;  // of the problem's strategies that were stored or shown
  Digest shown;
  bool knows_stored = false;  // rows has those of the problem that were stored before, too
  std::optional<StoredRun> run;
  std::unique_ptr<RunLock> lock;  // while the run is searched

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

Recorder::~Recorder() { worker_.reset(); }

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

void Recorder::problem(const ModelSource& model, const ClusterSource& cluster,
                       std::shared_ptr<const Problem> problem) {
  post([this, model, cluster, problem](State& state) {
    state.problem = problem;
    state.rows.clear();
    state.knows_stored = false;
    state.leave_run();
    if (!state.workspace) return;
    state.model = state.workspace->add(row_of(model, *problem));
    state.cluster = state.workspace->add(row_of(cluster));
    keep_if_shown(state);
    callbacks_.written();
  });
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
    for (const StoredStrategy& strategy : state.workspace->strategies()) {
      if (strategy.model == state.model && strategy.cluster == state.cluster)
        state.rows.emplace(strategy.digest, strategy.id);
    }
  }
  const auto known = state.rows.find(state.shown);
  if (known != state.rows.end()) state.keep(known->second);
}

void Recorder::shown(const Digest& strategy) {
  post([strategy](State& state) {
    state.shown = strategy;
    keep_if_shown(state);
  });
}

void Recorder::strategy(const RecordedStrategy& recorded) {
  post([this, recorded](State& state) {
    if (!state.workspace || !state.problem) return;
    if (state.rows.contains(recorded.strategy.digest())) return keep_if_shown(state);
    add(state, recorded, {});
    callbacks_.written();
  });
}

void Recorder::start_run(const std::string& planner, const RunOptions& options, Nanos baseline) {
  post([this, planner, options, baseline](State& state) {
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
    callbacks_.written();
  });
}

void Recorder::adopt_run(const StoredRun& run) {
  post([run](State& state) {
    state.leave_run();
    state.run = run;
    keep_if_shown(state);
  });
}

void Recorder::progress(const HistoryPoint& point, RunState run_state) {
  post([point, run_state](State& state) {
    if (!state.run) return;
    state.lock_run();
    state.workspace->add_history(state.run->id, point);
    state.run->state = run_state;
    state.run->evaluations = point.evaluations;
    state.run->wall_seconds = point.elapsed_seconds;
    state.run->best_ns = point.best_ns;
    state.workspace->update(*state.run);
  });
}

void Recorder::best(const RecordedStrategy& recorded) {
  post([this, recorded](State& state) {
    if (!state.run) return;
    state.run->best = add(state, recorded, state.run->id);
    state.run->best_ns = recorded.score.step_time.value;
    state.workspace->update(*state.run);
    callbacks_.written();
  });
}

void Recorder::tree(std::shared_ptr<const SearchTree> tree) {
  post([tree](State& state) {
    if (!state.run || !tree) return;
    const bool searched = state.lock != nullptr;
    state.lock_run();
    state.workspace->save_tree(state.run->id, serialise(*tree));
    if (!searched) state.lock.reset();  // steered between searches
  });
}

void Recorder::finish_run(RunState run_state, const std::string& note,
                          const std::vector<PlanResult::Curve>& curves) {
  post([this, run_state, note, curves](State& state) {
    if (!state.run) return;
    save_curves(*state.workspace, state.run->id, curves);
    state.run->state = run_state;
    state.run->note = note;
    state.workspace->update(*state.run);
    state.lock.reset();
    callbacks_.written();
  });
}

void Recorder::kept_run(const StoredRun& done, const HistoryPoint& end,
                        const RecordedStrategy& best,
                        const std::vector<PlanResult::Curve>& curves,
                        std::function<void(RunRow)> kept) {
  post([this, done, end, best, curves, kept](State& state) {
    if (!state.workspace || !state.problem) return;
    StoredRun run = done;
    run.model = state.model;
    run.cluster = state.cluster;
    run.id = state.workspace->add(run);
    RecordedStrategy named = best;
    named.label += " #" + std::to_string(run.id);
    run.best = add(state, named, run.id);
    state.workspace->add_history(run.id, end);
    save_curves(*state.workspace, run.id, curves);
    state.workspace->update(run);
    kept(run.id);
    callbacks_.written();
  });
}

void Recorder::launch(const RecordedStrategy& recorded, const StoredLaunch& done,
                      std::function<void(LaunchRow)> kept) {
  post([this, recorded, done, kept = std::move(kept)](State& state) {
    if (!state.workspace || !state.problem) return;
    const auto known = state.rows.find(recorded.strategy.digest());
    StoredLaunch launch = done;
    launch.strategy = known != state.rows.end() ? known->second : add(state, recorded, {});
    kept(state.workspace->add(launch));
    callbacks_.written();
  });
}

void Recorder::change(std::function<void(Workspace&)> change) {
  post([this, change](State& state) {
    if (!state.workspace) return;
    change(*state.workspace);
    callbacks_.written();
  });
}

void Recorder::wait() { worker_->wait(); }

}  // namespace strato
