#include "core/compare/plan_matrix.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/compare/device_changes.h"
#include "core/compare/group_changes.h"
#include "core/compare/variable_changes.h"
#include "core/search/run/problem_change.h"
#include "core/sim/explain/path_pieces.h"

namespace strato {
namespace {

using CauseTimes = std::map<std::pair<Reason, std::string>, MatrixCause>;

MatrixPlan matrix_plan(const PlanToCompare& plan) {
  const Timeline& timeline = *plan.outcome.timeline;
  MatrixPlan result;
  result.figures = plan_figures(plan);
  result.price = plan_price(plan);
  if (const DeviceId fullest = fullest_device(timeline); fullest.valid()) {
    result.fullest = timeline.program->cluster->device(fullest).name;
    result.peak = timeline.devices[fullest].peak;
    result.capacity = timeline.devices[fullest].capacity;
  }
  for (const TrafficChange& traffic : traffic_changes(timeline, timeline))
    (traffic.inside ? result.sent_inside : result.sent_between) += traffic.bytes.to;
  return result;
}

Nanos spread_of(const std::vector<Nanos>& times) {
  if (times.empty()) return {};
  const auto [least, most] = std::ranges::minmax(times);
  return most - least;
}

void add_causes(const Timeline& timeline, const std::vector<PathPiece>& path, std::size_t plan,
                std::size_t plans, CauseTimes& causes) {
  for (const Cause& cause : step_causes(timeline, path, timeline, path)) {
    MatrixCause& all = causes[{*cause.reason, cause.text}];
    all.text = cause.text;
    all.times.resize(plans);
    all.times[plan] += cause.from;
  }
}

std::vector<MatrixCause> sorted_causes(CauseTimes&& causes) {
  std::vector<MatrixCause> result;
  for (auto& [key, cause] : causes) result.push_back(std::move(cause));
  std::ranges::stable_sort(
      result, [](const MatrixCause& a, const MatrixCause& b) { return a.spread() > b.spread(); });
  return result;
}

// Rows of the reference: `key` names them in the comparison of each plan with it.
template <class Key>
using MatrixRows = std::map<Key, MatrixRow>;

template <class Key>
MatrixRow& row_of(MatrixRows<Key>& rows, Key key, const std::string& name, std::size_t plans) {
  MatrixRow& row = rows[key];
  if (!row.decisions.empty()) return row;
  row.name = name;
  row.decisions.assign(plans, "-");
  row.times.resize(plans);
  return row;
}

template <class Key>
std::vector<MatrixRow> sorted(MatrixRows<Key>&& rows) {
  std::vector<MatrixRow> result;
  for (auto& [key, row] : rows) {
    row.differs |= std::set(row.decisions.begin(), row.decisions.end()).size() > 1;
    result.push_back(std::move(row));
  }
  std::ranges::stable_sort(
      result, [](const MatrixRow& a, const MatrixRow& b) { return a.spread() > b.spread(); });
  return result;
}

}  // namespace

Nanos MatrixRow::spread() const { return spread_of(times); }
Nanos MatrixCause::spread() const { return spread_of(times); }

double MatrixPlan::seconds_per_sample() const {
  return to_seconds(figures.step_time) /
         static_cast<double>(std::max<std::int64_t>(1, figures.batch));
}

double PlanMatrix::above_best(std::size_t plan) const {
  const double least = plans[best()].seconds_per_sample();
  return least > 0 ? plans[plan].seconds_per_sample() / least - 1 : 0;
}

std::size_t PlanMatrix::best() const {
  const auto better = [](const MatrixPlan& a, const MatrixPlan& b) {
    if (a.figures.fits != b.figures.fits) return a.figures.fits;
    return a.seconds_per_sample() < b.seconds_per_sample();
  };
  return static_cast<std::size_t>(std::ranges::min_element(plans, better) - plans.begin());
}

PlanMatrix compare_many(std::span<const PlanToCompare> plans) {
  CHECK(!plans.empty(), "there is a reference");
  const PlanToCompare& reference = plans.back();
  const std::vector<PathPiece> reference_path = path_pieces(*reference.outcome.timeline);
  PlanMatrix matrix;
  CauseTimes causes;
  MatrixRows<GroupId> groups;
  MatrixRows<OpId> variables;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    const PlanToCompare& plan = plans[p];
    const OpMatch match = match_ops(*plan.problem.graph, *reference.problem.graph);
    matrix.plans.push_back(matrix_plan(plan));
    matrix.plans.back().unmatched_ops = match.only_from.size();
    matrix.same_model &= match.same_graph;
    matrix.same_cluster &= plan.problem.cluster->digest() == reference.problem.cluster->digest();
    const Pair<std::vector<PathPiece>> paths{path_pieces(*plan.outcome.timeline), reference_path};
    add_causes(*plan.outcome.timeline, paths.from, p, plans.size(), causes);
    for (const GroupChange& change : group_changes(plan, reference, match, paths)) {
      if (!change.group.valid()) continue;
      MatrixRow& row = row_of(groups, change.group, change.name, plans.size());
      row.group = change.group;
      row.decisions[p] = change.decision.from;
      row.times[p] = change.on_path.from;
      row.differs |= change.differs;
    }
    for (const VariableChange& change : variable_changes(plan, reference, match)) {
      if (!change.update.valid()) continue;
      MatrixRow& row = row_of(variables, change.update, change.name, plans.size());
      row.update = change.update;
      row.decisions[p] = change.synchronised.from;
      row.times[p] = change.communication.from;
      row.differs |= change.differs;
    }
  }
  matrix.causes = sorted_causes(std::move(causes));
  matrix.groups = sorted(std::move(groups));
  matrix.variables = sorted(std::move(variables));
  return matrix;
}

}  // namespace strato
