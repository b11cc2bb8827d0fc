// What is kept on hosts: by any planner that is told so, and as much as makes a pipeline fit.
#include "core/program/value/offload.h"

#include <gtest/gtest.h>

#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "core/search/run/run_record.h"
#include "tests/message_of.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

using Set = std::map<std::string, std::string>;

PlanResult keeping(const std::string& planner, const Problem& problem, Set set = {},
                   Offload offload = Offload::None) {
  PlannerOptions options;
  options.set = std::move(set);
  options.offload = offload;
  options.iterations = 40;
  Observer quiet;
  return run_planner(*registry().planner(planner), problem, options, quiet, {});
}

// A GPU with this much memory, of a machine with so much of its own.
Problem on_one_gpu(std::int64_t memory, std::int64_t host) {
  const std::string json = R"({"format":"stratoscope-cluster","version":1,"name":"one",)"
                           R"("gpu_types":[{"name":"Small","memory_bytes":)" +
                           std::to_string(memory) +
                           R"(,"memory_bandwidth_GBps":900,"peak_tflops":{"fp32":15}}],)"
                           R"("machines":[{"name":"m","gpus":[{"type":"Small","count":1}],)"
                           R"("host_link":{"bandwidth_GBps":12,"latency_us":4})" +
                           (host > 0 ? ",\"host_memory_bytes\":" + std::to_string(host) : "") +
                           "}]}";
  const auto cluster =
      std::make_shared<const Cluster>(parse_cluster(json, "one.json", GpuCatalogue()));
  return make_problem(sample_model("bert_3l", 64), cluster, {});
}

const DeviceUse& use_of(const Outcome& outcome) { return outcome.timeline->devices[DeviceId(0)]; }

constexpr std::int64_t kGB = 1'000'000'000;

TEST(OffloadingPlanners, MemoryIsTradedForTime) {
  const Problem problem = on_one_gpu(100 * kGB, 100 * kGB);
  const auto with = [&](const char* what) {
    return keeping("pipeline", problem,
                   {{"stages", "1"}, {"micro_batches", "1"}, {"offload", what}});
  };
  const PlanResult none = with("none"), states = with("states"), activations = with("activations"),
                   all = with("all");
  EXPECT_TRUE(none.strategy.offloaded.empty());
  EXPECT_EQ(all.strategy.offloaded, offloaded_ops(*problem.graph, Offload::All));
  const auto peak = [&](const PlanResult& result) {
    return use_of(simulate_strategy(problem, result.strategy)).peak;
  };
  EXPECT_LT(peak(states), peak(none));
  EXPECT_LT(peak(activations), peak(none));
  EXPECT_LT(peak(all), peak(states));
  EXPECT_LT(peak(all), peak(activations));
  EXPECT_LE(none.score.step_time, states.score.step_time);
  EXPECT_LE(none.score.step_time, activations.score.step_time);
}

// Nothing where it fits, or by computing again; else as much as is needed, where there is a host.
TEST(OffloadingPlanners, PipelinesKeepOnHostsWhatDoesNotFit) {
  const Set one = {{"stages", "1"}, {"micro_batches", "1"}};
  EXPECT_TRUE(
      keeping("pipeline", on_one_gpu(100 * kGB, 100 * kGB), one).strategy.offloaded.empty());
  const Problem roomy = on_one_gpu(100 * kGB, 100 * kGB);
  Set blocks = one;
  blocks["recompute"] = "blocks";
  const Bytes least =
      use_of(simulate_strategy(roomy, keeping("pipeline", roomy, blocks).strategy)).peak;
  const std::int64_t less = least.value * 9 / 10;
  const PlanResult kept = keeping("pipeline", on_one_gpu(less, 100 * kGB), one);
  EXPECT_TRUE(kept.score.feasible);
  EXPECT_FALSE(kept.strategy.offloaded.empty());
  EXPECT_FALSE(keeping("pipeline", on_one_gpu(less, 0), one).score.feasible);
  EXPECT_FALSE(keeping("pipeline", on_one_gpu(less, kGB / 1000), one).score.feasible);
  Set never = one;
  never["offload"] = "none";
  EXPECT_FALSE(keeping("pipeline", on_one_gpu(less, 100 * kGB), never).score.feasible);
}

TEST(OffloadingPlanners, ClustersWithoutHostMemoryAreRefused) {
  const Problem problem = on_one_gpu(100 * kGB, 0);
  const std::string text = message_of([&] {
    keeping("pipeline", problem, {{"offload", "states"}});
  });
  EXPECT_NE(text.find("machine \"m\": has no \"host_memory_bytes\""), std::string::npos) << text;
}

TEST(OffloadingPlanners, SearchesLookForStrategiesSo) {
  const Problem problem = on_one_gpu(100 * kGB, 100 * kGB);
  for (const char* planner : {"dp-allreduce", "mcmc"}) {
    const PlanResult found = keeping(planner, problem, {}, Offload::States);
    EXPECT_EQ(found.strategy.offloaded, offloaded_ops(*problem.graph, Offload::States)) << planner;
    EXPECT_EQ(found.score.step_time, simulate_strategy(problem, found.strategy).timeline->step_time)
        << planner;
  }
}

TEST(OffloadingPlanners, RunsAreContinuedSo) {
  RunOptions options;
  options.planner.offload = Offload::Activations;
  EXPECT_EQ(parse_run_options(run_options_text(options), "run 1").planner.offload,
            Offload::Activations);
  EXPECT_EQ(parse_run_options(run_options_text({}), "run 1").planner.offload, Offload::None);
  EXPECT_NE(message_of([] {
              parse_run_options(R"({"offload":"most"})", "run 1");
            }).find("nothing to keep on hosts"),
            std::string::npos);
}

}  // namespace
}  // namespace strato
