// What a rank does at every moment, who is late, and reading that is stopped.
#include "core/trace/analyse/course.h"

#include <gtest/gtest.h>

#include "core/trace/analyse/analysis.h"
#include "tests/core/trace/trace_kit.h"

namespace strato::trace {
namespace {

std::string text_of(const std::vector<Stretch>& stretches) {
  constexpr std::array<const char*, kActivities> names = {"computes",     "communicates", "other",
                                                          "waits (host)", "waits",        "idle"};
  std::string text;
  for (const Stretch& each : stretches)
    text += fmt::format("{}{} {}-{}", text.empty() ? "" : ", ",
                        each.activity == Activity::Communicating
                            ? name_of(each.collective)
                            : names[static_cast<std::size_t>(each.activity)],
                        each.time.begin.value / 1000, each.time.end.value / 1000);
  return text;
}

Course course_of_events(const std::vector<std::string>& events) {
  const Trace trace = read_text(kineto(events));
  return course_of(trace, kernels_of(trace));
}

TEST(CourseOfARank, ComputationHidesCommunicationAndBothHideCopies) {
  const Course course =
      course_of_events({kernel("gemm", 0, 10), kernel("ncclDevKernel_AllReduce_Sum", 5, 15, 8),
                        event("gpu_memcpy", "Memcpy DtoH", 18, 4, R"("device":0,"stream":9)"),
                        kernel("gemm", 12, 2)});
  EXPECT_EQ(text_of(course.stretches),
            "computes 0-10, AllReduce 10-12, computes 12-14, AllReduce 14-20, other 20-22");
  EXPECT_EQ(text_of(course.hidden), "AllReduce 5-10, AllReduce 12-14");
}

TEST(CourseOfARank, IdleTimeHasACause) {
  const Course course = course_of_events(
      {launch(0, 1, 1), kernel("a", 10, 10, 7, 1), launch(1, 1, 2), kernel("b", 25, 5, 7, 2),
       launch(35, 1, 3), kernel("c", 40, 10, 7, 3), launch(41, 1, 4), kernel("d", 100, 10, 7, 4)});
  EXPECT_EQ(text_of(course.stretches),
            "computes 10-20, waits 20-25, computes 25-30, waits (host) 30-40, computes 40-50, "
            "idle 50-100, computes 100-110");
}

TEST(CourseOfARank, CollectivesSideBySideAreCut) {
  const Course course = course_of_events({kernel("ncclDevKernel_AllGather_RING", 0, 10, 8),
                                          kernel("ncclDevKernel_ReduceScatter_Sum", 5, 15, 9)});
  EXPECT_EQ(text_of(course.stretches), "AllGather 0-10, ReduceScatter 10-20");
}

TEST(CourseOfARank, AddsUpToTheBreakdown) {
  std::vector<std::string> events;
  std::uint64_t random = 7;
  for (int i = 0; i < 400; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto at = static_cast<double>((random >> 33) % 4000),
               length = static_cast<double>((random >> 20) % 37);
    const char* names[] = {"gemm", "ncclDevKernel_AllReduce_Sum", "ncclDevKernel_SendRecv", "relu"};
    events.push_back(kernel(names[(random >> 50) % 4], at, length, static_cast<int>(i % 5)));
  }
  const Trace trace = read_text(kineto(events));
  const auto kernels = kernels_of(trace);
  const Breakdown expected = breakdown(kernels);
  const Course course = course_of(trace, kernels);
  std::array<Nanos, kActivities> sums{};
  Nanos hidden, end = course.stretches.front().time.begin;
  for (const Stretch& each : course.stretches) {
    EXPECT_EQ(each.time.begin, end) << "no hole, and nothing twice";
    end = each.time.end;
    sums[static_cast<std::size_t>(each.activity)] += each.time.length();
  }
  for (const Stretch& each : course.hidden) hidden += each.time.length();
  EXPECT_EQ(sums[0], expected.compute);
  EXPECT_EQ(sums[1], expected.exposed);
  EXPECT_EQ(sums[1] + sums[2], expected.non_compute);
  EXPECT_EQ(sums[3] + sums[4] + sums[5], expected.idle);
  EXPECT_EQ(hidden, expected.overlapped);
}

TEST(CourseOfARank, NothingOfNothing) {
  const Course course = make_course({}, {}, {});
  EXPECT_TRUE(course.stretches.empty());
  EXPECT_TRUE(course.hidden.empty());
}

// Four ranks; the last to begin comes `late` microseconds after the others, one after the other or
// always rank 2.
Analysis four_ranks(double late, bool always) {
  std::vector<std::string> texts;
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<std::string> events;
    for (int i = 0; i < 12; ++i) {
      const bool is_late = always ? rank == 2 : i % 4 == rank;
      const double end = 1000 * (i + 1), length = is_late ? 100 : 100 + late;
      events.push_back(kernel("gemm", end - 900, 400));
      events.push_back(all_reduce(end - length, length, "[0, 1, 2, 3]"));
    }
    texts.push_back(kineto(events, rank, 4));
  }
  return analyse(read_texts(texts).traces);
}

TEST(Stragglers, IsTheOneThatTheOthersWaitFor) {
  const Analysis analysis = four_ranks(200, true);
  ASSERT_EQ(analysis.stragglers.size(), 1u);
  EXPECT_EQ(analysis.stragglers[0].rank, 2);
  EXPECT_EQ(analysis.stragglers[0].last, 12);
  EXPECT_EQ(analysis.stragglers[0].held_up, Nanos(2'400'000));
  EXPECT_EQ(sentence_of(analysis.stragglers[0]),
            "Rank 2 was the last at 12 of 12 collectives; each other rank waited 2.40 ms for it.");
  EXPECT_DOUBLE_EQ(analysis.matched_share, 1);
}

TEST(Stragglers, NoneWhereRanksAreAlikeOrTheWaitIsSmall) {
  EXPECT_TRUE(four_ranks(200, false).stragglers.empty()) << "each is late as often";
  EXPECT_TRUE(four_ranks(2, true).stragglers.empty()) << "0.2 % of the time";
  EXPECT_TRUE(four_ranks(0, true).stragglers.empty());
}

TEST(StoppedReading, EndsWithoutTraces) {
  const TemporaryFolder folder;
  std::vector<std::string> events;
  for (int i = 0; i < 1000; ++i) events.push_back(kernel("a", i * 10, 5));
  for (int rank = 0; rank < 8; ++rank)
    write(folder / fmt::format("rank-{}.json", rank), kineto(events, rank, 8));
  std::stop_source stop;
  std::atomic<int> read = 0;
  const auto stop_after_two = [&](const std::filesystem::path&, std::size_t files) {
    EXPECT_EQ(files, 8u);
    if (++read == 2) stop.request_stop();
  };
  EXPECT_TRUE(read_traces(folder.path(), stop_after_two, stop.get_token()).traces.empty());
  EXPECT_LT(read, 8);
  EXPECT_TRUE(read_traces(folder / "rank-0.json", {}, stop.get_token()).traces.empty());
  EXPECT_EQ(read_traces(folder.path(), {}, std::stop_source().get_token()).traces.size(), 8u);
}

TEST(IntervalsMinus, CutsWhatIsInTheOther) {
  const auto of = [](std::initializer_list<std::pair<int, int>> pairs) {
    Intervals result;
    for (const auto& [begin, end] : pairs) result.push_back({Nanos(begin), Nanos(end)});
    return result;
  };
  EXPECT_EQ(minus(of({{0, 10}, {20, 30}}), of({{2, 4}, {8, 22}, {29, 40}})),
            of({{0, 2}, {4, 8}, {22, 29}}));
  EXPECT_EQ(minus(of({{0, 10}}), of({})), of({{0, 10}}));
  EXPECT_EQ(minus(of({{5, 6}}), of({{0, 10}})), of({}));
}

}  // namespace
}  // namespace strato::trace
