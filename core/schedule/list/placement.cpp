#include "core/schedule/list/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::array kParts = {1.0, 0.85, 0.7, 0.55, 0.4};

std::shared_ptr<PlanningSteps> steps_of_ops(const Problem& problem, const Dag& dag,
                                            const std::string& algorithm) {
  auto steps = std::make_shared<PlanningSteps>();
  steps->algorithm = algorithm;
  for (const NodeIndex node : dag.nodes()) {
    const OpId op(at(node));
    steps->nodes.push_back({op});
    steps->names.push_back(problem.graph->op(op).name);
    for (const DagEdge& edge : dag.successors(node))
      steps->edges.push_back({node, edge.node, dag.bytes(edge.edge)});
  }
  return steps;
}

}  // namespace

Strategy strategy_by_ops(const Problem& problem, std::span<const std::int32_t> choice_of,
                         std::span<const Decision> choices) {
  const std::size_t ops = problem.graph->op_count();
  CHECK(choice_of.size() == ops, "one choice for each op");
  const auto count = static_cast<std::int64_t>(choices.size());
  std::vector<std::int64_t> part(ops);  // of its group, by what it is told
  for (std::size_t i = 0; i < ops; ++i)
    part[i] = problem.grouping->group_of(OpId(i)).value() * count + choice_of[i];
  std::vector<std::int64_t> parts = part;
  std::ranges::sort(parts);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());

  Strategy strategy;
  const bool divided = parts.size() > problem.grouping->size();
  if (divided) {
    std::vector<std::int32_t> group_of(ops);
    for (std::size_t i = 0; i < ops; ++i)
      group_of[i] =
          static_cast<std::int32_t>(std::ranges::lower_bound(parts, part[i]) - parts.begin());
    strategy.grouping = std::make_shared<const Grouping>(
        *problem.graph, group_of, mean_op_times(*problem.graph, *problem.cluster, *problem.cost));
  }
  const Grouping& grouping = divided ? *strategy.grouping : *problem.grouping;
  for (const OpGroup& group : grouping.groups())
    strategy.groups.emplace_back(choices[at(choice_of[group.ops.front().index()])]);
  return strategy;
}

Strategy strategy_on_devices(const Problem& problem, std::span<const DeviceId> device_of) {
  std::vector<Decision> choices;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
    choices.push_back(decision_on_device(DeviceId(d)));
  std::vector<std::int32_t> choice_of;
  for (const DeviceId device : device_of) choice_of.push_back(device.value());
  return strategy_by_ops(problem, choice_of, choices);
}

Strategy strategy_of(const Problem& problem, const Schedule& schedule,
                     std::span<const NodeIndex> node_of, bool with_order) {
  const std::size_t ops = problem.graph->op_count();
  const auto node = [&](std::size_t op) { return node_of.empty() ? op : at(node_of[op]); };
  std::vector<DeviceId> devices;
  std::vector<Nanos> starts;
  for (std::size_t i = 0; i < ops; ++i) {
    devices.push_back(schedule.device[node(i)]);
    starts.push_back(schedule.start[node(i)]);
  }
  Strategy strategy = strategy_on_devices(problem, devices);
  if (with_order) strategy.priorities = places_by_start(starts);
  return strategy;
}

std::vector<std::int32_t> places_by_start(std::span<const Nanos> starts) {
  std::vector<std::size_t> by_start(starts.size());
  std::iota(by_start.begin(), by_start.end(), 0);
  std::ranges::stable_sort(by_start, {}, [&](std::size_t op) { return starts[op]; });
  std::vector<std::int32_t> places(starts.size());
  for (std::size_t place = 0; place < places.size(); ++place)
    places[by_start[place]] = static_cast<std::int32_t>(place);
  return places;
}

OptionTable ListPlannerSettings::option_table(std::string paper_help) {
  return {{"order", with_order, "ops run in the order of the schedule; false: first in, first out"},
          {"variant", paper, {"default", "paper"}, std::move(paper_help)}};
}

PlanResult plan_by_schedule(const PlanRequest& request, const Dag& dag,
                            const ListPlannerSettings& settings, const std::string& algorithm,
                            const MakeSchedule& make) {
  PlanResult result;
  for (const double part : kParts) {
    std::shared_ptr<PlanningSteps> steps;
    if (request.options.record_steps) steps = steps_of_ops(request.problem, dag, algorithm);
    const Schedule schedule = make(part, steps.get());
    Strategy strategy = strategy_of(request.problem, schedule, {}, settings.with_order);
    const Score score = request.evaluator.evaluate(strategy);
    const bool first = result.evaluations++ == 0;
    if (first || score.better_than(result.score)) {
      result.strategy = std::move(strategy);
      result.score = score;
      result.steps = std::move(steps);
      result.facts = {{"scheduled makespan", fmt::format("{} ns", schedule.makespan.value)}};
      if (part < 1)
        result.facts.push_back({"memory planned with", fmt::format("{:.0f} %", part * 100)});
      request.observer.on_improvement(result.strategy, score,
                                      {result.evaluations, result.evaluations, 0, score});
    }
    // A need beyond what the devices hold gets no smaller by planning with less of them.
    if (result.score.feasible || settings.paper || !schedule.fits || request.stop.stop_requested())
      break;
  }
  return result;
}

void place_and_record(Scheduling& scheduling, NodeIndex node, DeviceId device,
                      PlanningSteps::Why why, std::vector<PlanningSteps::Step>* steps,
                      std::string remark) {
  if (steps == nullptr) return scheduling.place(node, device);
  std::vector<PlanningSteps::Candidate> candidates;
  for (std::size_t d = 0; d < scheduling.device_count(); ++d)
    candidates.push_back({DeviceId(d), scheduling.earliest_start(node, DeviceId(d)),
                          scheduling.earliest_finish(node, DeviceId(d)),
                          scheduling.has_room(node, DeviceId(d))});
  scheduling.place(node, device);
  steps->push_back({node, device, scheduling.start(node), scheduling.finish(node), why,
                    std::move(candidates), std::move(remark)});
}

}  // namespace strato
