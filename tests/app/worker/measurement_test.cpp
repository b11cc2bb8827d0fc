#include "app/worker/measurement.h"

#include <gtest/gtest.h>

#include <future>

#include "tests/app/worker/fakes.h"
#include "tests/app/worker/hand_program.h"

namespace strato::worker {
namespace {

TEST(ClockLine, FollowsAnEvenDrift) {
  const ClockLine line({1000, 500, 0}, {2000, 600, 0});
  EXPECT_EQ(line.on_rank_0(1000), 1500);
  EXPECT_EQ(line.on_rank_0(2000), 2600);
  EXPECT_EQ(line.on_rank_0(1500), 2050);
  EXPECT_EQ(line.on_rank_0(3000), 3700);
  EXPECT_EQ(ClockLine({5, 7, 0}, {5, 7, 0}).on_rank_0(10), 17);
}

TEST(ReadClocks, OfOneMachineAgreeWithinTheirError) {
  Hub hub(3);
  std::vector<std::future<std::vector<ClockReading>>> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.push_back(std::async(std::launch::async, [&hub, rank] {
      FakeTransport transport(hub, rank);
      return read_clocks(transport, rank, 3);
    }));
  }
  const auto readings = ranks[0].get();
  ASSERT_EQ(readings.size(), 3u);
  for (const ClockReading& reading : readings) EXPECT_LE(std::abs(reading.offset), reading.error);
  EXPECT_TRUE(ranks[1].get().empty());
  EXPECT_TRUE(ranks[2].get().empty());
}

TEST(Summary, IsFromTheEarliestStartToTheLatestEndAndLossesAddUp) {
  const std::vector<StepReport> reports = {
      {{100, 200}, 1.5}, {{1050, 1180}, std::nullopt}, {{120, 260}, 2.0}};
  const std::vector<ClockLine> clocks = {{}, {{0, -1000, 0}, {0, -1000, 0}}, {}};
  const StepSummary summary = summarise(reports, clocks);
  EXPECT_EQ(summary.start, 50);
  EXPECT_EQ(summary.time.value, 210);
  EXPECT_EQ(summary.loss, 3.5);
}

TEST(Reports, SurviveTheWay) {
  const StepReport report = unpack_step(pack(StepReport{{1, 2}, -0.5}));
  EXPECT_EQ(report.span.end, 2);
  EXPECT_EQ(report.loss, -0.5);
  EXPECT_FALSE(unpack_step(pack(StepReport{{1, 2}, std::nullopt})).loss.has_value());
  EXPECT_THROW(unpack_step("short"), InputError);

  HandProgram hand(2, 1);
  hand.compute().compute();
  const std::vector<Span> spans = {{5, 6}, {7, 9}};
  const RankMeasurement sent = measurement_of(hand.program(), spans, Bytes(77));
  const std::string text = pack(sent);
  const RankMeasurement measured = unpack_measurement(text, 2);
  EXPECT_EQ(measured.peak.value, 77);
  ASSERT_EQ(measured.tasks.size(), 2u);
  EXPECT_EQ(measured.tasks[1].end.value, 9);
  EXPECT_EQ(measured.tasks[1].rank, 2);
  EXPECT_THROW(unpack_measurement(text.substr(0, text.size() - 1), 2), InputError);
}

std::vector<Nanos> nanos(std::vector<std::int64_t> values) {
  return {values.begin(), values.end()};
}

TEST(TypicalStep, IsNearestToTheMedianAfterTheWarmUp) {
  const auto times = nanos({900, 10, 30, 20, 25});
  EXPECT_EQ(typical_step(times, 1, 0).median.value, 20);
  EXPECT_EQ(typical_step(times, 1, 0).index, 3u);
  EXPECT_EQ(typical_step(times, 1, 4).index, 4u);
  EXPECT_EQ(typical_step(times, 99, 0).index, 4u);
  EXPECT_EQ(typical_step(nanos({7}), 1, 0).median.value, 7);
}

TEST(SpanHistory, KeepsTheLastStepsInABoundedMemory) {
  SpanHistory history(std::size_t{3} << 20);  // one step of these is 48 MB
  const std::vector<Span> spans = {{1, 2}};
  EXPECT_EQ(history.oldest(), -1);
  history.add(1, spans);
  history.add(2, spans);
  EXPECT_EQ(history.oldest(), 2);
  EXPECT_EQ(history.of(2).size(), 1u);
  EXPECT_THROW(history.of(1), InvariantError);
}

}  // namespace
}  // namespace strato::worker
