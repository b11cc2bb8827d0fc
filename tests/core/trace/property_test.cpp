// Random intervals beside a grid on which every microsecond is looked at, and damaged files.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/trace/analyse/analysis.h"
#include "tests/core/trace/trace_kit.h"

namespace strato::trace {
namespace {

constexpr int kGrid = 120;

struct Piece {
  int type;  // 0: computation, 1: communication, 2: memory
  int start, duration;
};

Trace trace_of(const std::vector<Piece>& pieces) {
  constexpr std::array<const char*, 3> names = {"gemm", "ncclDevKernel_AllReduce", "Memcpy DtoD"};
  Trace trace;
  trace.lanes.push_back({true, 0, 7, ""});
  for (const Piece& piece : pieces) {
    Event event;
    event.name = trace.names.add(names.at(static_cast<std::size_t>(piece.type)));
    event.lane = LaneId(0);
    event.kind = EventKind::Kernel;
    event.start = Nanos(piece.start);
    event.duration = Nanos(piece.duration);
    trace.events.push_back(event);
  }
  return trace;
}

RC_GTEST_PROP(Breakdown, IsThatOfAGrid, ()) {
  const auto pieces = *rc::gen::container<std::vector<Piece>>(rc::gen::apply(
      [](int type, int start, int duration) {
        return Piece{type, start, duration};
      },
      rc::gen::inRange(0, 3), rc::gen::inRange(0, kGrid / 2), rc::gen::inRange(1, kGrid / 2)));
  RC_PRE(!pieces.empty());
  std::array<std::array<bool, kGrid>, 3> runs{};
  int first = kGrid, last = 0;
  for (const auto& [type, start, duration] : pieces) {
    first = std::min(first, start), last = std::max(last, start + duration);
    for (int t = start; t < start + duration; ++t)
      runs.at(static_cast<std::size_t>(type)).at(static_cast<std::size_t>(t)) = true;
  }
  Breakdown expected;
  expected.total = Nanos(last - first);
  for (int at = first; at < last; ++at) {
    const auto t = static_cast<std::size_t>(at);
    const bool compute = runs[0].at(t), communication = runs[1].at(t), memory = runs[2].at(t);
    expected.idle += Nanos(compute || communication || memory ? 0 : 1);
    expected.compute += Nanos(compute ? 1 : 0);
    expected.non_compute += Nanos(!compute && (communication || memory) ? 1 : 0);
    expected.overlapped += Nanos(compute && communication ? 1 : 0);
    expected.exposed += Nanos(communication && !compute ? 1 : 0);
  }
  const Trace trace = trace_of(pieces);
  const Breakdown b = breakdown(kernels_of(trace));
  RC_ASSERT(b.total == expected.total);
  RC_ASSERT(b.idle == expected.idle);
  RC_ASSERT(b.compute == expected.compute);
  RC_ASSERT(b.non_compute == expected.non_compute);
  RC_ASSERT(b.overlapped == expected.overlapped);
  RC_ASSERT(b.exposed == expected.exposed);
}

std::string sample() {
  return kineto(
      {event("user_annotation", "ProfilerStep#1", 0, 100), launch(1, 1, 5),
       kernel("gemm", 4, 9, 7, 5),
       event("cpu_op", "record_param_comms", 10, 20,
             R"("External id":5,"Collective name":"allreduce","dtype":"Float","In msg nelems":100,)"
             R"("Process Group Name":"1","Process Group Ranks":"[0, 1]")"),
       all_reduce(30, 10, "[0, 1]"), all_reduce(50, 10, "[0, 1]"), kernel("gemm", 64, 9, 7, 6)},
      0, 2);
}

// Reads and analyses, in whatever state the text is; refusals are right answers.
void survive(const std::string& text) {
  try {
    std::vector<Trace> traces;
    traces.push_back(read_text(text));
    traces.push_back(read_text(sample()));
    analyse(traces);
  } catch (const InputError&) {
  }
}

TEST(Damage, CutAnywhereIsReadOrRefused) {
  const std::string text = sample();
  std::size_t read = 0;
  for (std::size_t size = 0; size < text.size(); size += 50) {
    try {
      const Trace trace = read_text(text.substr(0, size));
      ++read;
      EXPECT_NE(remarks_of(trace).find("The file ends"), std::string::npos) << size;
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(read, 10u);
}

TEST(Damage, TwoThousandVariants) {
  const std::string text = sample();
  Random random(7);
  const std::array<std::string, 12> inserts = {
      "[[[[[[[[", "{\"a\":", "NaN", "-1e999", "9223372036854775807", "\"", "\\", "\xff\xfe",
      "e",        "null",    ",",   "-9e18"};
  for (int round = 0; round < 2000; ++round) {
    std::string variant = text;
    for (std::uint64_t i = 0; i <= random.below(4); ++i) {
      const std::size_t at = random.below(variant.size());
      switch (random.below(4)) {
        case 0:
          variant[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          variant.insert(at, inserts.at(random.below(inserts.size())));
          break;
        case 2:
          variant.erase(at, random.below(40));
          break;
        default:
          variant.insert(at, variant.substr(random.below(variant.size()), random.below(200)));
      }
    }
    survive(variant);
  }
}

TEST(Damage, DeepAndLongTextsEndSoon) {
  survive("{\"traceEvents\":" + std::string(2'000'000, '['));
  survive("[{\"ph\":\"X\",\"name\":\"" + std::string(3'000'000, 'a') + "\"}]");
  survive("[{\"ph\":\"X\",\"ts\":" + std::string(3'000'000, '9') + "}]");
  std::string many = "[{\"ph\":\"X\"";
  for (int i = 0; i < 100'000; ++i) many += fmt::format(",\"k{}\":{}", i, i);
  survive(many + "}]");
}

}  // namespace
}  // namespace strato::trace
