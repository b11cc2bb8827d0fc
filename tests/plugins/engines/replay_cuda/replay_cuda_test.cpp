// Of the CUDA replay engine what can be tested without a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "core/plugin/load/plugin_registry.h"
#include "plugins/engines/replay_cuda/gpu.h"
#include "tests/core/graph/model_kit.h"
#include "tests/message_of.h"
#include "tests/paths.h"

namespace strato {
namespace {

using namespace replay_cuda;

const PluginRegistry& registry() {
  static const PluginRegistry shipped({std::string(kBuildFolder) + "/plugins"});
  return shipped;
}

// Whichever clock is chosen: half a percent off at most, were that clock exact to its step.
TEST(SpinPlan, IsRightWithinTheStepOfItsClock) {
  for (const std::int64_t tick : {1, 32, 1'000, 1'024}) {
    const SpinClocks calibration{Nanos(tick), 1.755, Nanos(7'300)};
    for (std::int64_t time = 8'000; time < 1'000'000'000; time = time * 5 / 4) {
      const SpinPlan plan = spin_plan(Nanos(time), calibration);
      const auto asked = static_cast<double>(time - 7'300);
      const bool cycles = plan.clock == SpinPlan::Clock::Cycles;
      const double count = static_cast<double>(plan.count) / (cycles ? 1.755 : 1.0);
      const double step = cycles ? 1 / 1.755 : static_cast<double>(tick);
      ASSERT_NE(plan.clock, SpinPlan::Clock::None);
      EXPECT_LE(std::abs(count - asked) + step, std::max(0.01 * asked, 1.2)) << time << ' ' << tick;
    }
  }
}

TEST(SpinPlan, NothingIsShorterThanALaunch) {
  const SpinClocks calibration{Nanos(32), 1.4, Nanos(7'300)};
  for (const std::int64_t time : {-5'000'000, 0, 1, 7'300})
    EXPECT_EQ(spin_plan(Nanos(time), calibration).clock, SpinPlan::Clock::None);
  EXPECT_EQ(spin_plan(Nanos(7'301), calibration).count, 1);
}

TEST(Gpu, IsChosenByNameAndPlace) {
  EXPECT_EQ(gpu_index("cuda", 3, 8), 3);
  EXPECT_EQ(gpu_index("cuda", 9, 8), 1);
  EXPECT_EQ(gpu_index("cuda:2", 0, 4), 2);
  for (const char* bad : {"cpu", "cuda:4", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999", ""})
    EXPECT_NE(message_of([&] { gpu_index(bad, 0, 4); }).find("there is no device"),
              std::string::npos)
        << bad;
}

TEST(Gpu, ThePlaceOnTheMachineIsTheLaunchers) {
  for (const char* name : {"SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "LOCAL_RANK"})
    ::unsetenv(name);
  EXPECT_EQ(local_rank(5), 5);
  ::setenv("SLURM_LOCALID", "1", 1);
  EXPECT_EQ(local_rank(5), 1);
  ::setenv("SLURM_LOCALID", "none", 1);
  EXPECT_EQ(local_rank(5), 5);
  ::unsetenv("SLURM_LOCALID");
}

TEST(ReplayCuda, SaysThatThereIsNoGpu) {
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);  // nor on a machine that has one
  ModelKit kit(4);
  kit.op("Relu", {kit.input("x", {4, 256})});
  const auto graph = std::make_shared<const Graph>(kit.build());
  EngineOptions options;
  options.device = "cuda";
  const auto engine = registry().rank_engine("replay-cuda");
  const std::string message =
      message_of([&] { engine->prepare(graph, std::make_shared<const RankProgram>(), options); });
  EXPECT_NE(message.find("--device: no GPU can be used here"), std::string::npos) << message;
  EXPECT_NE(message.find("take --engine replay"), std::string::npos) << message;
}

TEST(ReplayCuda, CanBeListedAndAskedAnywhere) {
  EXPECT_TRUE(registry().engine("replay-cuda")->devices().empty());  // nothing to profile
  EXPECT_TRUE(registry().rank_engine("replay-cuda")->software().starts_with("replay, CUDA "));
}

}  // namespace
}  // namespace strato
