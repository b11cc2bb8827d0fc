// Figures of small traces, beside what one computes by hand.
#include <gtest/gtest.h>

#include "core/trace/analyse/analysis.h"
#include "tests/core/trace/trace_kit.h"

namespace strato::trace {
namespace {

// gemm 0-10, AllReduce 5-20 on another stream, copy 22-24, gemm 30-40.
std::vector<std::string> small_step() {
  return {launch(0, 1, 1),
          kernel("gemm", 0, 10, 7, 1),
          kernel("ncclDevKernel_AllReduce_Sum", 5, 15, 8),
          event("gpu_memcpy", "Memcpy DtoH", 22, 2, R"("device":0,"stream":7)"),
          launch(26, 1, 2),
          kernel("gemm", 30, 10, 7, 2)};
}

TEST(Breakdown, AsComputedByHand) {
  const Trace trace = read_text(kineto(small_step()));
  const Breakdown b = breakdown(kernels_of(trace));
  EXPECT_EQ(b.total, Nanos(40'000));
  EXPECT_EQ(b.idle, Nanos(8'000));
  EXPECT_EQ(b.compute, Nanos(20'000));
  EXPECT_EQ(b.non_compute, Nanos(12'000));
  EXPECT_EQ(b.busy[static_cast<std::size_t>(KernelType::Communication)], Nanos(15'000));
  EXPECT_EQ(b.busy[static_cast<std::size_t>(KernelType::Memory)], Nanos(2'000));
  EXPECT_EQ(b.overlapped, Nanos(5'000));
  EXPECT_EQ(b.exposed, Nanos(10'000));
  EXPECT_DOUBLE_EQ(b.overlap_fraction(), 1.0 / 3);
}

TEST(Breakdown, NothingOfNothing) {
  const Trace trace = read_text(kineto({event("cpu_op", "aten::mm", 1, 1)}));
  const Breakdown b = breakdown(kernels_of(trace));
  EXPECT_EQ(b.total, Nanos(0));
  EXPECT_EQ(b.overlap_fraction(), 0);
}

TEST(Idle, ByCause) {
  const Trace trace = read_text(kineto(
      {launch(0, 1, 1), kernel("a", 10, 10, 7, 1), launch(1, 1, 2), kernel("b", 25, 5, 7, 2),
       launch(35, 1, 3), kernel("c", 40, 10, 7, 3), launch(41, 1, 4), kernel("d", 100, 10, 7, 4)}));
  const std::vector<IdleCauses> idle = idle_causes(trace, kernels_of(trace));
  ASSERT_EQ(idle.size(), 1u);
  EXPECT_EQ(idle[0].kernel_wait, Nanos(5'000));  // 20 to 25
  EXPECT_EQ(idle[0].host_wait, Nanos(10'000));   // 30 to 40, launched at 35
  EXPECT_EQ(idle[0].other, Nanos(50'000));       // 50 to 100, launched at 41
}

TEST(LaunchBound, GapsThatEndWithALateLaunch) {
  const Trace trace = read_text(kineto(
      {launch(0, 1, 1), kernel("a", 0, 10, 7, 1), launch(20, 1, 2), kernel("b", 30, 5, 7, 2),
       launch(50, 1, 3), kernel("c", 60, 40, 7, 3), launch(61, 1, 4), kernel("d", 130, 5, 7, 4)}));
  const auto stretches = launch_bound(trace, kernels_of(trace), 5);
  ASSERT_EQ(stretches.size(), 1u);
  EXPECT_EQ(stretches[0].idle, Nanos(45'000));  // 10 to 30, 35 to 60
  EXPECT_EQ(stretches[0].time, (Interval{Nanos(10'000), Nanos(60'000)}));
  EXPECT_EQ(stretches[0].kernels, 1);
}

TEST(Communication, ExposedByCollectiveAndGroup) {
  const Trace trace =
      read_text(kineto({kernel("gemm", 0, 10), all_reduce(5, 10, "[0, 1]", "0"),
                        all_reduce(20, 10, "[0, 1]", "1"), all_reduce(25, 10, "[0, 1]", "1")}));
  const auto times = communication(trace, kernels_of(trace));
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].count, 2);
  EXPECT_EQ(times[0].busy, Nanos(15'000));
  EXPECT_EQ(times[0].exposed, Nanos(15'000));
  EXPECT_EQ(times[0].sent, Bytes(8'000));
  EXPECT_EQ(times[1].exposed, Nanos(5'000));
}

TEST(Steps, AnnotatedOnesAndTheFirstApart) {
  const Trace trace = read_text(kineto({event("user_annotation", "ProfilerStep#4", 0, 50),
                                        event("user_annotation", "ProfilerStep#5", 50, 20),
                                        event("user_annotation", "ProfilerStep#6", 70, 22),
                                        event("user_annotation", "ProfilerStep#7", 92, 90),
                                        event("user_annotation", "ProfilerStep#8", 182, 20)}));
  const Steps steps = find_steps(trace);
  EXPECT_EQ(steps.source, StepSource::Annotation);
  ASSERT_EQ(steps.steps.size(), 5u);
  EXPECT_EQ(steps.steps[0].number, 4);
  EXPECT_EQ(steps.steady(), 3);
  EXPECT_FALSE(steps.steps[0].steady);
  EXPECT_FALSE(steps.steps[3].steady);
  EXPECT_EQ(steps.typical, Nanos(20'000));
}

TEST(Steps, ByPeriodWhereNothingIsAnnotated) {
  std::vector<std::string> events;
  for (int step = 0; step < 5; ++step) {
    events.push_back(kernel("embedding", step * 100, 5));
    for (int layer = 0; layer < 4; ++layer)
      events.push_back(kernel("gemm", step * 100 + 10 + layer * 20, 15));
  }
  const Steps steps = find_steps(read_text(kineto(events)));
  EXPECT_EQ(steps.source, StepSource::Period);
  ASSERT_EQ(steps.steps.size(), 4u);
  EXPECT_EQ(steps.typical, Nanos(100'000));
  EXPECT_EQ(find_steps(read_text(kineto({kernel("a", 0, 1), kernel("b", 2, 1)}))).source,
            StepSource::None);
}

// Rank 1's clock is `shift` microseconds ahead; it comes late to every second collective.
std::vector<std::string> two_ranks(double shift) {
  std::vector<std::string> first, second;
  for (int i = 0; i < 9; ++i) {
    const double end = 100 * (i + 1), late = i % 2 == 0 ? 5 : 20;
    first.push_back(all_reduce(end - 10, 10, "[0, 1]"));
    second.push_back(all_reduce(end - late + shift, late, "[0, 1]"));
  }
  return {kineto(first, 0, 4), kineto(second, 1, 4)};
}

TEST(Alignment, AShiftedClockIsMovedBack) {
  for (const double shift : {0.0, 5000.0, -5000.0}) {
    const TraceSet set = read_texts(two_ranks(shift));
    const Analysis analysis = analyse(set.traces);
    EXPECT_EQ(analysis.alignment.matches, 9u);
    EXPECT_NEAR(static_cast<double>(analysis.alignment.offset[1].value), -shift * 1000, 1000);
    EXPECT_LE(analysis.alignment.worst_error, Nanos(1'000));
    ASSERT_EQ(analysis.arrivals.size(), 2u);
    EXPECT_EQ(analysis.arrivals[1].last, 5);
    EXPECT_EQ(analysis.arrivals[1].held_up, Nanos(25'000));
    EXPECT_EQ(analysis.arrivals[1].waited, Nanos(40'000));
    EXPECT_EQ(analysis.missing, (std::vector<std::int64_t>{2, 3}));
  }
}

TEST(Alignment, ThroughRanksInBetween) {
  const TraceSet set = read_texts(
      {kineto({all_reduce(0, 10, "[0, 1]", "a")}, 0, 3),
       kineto({all_reduce(100, 10, "[0, 1]", "a"), all_reduce(200, 10, "[1, 2]", "b")}, 1, 3),
       kineto({all_reduce(1200, 10, "[1, 2]", "b")}, 2, 3)});
  const Analysis analysis = analyse(set.traces);
  EXPECT_EQ(analysis.alignment.offset[1], Nanos(-100'000));
  EXPECT_EQ(analysis.alignment.offset[2], Nanos(-1'100'000));
  EXPECT_TRUE(analysis.alignment.aligned[2]);
}

TEST(Alignment, CallsThatAreNotAsManyAreNotMatched) {
  const TraceSet set =
      read_texts({kineto({all_reduce(0, 10, "[0, 1]")}, 0, 2),
                  kineto({all_reduce(0, 10, "[0, 1]"), all_reduce(20, 10, "[0, 1]")}, 1, 2)});
  EXPECT_EQ(analyse(set.traces).alignment.matches, 0u);
}

TEST(Parallelism, TensorAndDataByStrideAndFrequency) {
  std::vector<std::string> texts;
  for (int rank = 0; rank < 4; ++rank) {
    const int pair = rank / 2 * 2;
    std::vector<std::string> events;
    for (int i = 0; i < 8; ++i)
      events.push_back(all_reduce(i * 20, 10, fmt::format("[{}, {}]", pair, pair + 1),
                                  fmt::format("t{}", pair)));
    std::string gradients = all_reduce(500, 90, fmt::format("[{}, {}]", rank % 2, rank % 2 + 2),
                                       fmt::format("d{}", rank % 2));
    const std::size_t at = gradients.find(":1000,");
    gradients.replace(at, 6, ":9000000,");
    events.push_back(gradients);
    texts.push_back(kineto(events, rank, 4));
  }
  const auto families = group_families(read_texts(texts).traces);
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0].role, GroupRole::Tensor);
  EXPECT_EQ(families[0].size, 2);
  EXPECT_TRUE(families[0].partition);
  EXPECT_EQ(families[1].role, GroupRole::Data);
  EXPECT_EQ(families[1].stride, 2);
  EXPECT_EQ(
      parallelism_sentences(families)[0],
      "Looks like tensor parallelism of 2: 2 groups of 2 ranks 1 apart, together all ranks, with "
      "32 AllReduce; its ranks are neighbours, and it has 8 times as many calls as the next, "
      "smaller ones.");
}

TEST(Parallelism, NothingIsClaimedWithoutGroups) {
  const TraceSet set = read_texts({kineto(small_step(), 0, 2), kineto(small_step(), 1, 2)});
  EXPECT_TRUE(group_families(set.traces).empty());
}

TEST(Memory, PeaksByDevice) {
  const auto sample = [](int device, int at, int allocated) {
    return fmt::format(
        R"({{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":{},"args":)"
        R"({{"Device Type":1,"Device Id":{},"Total Allocated":{},"Total Reserved":1000}}}})",
        at, device, allocated);
  };
  const auto peaks = memory_peaks(
      read_text(kineto({sample(0, 1, 10), sample(0, 2, 30), sample(0, 3, 20), sample(1, 1, 5)})));
  ASSERT_EQ(peaks.size(), 2u);
  EXPECT_EQ(peaks[0].allocated, Bytes(30));
  EXPECT_EQ(peaks[0].at, Nanos(2'000));
  EXPECT_EQ(peaks[1].reserved, Bytes(1000));
}

}  // namespace
}  // namespace strato::trace
