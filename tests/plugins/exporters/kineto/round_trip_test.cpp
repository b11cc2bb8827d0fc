// A simulated step, exported as a recording and read back: the same figures, to the nanosecond.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/program/value/collective.h"
#include "core/trace/analyse/analysis.h"
#include "core/trace/read/read_trace.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/plugins/exporters/export_kit.h"

namespace strato {
namespace {

trace::TraceSet exported_and_read(const Exportable& plan) {
  const TemporaryFolder folder;
  for (const auto& [name, content] : exported_folder("kineto", plan))
    std::ofstream(folder / name, std::ios::binary) << content;
  return trace::read_traces(folder.path());
}

// Transfers occupy links, not streams, and count at both ends here.
Nanos communicating(const Timeline& timeline, DeviceId device) {
  std::vector<trace::Interval> all;
  const Program& program = *timeline.program;
  for (const TaskId id : program.tasks.ids()) {
    const Task& task = program.tasks[id];
    if (!is_communication(task.kind) || is_host_copy(task.kind)) continue;
    const std::vector<DeviceId> members = members_of(program, id);
    const bool takes_part = task.kind == TaskKind::Transfer
                                ? task.device == device || task.target == device
                                : std::ranges::count(members, device) > 0;
    if (takes_part) all.push_back({timeline.tasks[id].start, timeline.tasks[id].end});
  }
  return trace::length(trace::merged(std::move(all)));
}

void expect_same_figures(const Exportable& plan) {
  const Timeline& timeline = *plan.outcome.timeline;
  const trace::TraceSet set = exported_and_read(plan);
  const trace::Analysis analysis = trace::analyse(set.traces);
  ASSERT_EQ(analysis.ranks.size(), timeline.devices.size());
  EXPECT_TRUE(analysis.missing.empty());
  for (const DeviceId device : timeline.devices.ids()) {
    const trace::RankAnalysis& rank = analysis.ranks[device.index()];
    EXPECT_TRUE(set.traces[device.index()].remarks.empty());
    EXPECT_EQ(rank.steps.typical, timeline.step_time);
    const auto busy = [&](trace::KernelType type) {
      return rank.breakdown.busy[static_cast<std::size_t>(type)];
    };
    EXPECT_EQ(busy(trace::KernelType::Computation), timeline.devices[device].compute_busy);
    EXPECT_EQ(busy(trace::KernelType::Communication), communicating(timeline, device));
  }
}

TEST(KinetoRoundTrip, DataParallel) {
  const Exportable plan =
      lenet(Mode::ReplicateAllReduce,
            {{DeviceId(0), 1}, {DeviceId(1), 1}, {DeviceId(2), 1}, {DeviceId(3), 1}});
  expect_same_figures(plan);
  const auto families = trace::group_families(exported_and_read(plan).traces);
  ASSERT_EQ(families.size(), 1u);
  EXPECT_EQ(families[0].size, 4);
  EXPECT_GT(families[0].calls.at(trace::Collective::AllReduce), 0);
  EXPECT_EQ(families[0].role, trace::GroupRole::Data);
}

TEST(KinetoRoundTrip, TransfersOfAModelInTwoParts) {
  Exportable plan = lenet(Mode::ReplicateAllReduce, {{DeviceId(0), 1}});
  Strategy strategy = plan.strategy;
  for (const GroupId group : strategy.groups.ids())
    strategy.groups[group] = decision_on_device(DeviceId(group.index() % 2));
  const Exportable parts(plan.problem, strategy);
  expect_same_figures(parts);
  std::int64_t transfers = 0;
  for (const trace::Trace& trace : exported_and_read(parts).traces)
    for (const trace::Call& call : trace.calls)
      transfers += call.collective == trace::Collective::SendReceive ? 1 : 0;
  EXPECT_GT(transfers, 0);
}

}  // namespace
}  // namespace strato
