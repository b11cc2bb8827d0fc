// Stages of large models are lowered once for all devices that do the same.
#include <gtest/gtest.h>

#include "core/program/lower/lower.h"
#include "core/program/place/symmetry.h"
#include "tests/plugins/exporters/frameworks/framework_kit.h"

namespace strato {
namespace {

// Rows have positions and experts among them, and the backward pass of a stage's last layer needs
// all positions of what the next stage has parts of. Each row is sent its own, and they gather
// them: were all sent to each, no device could stand for its stage.
TEST(PipelineFold, RowsWithPositionsStandForEachOther) {
  const Problem problem = small_model("mixtral_8x7b", 32, 4);
  const Strategy strategy = planned_by("pipeline", problem,
                                       {{"stages", "2"},
                                        {"expert", "4"},
                                        {"context", "2"},
                                        {"micro_batches", "1"},
                                        {"shard", "parameters"},
                                        {"recompute", "cheap"},
                                        {"offload", "none"},
                                        {"whole_layers", "true"}});
  const Problem own = problem_for(problem, strategy);
  Fold fold;
  LowerOptions options;
  options.fold = &fold;
  options.mesh_twins = true;
  Lowering lowering(own.graph, own.grouping, own.cluster, own.cost);
  const auto folded = std::make_shared<const Program>(lowering.lower(strategy, options));
  const auto full = std::make_shared<const Program>(lowering.lower(strategy));
  EXPECT_EQ(fold.left_out, 14u);
  EXPECT_EQ(Simulator().simulate(folded).step_time, Simulator().simulate(full).step_time);
}

}  // namespace
}  // namespace strato
