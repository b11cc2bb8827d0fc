// How much of a graph a profile covers, and how well its curves meet its measurements.
#include <gtest/gtest.h>

#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/cost_model.h"
#include "core/cost/value/profile.h"
#include "tests/core/cost/toy.h"

namespace strato {
namespace {

TEST(ProfileReport, OfAnEmptyProfileMissesEverything) {
  const auto graph = toy::chain(2);
  const auto cluster = toy::sample_cluster("fastt-8xv100");
  const ProfileReport result = report(Profile(), *graph, *cluster);
  ASSERT_EQ(result.gpus.size(), 1u);
  EXPECT_EQ(result.gpus[0].ops, 4u);  // the view makes no task
  EXPECT_EQ(result.gpus[0].measured, 0u);
  EXPECT_EQ(result.gpus[0].time_covered, 0);
  ASSERT_EQ(result.missing.size(), 4u);
  EXPECT_TRUE(result.missing[0].starts_with("m0 on V100")) << result.missing[0];
  EXPECT_TRUE(result.missing[3].starts_with("r1 on V100")) << result.missing[3];
}

TEST(ProfileReport, CountsCoverageAndLeavesOneOut) {
  const auto graph = toy::chain(2);
  const auto cluster = toy::sample_cluster("fastt-8xv100");
  Profile profile;
  const auto line = [](std::int64_t n) {
    return OpMeasurement{n, Nanos(10'000 + 1000 * n), Nanos(0), 5};
  };
  profile.ops.push_back({op_signature(*graph, graph->find_op("m0")),
                         cluster->gpu_types()[GpuTypeId(0)].name,
                         {line(8), line(16), line(32), line(64)}});
  profile.ops.push_back({"Gelu(float32[B])->(float32[B])", profile.ops[0].gpu, {line(8)}});
  const ProfileReport result = report(profile, *graph, *cluster);
  EXPECT_EQ(result.gpus[0].measured, 2u);  // both layers
  EXPECT_GT(result.gpus[0].time_covered, 0.5);
  EXPECT_LT(result.gpus[0].time_covered, 1);
  EXPECT_LT(result.gpus[0].worst_error, 1e-9);
  EXPECT_EQ(result.unused, std::vector<std::string>{"Gelu(float32[B])->(float32[B])"});
  EXPECT_EQ(result.missing.size(), 2u);
  profile.ops[0].measurements[1].time = Nanos(20'000);  // instead of 26 us
  const ProfileReport bent = report(profile, *graph, *cluster);
  EXPECT_GT(bent.gpus[0].worst_error, 0.05);
  EXPECT_EQ(bent.gpus[0].median_error, bent.gpus[0].worst_error);
}

}  // namespace
}  // namespace strato
