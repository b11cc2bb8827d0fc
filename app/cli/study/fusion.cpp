#include "app/cli/study/fusion.h"

#include "core/schedule/dag/fusion.h"
#include "core/schedule/dag/levels.h"
#include "core/schedule/dag/transfer_times.h"

namespace strato::cli {

FusionFigures fusion_figures(const Problem& problem) {
  const auto weights_of = [&](const Dag& dag) {
    const TransferTimes transfers(dag, *problem.cluster, *problem.cost);
    return mean_weights(dag, *problem.cluster, transfers);
  };
  const Dag dag = dag_of(problem);
  const Weights weights = weights_of(dag);
  const Fusion fusion =
      fuse_colocated(dag, weights.edge, cpd_topo(dag, weights), fusion_limits(*problem.cluster));
  const Dag fused = contract(dag, fusion.cluster_of);
  return {dag.size(), fused.size(), communication_to_computing(weights),
          communication_to_computing(weights_of(fused))};
}

}  // namespace strato::cli
