#include "plugins/planners/baselines/fitting.h"

#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/framework/layout/model_layers.h"

namespace strato {
namespace {

void add(Tried& all, const PlanRequest& request, std::vector<Strategy> strategies) {
  const std::vector<Score> scores = request.evaluator.evaluate(strategies);
  all.scores.insert(all.scores.end(), scores.begin(), scores.end());
  std::ranges::move(strategies, std::back_inserter(all.strategies));
}

std::vector<Strategy> recomputing(std::vector<Strategy> strategies,
                                  const std::vector<OpId>& recomputed,
                                  const std::vector<OpId>& offloaded) {
  for (Strategy& strategy : strategies) {
    strategy.recomputed = recomputed;
    strategy.offloaded = kept_ones(offloaded, recomputed);
  }
  return strategies;
}

}  // namespace

std::vector<Offload> rounds_of(Offloading how, const Cluster& cluster) {
  if (how != Offloading::WhenNeeded) return {static_cast<Offload>(how)};
  if (!may_try_hosts(cluster)) return {Offload::None};
  return {Offload::None, Offload::States, Offload::Activations, Offload::All};
}

std::vector<OpId> recomputed_ops(const Graph& graph, Recomputing how, std::int64_t in_flight) {
  CHECK(how != Recomputing::WhenNeeded, "what is needed shows where it is tried");
  if (how == Recomputing::Layers)
    return frameworks::recomputed_layers(graph, frameworks::model_layers(graph));
  return recomputed_ops(graph, static_cast<Recompute>(how), in_flight);
}

Tried try_recomputing(const PlanRequest& request, const std::vector<Strategy>& strategies,
                      Recomputing how, Offload offload, std::int64_t in_flight) {
  const std::vector<OpId> offloaded = offloaded_ops(*request.problem.graph, offload);
  const auto ops = [&](Recomputing which) {
    return recomputed_ops(*request.problem.graph, which, in_flight);
  };
  Tried all;
  if (how != Recomputing::WhenNeeded) {
    add(all, request, recomputing(strategies, ops(how), offloaded));
    return all;
  }
  std::vector<Strategy> open = strategies;
  for (const Recomputing which : {Recomputing::None, Recomputing::Cheap, Recomputing::Blocks}) {
    if (open.empty() || (which != Recomputing::None && request.stop.stop_requested())) break;
    const std::size_t first = all.scores.size();
    add(all, request, recomputing(std::exchange(open, {}), ops(which), offloaded));
    for (std::size_t i = first; i < all.scores.size(); ++i)
      if (!all.scores[i].feasible) open.push_back(all.strategies[i]);
  }
  return all;
}

}  // namespace strato
