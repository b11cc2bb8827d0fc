// Horovod: data parallelism with fusion buckets.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

PlanResult horovod(const Problem& problem, std::map<std::string, std::string> set = {}) {
  PlannerOptions options;
  options.set = std::move(set);
  Observer quiet;
  return run_planner(*registry().planner("horovod"), problem, options, quiet, {});
}

Bytes megabytes(std::int64_t count) { return Bytes(count << 20); }

TEST(Horovod, is_data_parallelism_with_buckets_of_64_MB) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 3);
  Strategy expected = data_parallel(problem);
  expected.bucket = megabytes(64);
  EXPECT_EQ(horovod(problem).strategy, expected);
  expected.bucket = megabytes(16);
  EXPECT_EQ(horovod(problem, {{"bucket", "16"}}).strategy, expected);
  expected.bucket = Bytes(1 << 19);
  EXPECT_EQ(horovod(problem, {{"bucket", "0.5"}}).strategy, expected);
}

TEST(Horovod, without_buckets_it_is_data_parallelism) {
  const Problem problem = sample("alexnet", 64, "tag-testbed");
  const Strategy plain = data_parallel(problem);
  const PlanResult result = horovod(problem, {{"bucket", "0"}});
  EXPECT_EQ(result.strategy, plain);
  EXPECT_EQ(result.score.step_time, simulate_strategy(problem, plain).score.step_time);
}

TEST(Horovod, fusion_helps_where_gradients_are_many_and_small) {
  for (const char* cluster : {"tag-cloud", "tag-testbed"}) {
    const Problem problem = sample("resnet101", 64, cluster);
    EXPECT_LT(horovod(problem).score.step_time, horovod(problem, {{"bucket", "0"}}).score.step_time)
        << cluster;
  }
}

TEST(Horovod, overlap_one_bucket_for_all_waits_for_the_whole_backward_pass) {
  const Problem problem = sample("vgg19", 64, "fastt-8xv100");
  EXPECT_LT(horovod(problem).score.step_time,
            horovod(problem, {{"bucket", "100000"}}).score.step_time);
}

TEST(Horovod, tuning_is_never_worse_than_any_size_it_tries) {
  for (const char* model : {"lenet", "inception_v3", "vgg19"}) {
    const Problem problem = sample(model, 64, "tag-cloud");
    const Nanos tuned = horovod(problem, {{"tune", "true"}}).score.step_time;
    Nanos best = Nanos::max();
    for (const char* size : {"0", "1", "4", "16", "64", "128"})
      best = std::min(best, horovod(problem, {{"bucket", size}}).score.step_time);
    EXPECT_EQ(tuned, best) << model;
  }
}

TEST(Horovod, bad_buckets_are_refused) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 0), 2);
  for (const char* size : {"-1", "1e9", "many", "nan"})
    EXPECT_THROW(horovod(problem, {{"bucket", size}}), InputError) << size;
  EXPECT_THROW(horovod(problem, {{"tune", "perhaps"}}), InputError);
}

TEST(Horovod, one_device_has_nothing_to_fuse) {
  const Problem problem = toy::chain_problem(toy::small_cluster(1, 0), 3);
  EXPECT_EQ(horovod(problem).score.step_time,
            simulate_strategy(problem, on_one_device(problem, DeviceId(0))).score.step_time);
}

}  // namespace
}  // namespace strato
