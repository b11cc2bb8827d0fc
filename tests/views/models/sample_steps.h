// Planning steps for tests: a layered graph of nodes that are placed in the order of their ranks,
// on the device where each finishes first.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "core/schedule/list/steps.h"

namespace strato {

// Node n is op n. Edges lead from lower to higher nodes.
inline std::shared_ptr<PlanningSteps> sample_steps(std::size_t nodes, std::size_t devices,
                                                   unsigned seed = 1) {
  auto steps = std::make_shared<PlanningSteps>();
  std::mt19937 random(seed);
  steps->algorithm = "Sample";
  steps->ranking.name = "upward rank";
  for (std::size_t n = 0; n < nodes; ++n) {
    steps->nodes.push_back({OpId(n)});
    steps->names.push_back("block" + std::to_string(n / 4) + "/op" + std::to_string(n));
    steps->ranking.value.emplace_back(static_cast<std::int64_t>(1000 * (nodes - n)));
    for (int e = 0; e < 2 && n > 0; ++e)
      steps->edges.push_back(
          {static_cast<NodeIndex>(n - 1 - random() % std::min<std::size_t>(n, 8)),
           static_cast<NodeIndex>(n), Bytes(8)});
    if (n % 7 == 0) steps->ranking.critical_path.push_back(static_cast<NodeIndex>(n));
  }
  steps->ranking.order.resize(nodes);
  std::iota(steps->ranking.order.begin(), steps->ranking.order.end(), 0);
  std::vector<Nanos> idle(devices);
  for (std::size_t n = 0; n < nodes; ++n) {
    PlanningSteps::Step step;
    step.node = static_cast<NodeIndex>(n);
    for (std::size_t d = 0; d < devices; ++d) {
      const Nanos start = idle[d] + Nanos(static_cast<std::int64_t>(random() % 300));
      step.candidates.push_back({DeviceId(d), start,
                                 start + Nanos(static_cast<std::int64_t>(500 + random() % 500)),
                                 d + 1 < devices || n % 5 != 0});
    }
    const auto best =
        std::ranges::min_element(step.candidates, {}, &PlanningSteps::Candidate::finish);
    step.device = best->device;
    step.start = best->start;
    step.finish = best->finish;
    idle[best->device.index()] = best->finish;
    steps->steps.push_back(std::move(step));
  }
  return steps;
}

// Cuts the sequence of all ops every `length` of them.
inline void add_fusion(PlanningSteps& steps, std::int32_t length) {
  PlanningSteps::Fusion& fusion = steps.fusion;
  const auto count = static_cast<std::int32_t>(steps.nodes.size());
  fusion.cost.emplace_back();
  fusion.before.push_back(0);
  fusion.breaks.push_back(0);
  for (std::int32_t j = 1; j <= count; ++j) {
    fusion.sequence.emplace_back(static_cast<std::size_t>(j - 1));
    fusion.before.push_back((j - 1) / length * length);
    fusion.cost.emplace_back(j * 100);
    if (j % length == 0 || j == count) fusion.breaks.push_back(j);
  }
}

inline void add_trials(PlanningSteps& steps, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    steps.trials.push_back(
        {OpId(i), 1, 2, Nanos(1'000'000 - static_cast<std::int64_t>(i)), i % 2 == 0});
}

}  // namespace strato
