#include "views/models/queued_place.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/search/evaluate/baselines.h"
#include "core/strategy/file/named_strategy.h"
#include "core/strategy/file/rebind.h"
#include "views/models/queued_search.h"

namespace strato {
namespace {

// A lock of a run that cannot be.
RunRow lock_of(QueuedRow row) { return -row; }

std::string groups_of(const Problem& problem) {
  return strategy_json(
      name_strategy(data_parallel(problem), *problem.graph, *problem.grouping, *problem.cluster));
}

[[noreturn]] void is_gone(const Workspace& workspace, const std::string& what) {
  throw InputError(workspace.file().string(), what, "is no longer in the workspace",
                   "add the search again");
}

std::optional<StoredQueued> find(const Workspace& workspace, QueuedRow row) {
  for (StoredQueued& queued : workspace.queue().all())
    if (queued.id == row) return std::move(queued);
  return {};
}

LeftSearch left_search(const Workspace& workspace, const StoredQueued& row,
                       std::shared_ptr<QueuedPlace> place) {
  auto search = std::make_shared<QueuedSearch>();
  std::string trouble;
  search->planner = row.planner;
  search->workspace = workspace.file();
  search->place = std::move(place);
  try {
    for (const StoredModel& model : workspace.problems().models())
      if (model.id == row.model) search->model.name = model.name;
    const auto cluster = workspace.problems().cluster(row.cluster);
    if (!cluster) is_gone(workspace, "cluster");
    search->cluster = cluster_from(*cluster);
    search->options = parse_run_options(row.options, "options of a search that waits");
  } catch (const InputError& error) {
    trouble = error.what();
  }
  return {std::move(search), std::move(trouble)};
}

std::vector<Nanos> op_times(const Problem& problem) {
  return mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
}

}  // namespace

QueuedPlace::QueuedPlace(const Workspace& workspace, QueuedRow row)
    : row_(row), lock_(std::make_unique<RunLock>(workspace.file(), lock_of(row))) {}

void QueuedPlace::store(Workspace& workspace, const QueuedSearch& search) {
  const std::lock_guard guard(mutex_);
  if (ended_) return;
  StoredQueued stored;
  stored.model = workspace.add(row_of(search.model, *search.problem));
  stored.cluster = workspace.add(row_of(*search.cluster.cluster));
  stored.planner = search.planner;
  stored.options = run_options_text(search.options);
  stored.groups = groups_of(*search.problem);
  row_ = workspace.add(stored);
  try {
    lock_ = std::make_unique<RunLock>(workspace.file(), lock_of(row_));
  } catch (
      const InputError&) {  // a window that was opened just now took it: it finds nothing there
    workspace.queue().remove(std::exchange(row_, 0));
  }
}

void QueuedPlace::end(Workspace& workspace) {
  const std::lock_guard guard(mutex_);
  ended_ = true;
  if (row_ > 0) workspace.queue().remove(std::exchange(row_, 0));
  lock_.reset();
}

void QueuedPlace::leave() {
  const std::lock_guard guard(mutex_);
  ended_ = true;
  row_ = 0;
  lock_.reset();
}

QueuedRow QueuedPlace::row() const {
  const std::lock_guard guard(mutex_);
  return row_;
}

std::vector<LeftSearch> left_searches(const Workspace& workspace) {
  std::map<QueuedRow, std::shared_ptr<QueuedPlace>> ours;
  for (const StoredQueued& row : workspace.queue().all()) {
    try {
      ours[row.id] = std::make_shared<QueuedPlace>(workspace, row.id);
    } catch (const InputError&) {  // somebody has it
    }
  }
  if (ours.empty()) return {};
  std::vector<LeftSearch> left;
  for (const StoredQueued& row :
       workspace.queue().all()) {  // what is still there now that it is locked
    const auto place = ours.find(row.id);
    if (place != ours.end()) left.push_back(left_search(workspace, row, place->second));
  }
  return left;
}

QueuedSearch with_problem(const QueuedSearch& left) {
  const Workspace workspace(left.workspace, true);
  const auto row = find(workspace, left.place->row());
  if (!row) is_gone(workspace, "the search");
  const auto model = workspace.problems().model(row->model);
  if (!model) is_gone(workspace, "model");
  QueuedSearch search = left;
  search.model = model_from(*model, left.workspace.string());
  CostSources costs;
  if (left.options.costs)
    costs = restore_costs(*left.options.costs, left.workspace.string(), "a search that waits");
  PreparedProblem prepared = prepare(search.model, search.cluster, costs);
  const NamedStrategy groups = parse_strategy(row->groups, left.workspace.string());
  if (groups.names_ops()) {
    const Problem& problem = *prepared.problem;
    RestoredGrouping restored = restore_grouping(groups, *problem.graph, op_times(problem));
    if (!(restored.grouping.digest() == problem.grouping->digest()))
      prepared = regrouped(prepared, std::move(restored.grouping));
  }
  search.problem = prepared.problem;
  return search;
}

}  // namespace strato
