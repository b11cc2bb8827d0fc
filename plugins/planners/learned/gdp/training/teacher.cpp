#include "plugins/planners/learned/gdp/training/teacher.h"

#include <algorithm>
#include <bit>
#include <exception>

#include "core/base/random.h"

namespace strato::gdp {
namespace {

std::int32_t choice_of(const std::vector<Decision>& choices, const Decision& decision) {
  const auto same = std::ranges::find(choices, decision);
  if (same != choices.end()) return static_cast<std::int32_t>(same - choices.begin());
  const auto many = [&](const Decision& choice) {
    return choice.devices.size() > 1 &&
           (choice.mode == Mode::ReplicatePs) == (decision.mode == Mode::ReplicatePs);
  };
  const auto all = std::ranges::find_if(choices, many);
  if (decision.devices.size() > 1 && all != choices.end())
    return static_cast<std::int32_t>(all - choices.begin());
  return decision.devices.front().device.value();  // choices begin with the devices
}

std::vector<Placement> heuristic_placements(const PlacementTask& task, const Problem& problem,
                                            Evaluator& evaluator, const TeacherOptions& options,
                                            const std::stop_token& stop) {
  std::vector<Placement> placements;
  if (options.heuristics == nullptr) return placements;
  for (const PluginInfo& plugin : options.heuristics->list(PluginKind::Planner)) {
    if (plugin.effort != Effort::Quick || stop.stop_requested()) continue;
    try {
      Observer quiet;
      const PlanResult result = options.heuristics->planner(plugin.name)
                                    ->plan(problem, evaluator, {}, quiet, stop, nullptr);
      if (!result.strategy.is_complete()) continue;
      Placement placement = nearest_placement(task, result.strategy);
      if (std::ranges::find(placements, placement) == placements.end())
        placements.push_back(std::move(placement));
    } catch (const std::exception&) {
      continue;  // it cannot serve this problem: one teacher fewer
    }
  }
  return placements;
}

// Changes of a placement.
class PlacementMoves {
 public:
  PlacementMoves(const PlacementTask& task, Random& random) : task_(task), random_(random) {}

  Placement of(const Placement& base) {
    Placement changed = base;
    switch (random_.below(4)) {
      case 0:
        run(changed);
        break;
      case 1:
        group(changed);
        break;
      default:
        border(changed);
    }
    return changed;
  }

 private:
  std::size_t any_unit(const Placement& placement) { return random_.below(placement.size()); }

  // Any choice, or that of a neighbour.
  std::int32_t answer_for(const Placement& placement, std::size_t unit) {
    const GraphFeatures& graph = task_.features();
    if (random_.below(2) == 0) {
      const auto near = static_cast<std::size_t>(
          graph.adjacent[unit * static_cast<std::size_t>(graph.neighbours) +
                         random_.below(static_cast<std::uint64_t>(graph.neighbours))]);
      if (near < placement.size() && placement[near] != placement[unit]) return placement[near];
    }
    return static_cast<std::int32_t>(random_.below(task_.choices().size()));
  }

  void run(Placement& placement) {
    const std::size_t length = std::size_t{1} << random_.below(
                                   static_cast<std::uint64_t>(std::bit_width(placement.size())));
    const std::size_t begin = any_unit(placement);
    const std::int32_t answer = answer_for(placement, begin);
    for (std::size_t u = begin; u < std::min(begin + length, placement.size()); ++u)
      placement[u] = answer;
  }

  void group(Placement& placement) {
    const std::size_t unit = any_unit(placement);
    const std::int32_t answer = answer_for(placement, unit);
    for (std::size_t u = 0; u < placement.size(); ++u)
      if (task_.group_of()[u] == task_.group_of()[unit]) placement[u] = answer;
  }

  // From the next place in unit order where the answer changes, some units get that of the other
  // side.
  void border(Placement& placement) {
    const std::size_t from = any_unit(placement);
    std::size_t at = from;
    while (at + 1 < placement.size() && placement[at + 1] == placement[at]) ++at;
    if (at + 1 == placement.size()) return run(placement);
    const std::size_t length = 1 + random_.below(std::max<std::size_t>(placement.size() / 16, 1));
    const std::int32_t left = placement[at], right = placement[at + 1];
    if (random_.below(2) == 0) {
      for (std::size_t u = at + 1; u < std::min(at + 1 + length, placement.size()); ++u)
        if (placement[u] == right) placement[u] = left;
    } else {
      for (std::size_t u = at + 1; u-- > at + 1 - std::min(length, at + 1);)
        if (placement[u] == left) placement[u] = right;
    }
  }

  const PlacementTask& task_;
  Random& random_;
};

}  // namespace

Placement nearest_placement(const PlacementTask& task, const Strategy& strategy) {
  Placement placement;
  for (std::size_t u = 0; u < task.group_of().size(); ++u) {
    const OpId leader = task.units().leader[u];
    const GroupId group =
        strategy.grouping ? strategy.grouping->group_of(leader) : GroupId(task.group_of()[u]);
    placement.push_back(choice_of(task.choices(), *strategy.groups[group]));
  }
  return placement;
}

void teach(PlacementTask& task, const Problem& problem, Evaluator& evaluator,
           const TeacherOptions& options, std::uint64_t seed, const std::stop_token& stop) {
  task.evaluate(task.known_placements());
  const std::vector<Placement> heuristics =
      heuristic_placements(task, problem, evaluator, options, stop);
  if (!heuristics.empty()) task.evaluate(heuristics);
  Random random(seed);
  PlacementMoves moves(task, random);
  for (int left = options.evaluations; left > 0 && !stop.stop_requested(); --left)
    task.evaluate({moves.of(task.best())});
}

}  // namespace strato::gdp
