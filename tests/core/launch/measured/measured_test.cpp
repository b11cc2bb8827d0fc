// What ranks took, put in the place of what was simulated.
#include "core/launch/measured/measured.h"

#include <gtest/gtest.h>

#include "core/program/value/collective.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

// Ranks have many collectives under way at once, which a simulator has not: a device communicates
// for as long as any of them goes on.
TEST(MeasuredTimeline, CommunicationThatOverlapsCountsOnce) {
  toy::Bench bench(toy::training_chain(3, 2, 4), toy::cluster(1, 2));
  const Timeline predicted = bench.run(bench.everywhere(Mode::ReplicateAllReduce, {0, 1}));
  JobResult result;
  std::int64_t collectives = 0, computed = 0;
  for (const TaskId id : predicted.program->tasks.ids()) {
    const bool communicates = is_communication(predicted.program->tasks[id].kind);
    const std::int64_t start = communicates ? 10 * collectives++ : 0;
    computed += !communicates && predicted.program->tasks[id].device == DeviceId(0) ? 1 : 0;
    result.tasks.push_back({id, 0, Nanos(start), Nanos(start + (communicates ? 100 : 1))});
  }
  ASSERT_GE(collectives, 2);
  const Timeline measured = measured_timeline(predicted, result, {DeviceId(0), DeviceId(1)});
  for (const DeviceUse& use : measured.devices)
    EXPECT_EQ(use.communication_busy, Nanos(100 + 10 * (collectives - 1)));
  EXPECT_EQ(measured.devices[DeviceId(0)].compute_busy, Nanos(computed));
  EXPECT_EQ(measured.step_time, Nanos(100 + 10 * (collectives - 1)));
}

}  // namespace
}  // namespace strato
