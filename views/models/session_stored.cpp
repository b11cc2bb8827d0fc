// Opening a workspace, and showing what it has: strategies, runs, models, clusters.
#include <future>

#include "core/base/error.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/run/run_record.h"
#include "core/search/run/tree_problem.h"
#include "core/search/tree/search_tree.h"
#include "core/store/workspace.h"
#include "core/strategy/file/named_strategy.h"
#include "core/strategy/file/rebind.h"
#include "views/models/recovery.h"
#include "views/models/session.h"
#include "views/models/session_state.h"

namespace strato {
namespace {

[[noreturn]] void missing_row(const std::filesystem::path& file, const std::string& what) {
  throw InputError(file.string(), what, "is not in the workspace",
                   "it may have been deleted; refresh");
}

template <class T>
T require(std::optional<T> row, const std::filesystem::path& file, const std::string& what) {
  if (!row) missing_row(file, what);
  return std::move(*row);
}

// Takes the model and cluster of a stored row unless they are loaded already.
void take_sources(Loader& loader, const Workspace& workspace, ModelRow model, ClusterRow cluster) {
  const auto stored_model = require(workspace.problems().model(model), workspace.file(), "model");
  const auto stored_cluster =
      require(workspace.problems().cluster(cluster), workspace.file(), "cluster");
  const bool same =
      loader.prepared && loader.cluster && loader.model &&
      loader.prepared->problem->graph->digest() == stored_model.digest &&
      loader.cluster->cluster->digest() == stored_cluster.digest &&
      row_of(*loader.model, *loader.prepared->problem).options == stored_model.options;
  if (same) return;
  loader.forget_problem();
  loader.model = model_from(stored_model, workspace.file().string());
  loader.cluster = cluster_from(stored_cluster);
}

std::vector<Nanos> op_times(const Problem& problem) {
  return mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
}

void choose_strategy(LoadedProblem& loaded, const StoredStrategy& stored, const std::string& file) {
  const Problem& problem = *loaded.prepared.problem;
  const NamedStrategy named = parse_strategy(stored.json, file);
  const Rebound bound = restore_strategy(named, *problem.graph, *problem.grouping, *problem.cluster,
                                         op_times(problem));
  loaded.strategy = complete(bound.strategy, *problem.cluster);
  loaded.label = QString::fromStdString(stored.label);
  loaded.unmatched = bound.unmatched;
}

struct StoredTree {
  std::shared_ptr<const SearchTree> tree;
  QString error;
};

// The rest of a run is worth showing without its tree.
StoredTree read_tree(const Workspace& workspace, RunRow run) {
  try {
    const auto bytes = workspace.runs().tree(run);
    if (!bytes) return {};
    return {std::make_shared<const SearchTree>(parse_search_tree(*bytes)), {}};
  } catch (const InputError& error) {
    return {nullptr, QString::fromUtf8(error.what())};
  }
}

// Pictures only: damaged ones are not worth a word.
std::vector<PlanResult::Curve> read_curves(const Workspace& workspace, RunRow run) {
  try {
    const auto text = workspace.settings().find(curves_key(run));
    if (text) return parse_curves(*text, "curves of run " + std::to_string(run));
  } catch (const InputError&) {
  }
  return {};
}

// The costs that a run was made with, so that its figures and its tree hold; else says why not.
std::string take_costs(Loader& loader, const std::optional<RunCosts>& wanted,
                       const std::string& file, RunRow run) {
  if (describe(loader.costs) == (wanted ? wanted->are : std::string())) return {};
  CostSources costs;
  try {
    if (wanted) costs = restore_costs(*wanted, file, "run " + std::to_string(run));
  } catch (const InputError& error) {
    return error.what();
  }
  loader.costs = std::move(costs);
  loader.cost_files = wanted ? wanted->files : CostFiles();
  loader.forget_problem();
  return {};
}

// A search that was begun in a plan's groups has those of its best strategy, one that was begun
// after costs were opened has the groups of the costs before: where that is so, they are shown.
void find_groups_of(const SearchTree& tree, const std::optional<StoredStrategy>& best,
                    const std::string& file, LoadedProblem& loaded) {
  const auto take = [&](PreparedProblem other) {
    if (other.problem->digest() != tree.problem) return false;
    loaded.prepared = std::move(other);
    loaded.prepared.regrouped = true;
    return true;
  };
  const Problem& problem = *loaded.prepared.problem;
  if (tree.problem == problem.digest()) return;
  if (!describe(loaded.costs).empty() &&
      take(recosted(prepare(loaded.model, loaded.cluster, {}), loaded.costs)))
    return;
  const NamedStrategy named = best ? parse_strategy(best->json, file) : NamedStrategy();
  if (const auto found = problem_of_tree(tree, problem, named))
    take(regrouped(loaded.prepared, *found->grouping));
}

// Said to be under way, and held: by the queue of this program, or by another one. Not one whose
// program was killed.
bool is_searched(const std::filesystem::path& file, const StoredRun& run) {
  if (run.state != RunState::Running && run.state != RunState::Paused) return false;
  try {
    const RunLock lock(file, run.id);
    return false;
  } catch (const InputError&) {
    return true;
  }
}

void take_run(Loader& loader, const Workspace& workspace, RunRow row) {
  const auto run =
      require(workspace.runs().find(row), workspace.file(), "run " + std::to_string(row));
  const RunOptions options =
      parse_run_options(run.options, "options of run " + std::to_string(run.id));
  std::string trouble = take_costs(loader, options.costs, workspace.file().string(), run.id);
  take_sources(loader, workspace, run.model, run.cluster);
  StoredTree stored = read_tree(workspace, row);
  const bool in_others =
      loader.prepared && loader.prepared->regrouped &&
      !(stored.tree && stored.tree->problem == loader.prepared->problem->digest());
  if (in_others) loader.forget_problem();
  std::optional<StoredStrategy> best;
  if (run.best) best = workspace.strategies().find(*run.best);
  loader.choose = [run, best, options = options.planner, trouble = std::move(trouble),
                   history = workspace.runs().history(row), curves = read_curves(workspace, row),
                   stored = std::move(stored),
                   file = workspace.file().string()](LoadedProblem& loaded) {
    if (stored.tree) find_groups_of(*stored.tree, best, file, loaded);
    loaded.workspace = file;
    loaded.run = run;
    loaded.run_options = options;
    loaded.history = history;
    loaded.curves = curves;
    loaded.tree = stored.tree;
    loaded.tree_error = stored.error;
    if (best) choose_strategy(loaded, *best, file);
    if (!trouble.empty()) loaded.unmatched.push_back(trouble);
    loaded.searched_elsewhere = is_searched(file, run);
    if (!best) return;
    loaded.label = QStringLiteral("%1 #%2").arg(QString::fromStdString(run.planner)).arg(run.id);
  };
}

void take_strategy(Loader& loader, const Workspace& workspace, StrategyRow strategy) {
  const std::filesystem::path file = workspace.file();
  const auto row =
      require(workspace.strategies().find(strategy), file, "strategy " + std::to_string(strategy));
  take_sources(loader, workspace, row.model, row.cluster);
  loader.choose = [row, file](LoadedProblem& loaded) {
    choose_strategy(loaded, row, file.string());
    loaded.workspace = file;
  };
}

// A run with its tree, also when what was shown is an edit of what it found.
void take_latest(Loader& loader, const Workspace& workspace, const LastShown& latest) {
  if (latest.run) return take_run(loader, workspace, *latest.run);
  take_strategy(loader, workspace, latest.strategy);
}

}  // namespace

void Session::open_workspace(const std::filesystem::path& file, bool show_latest, bool keep_open) {
  using Latest = std::optional<LastShown>;
  const auto found = std::make_shared<std::promise<Latest>>();
  state_->store_what_waits();
  WorkspaceOpening opening{file, show_latest, {}, {}};
  if (keep_open && state_->model && snapshot_.problem)
    opening.keep = RecordedProblem{*state_->model, *state_->cluster, snapshot_.opened};
  opening.opened = [this, found, epoch = state_->tree_epoch](const OpenedWorkspace& opened) {
    found->set_value(opened.latest);
    post([this, epoch, opened] { take_opened(epoch, opened); });
  };
  begin_busy(tr("Opening %1").arg(QString::fromStdString(file.filename().string())));
  state_->recorder.open(opening);
  if (!keep_open) state_->drop_loads(snapshot_);
  const bool again = workspace() && workspace()->is_read() && workspace()->file() == file;
  state_->workspaces.push_back(
      again ? state_->shown() : OpenWorkspace{std::make_shared<const WorkspaceLists>(file), {}});
  if (!again) {
    state_->constrained.reset();
    find_constraints();
    emit workspace_changed();
  }
  if (!show_latest) return;
  const std::shared_future<Latest> latest = found->get_future();
  load_model(
      busy_text(),
      [file, latest](Loader& loader) {
        if (const Latest& wanted = latest.get())
          take_latest(loader, Workspace(file, true), *wanted);
      },
      [this, latest] {
        const Latest& wanted = latest.get();
        if (wanted && wanted->run && wanted->edited)
          show_strategy(wanted->strategy, [this] { forget_before(); });
      });
}

// What was shown only on the way to what is shown is nothing to compare with.
void Session::forget_before() {
  snapshot_.before.reset();
  state_->next_before.reset();
  emit outcome_changed();
}

// The recorder opens one after the other.
void Session::take_opened(std::uint64_t epoch, const OpenedWorkspace& opened) {
  std::deque<OpenWorkspace>& workspaces = state_->workspaces;
  if (opened.lists) {
    if (epoch == state_->tree_epoch) abandon_search();  // its run is in the one before
    workspaces.pop_front();
    workspaces.front().lists = opened.lists;
  } else {  // what was demanded meanwhile is stored in the one that stays open
    workspaces[1].constraints.merge(workspaces[0].constraints);
    workspaces[0].constraints = std::move(workspaces[1].constraints);
    workspaces.erase(workspaces.begin() + 1);
  }
  const bool is_latest = workspaces.size() == 1;
  if (is_latest) {
    state_->look.start();
    state_->constrained.reset();
    find_constraints();
    emit workspace_changed();
  }
  end_busy();
  if (!opened.lists) emit failed(QString::fromStdString(opened.error));
  const auto wanted = is_latest ? std::exchange(state_->to_start, {}) : std::nullopt;
  if (!wanted) return;
  if (!opened.latest && wanted->problem == snapshot_.opened)
    return start_search(wanted->planner, wanted->options);
  emit message(tr("The search was not begun: the workspace shows another problem"));
}

void Session::take_lists(std::shared_ptr<const WorkspaceLists> lists) {
  OpenWorkspace& open = state_->workspaces.front();
  if (!open.lists || open.lists->file() != lists->file()) return;
  open.lists = std::move(lists);
  if (state_->workspaces.size() == 1) emit workspace_changed();
}

void Session::ask_workspace(QObject* receiver, WorkspaceQuestion question) {
  if (!workspace()) return;
  ++state_->asked;
  const auto answered = [this, guard = QPointer<QObject>(receiver), file = workspace()->file()](
                            std::function<void()> answer, const QString& error) {
    post([this, guard, file, answer = std::move(answer), error] {
      --state_->asked;
      if (!error.isEmpty()) emit failed(error);
      if (answer && guard && workspace() && workspace()->file() == file) answer();
    });
  };
  state_->recorder.ask([answered, file = workspace()->file(),
                        question = std::move(question)](const Workspace* workspace) {
    try {
      const bool is_open = workspace && workspace->file() == file;
      answered(is_open ? question(*workspace) : nullptr, {});
    } catch (const std::exception& error) {
      answered(nullptr, QString::fromUtf8(error.what()));
    }
  });
}

void Session::show_strategy(StrategyRow strategy, std::function<void()> shown) {
  if (!workspace()) return;
  load_model(
      tr("Opening strategy"),
      [file = workspace()->file(), strategy](Loader& loader) {
        take_strategy(loader, Workspace(file, true), strategy);
      },
      std::move(shown));
}

void Session::show_run(RunRow run, std::function<void()> shown) {
  if (!workspace()) return;
  load_model(
      tr("Opening run #%1").arg(run),
      [file = workspace()->file(), run](Loader& loader) {
        const Workspace workspace(file, true);
        take_run(loader, workspace, run);
      },
      std::move(shown));
}

void Session::show_model(ModelRow model) {
  if (!workspace()) return;
  load_model(tr("Opening model"), [file = workspace()->file(), model](Loader& loader) {
    const Workspace workspace(file, true);
    loader.model =
        model_from(require(workspace.problems().model(model), file, "model"), file.string());
    loader.forget_problem();
  });
}

void Session::show_cluster(ClusterRow cluster) {
  if (!workspace()) return;
  load(tr("Opening cluster"), [file = workspace()->file(), cluster](Loader& loader) {
    const Workspace workspace(file, true);
    loader.cluster = cluster_from(require(workspace.problems().cluster(cluster), file, "cluster"));
    loader.forget_problem();
  });
}

}  // namespace strato
