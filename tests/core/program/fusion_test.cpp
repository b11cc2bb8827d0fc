// Gradient buckets: closed forms, limits, names.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/program/lower/verify.h"
#include "core/program/value/collective.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

using toy::Bench;
using toy::count;
using toy::find;

// Data parallel on two devices: each of the 9 ops takes 20 ns, an AllReduce of n bytes 100 + n ns,
// an update 7 ns. A gradient has 32 bytes and is ready after 5, 7 and 9 ops.
class ThreeLayers : public testing::Test {
 protected:
  Timeline run(std::int64_t bucket) {
    Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
    strategy.bucket = Bytes(bucket);
    return bench.run(strategy);
  }
  Bench bench{toy::training_chain(4, 3, 8), toy::cluster(1, 2)};
};

TEST_F(ThreeLayers, WithoutBucketsEachGradientPaysTheLatency) {
  EXPECT_EQ(run(0).step_time, Nanos(100 + 3 * 132 + 7));
  const Timeline single = run(32);  // room for one: the same
  EXPECT_EQ(single.step_time, run(0).step_time);
  EXPECT_EQ(count(*single.program, TaskKind::AllReduce), 3u);
  EXPECT_EQ(run(1).step_time, run(0).step_time) << "a gradient over the limit stands alone";
}

TEST_F(ThreeLayers, FusedTheyPayItOnce) {
  const Timeline all = run(96);
  EXPECT_EQ(count(*all.program, TaskKind::AllReduce), 1u);
  EXPECT_EQ(all.step_time, Nanos(180 + 100 + 96 + 3 * 7));
  const TaskId fused = find(*all.program, "AllReduce 3 gradients (96 B)");
  ASSERT_TRUE(fused.valid());
  EXPECT_EQ(all.tasks[fused].ready, Nanos(180));
  EXPECT_EQ(tensors_of(*all.program, fused).size(), 3u);
  std::vector<std::string> names;
  for (TensorId tensor : tensors_of(*all.program, fused))
    names.push_back(bench.graph->tensor(tensor).name);
  EXPECT_EQ(names, (std::vector<std::string>{"gw3:0", "gw2:0", "gw1:0"})) << "as they are made";
  EXPECT_EQ(members_of(*all.program, fused), (std::vector<DeviceId>{DeviceId(0), DeviceId(1)}));
}

TEST_F(ThreeLayers, ABucketIsReadyWithItsLastGradientAndOverlapsWithTheRest) {
  const Timeline two = run(95);
  EXPECT_EQ(count(*two.program, TaskKind::AllReduce), 2u);
  const TaskId fused = find(*two.program, "AllReduce 2 gradients (64 B)");
  ASSERT_TRUE(fused.valid());
  EXPECT_EQ(two.tasks[fused].start, Nanos(140)) << "two ops of the backward pass are still to come";
  EXPECT_EQ(two.step_time, Nanos(140 + 164 + 132 + 7));
  const TaskId update = find(*two.program, "u3 @m0:0");
  EXPECT_EQ(two.tasks[update].ready, two.tasks[fused].end) << "an update waits for its bucket";
}

TEST_F(ThreeLayers, TheVerifierSeesADamagedBucket) {
  Program program = *run(96).program;
  const TaskId fused = find(program, "AllReduce 3 gradients");
  program.tasks[fused].bytes = Bytes(95);
  EXPECT_THROW(verify(program), InvariantError);
  program.tasks[fused].bytes = Bytes(96);
  EXPECT_NO_THROW(verify(program));
  program.buffers[program.reads[fused.index()][0]].device = DeviceId(1);
  EXPECT_THROW(verify(program), InvariantError);
}

TEST(Fusion, BucketsAreOfTheSameMembersWhateverTheirShares) {
  Bench bench(toy::training_chain(4, 4, 8), toy::cluster(1, 3),
              {{"f2", 1}, {"gw2", 1}, {"u2", 1}, {"f4", 2}, {"gw4", 2}, {"u4", 2}});
  Strategy strategy = bench.everywhere(Mode::ReplicateAllReduce, {0, 1});
  strategy.groups[bench.group("f2")] =
      Bench::decision(Mode::ReplicateAllReduce, {0, 1}, {3, 1});  // other samples
  strategy.groups[bench.group("f4")] = Bench::decision(Mode::ReplicateAllReduce, {0, 1, 2});
  strategy.bucket = Bytes(1000);
  const auto program = bench.lower(strategy);
  EXPECT_EQ(count(*program, TaskKind::AllReduce), 2u);
  const TaskId fused = find(*program, "AllReduce 3 gradients (96 B)");
  ASSERT_TRUE(fused.valid());
  EXPECT_TRUE(find(*program, "AllReduce gw4:0").valid());
}

TEST(Fusion, LeavesParameterServersAlone) {
  Bench bench(toy::training_chain(4, 3, 8), toy::cluster(1, 2), {{"f2", 1}, {"gw2", 1}, {"u2", 1}});
  for (const bool all : {true, false}) {
    Strategy strategy = bench.everywhere(Mode::ReplicatePs, {0, 1});
    if (!all)
      strategy.groups[bench.group("f1")] = Bench::decision(Mode::ReplicateAllReduce, {0, 1});
    const auto before = bench.lower(strategy);
    strategy.bucket = Bytes(1 << 20);
    const auto after = bench.lower(strategy);
    EXPECT_EQ(count(*after, TaskKind::Sum), count(*before, TaskKind::Sum));
    EXPECT_EQ(count(*after, TaskKind::Transfer), count(*before, TaskKind::Transfer));
    EXPECT_EQ(count(*after, TaskKind::AllReduce), all ? 0u : 1u);
  }
}

}  // namespace
}  // namespace strato
