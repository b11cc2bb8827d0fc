// Which planner a problem begins with.
#include "core/search/run/usual_planner.h"

#include <gtest/gtest.h>

#include "tests/core/search/toy.h"

namespace strato {
namespace {

std::string_view usual_for(std::int64_t width, std::shared_ptr<const Cluster> cluster) {
  return usual_planner(toy::chain_problem(std::move(cluster), 2, 8, width));
}

TEST(UsualPlanner, IsForModelsAndClustersOfThisSize) {
  constexpr std::int64_t kSmall = 64, kLarge = 100'000;  // 40 GB of weights alone
  EXPECT_EQ(usual_for(kSmall, toy::small_cluster(2, 0)), "mcts");
  EXPECT_EQ(usual_for(kLarge, toy::small_cluster(2, 0)), "meshes");
  EXPECT_EQ(usual_for(kLarge, toy::small_cluster(2, 1)), "mcts");  // of two types
  EXPECT_EQ(usual_for(kLarge, toy::small_cluster(1, 0)), "mcts");
  EXPECT_EQ(usual_for(kSmall, toy::sample_cluster("a100-64x8")), "meshes");
}

}  // namespace
}  // namespace strato
