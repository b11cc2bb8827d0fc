#include "app/worker/probing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/worker/clock.h"
#include "app/worker/communicator.h"
#include "core/launch/profiling/op_times.h"

namespace strato::worker {
namespace {

constexpr std::uint32_t kRoundTag = 0x7fff'ffe0;  // no task has them
constexpr std::uint32_t kMessageTag = 0x7fff'ffe1;
constexpr std::uint32_t kAnswerTag = 0x7fff'ffe2;
constexpr std::int64_t kElement = 4;            // of float32: what gradients are
constexpr std::int64_t kLeast = 3, kMost = 60;  // repetitions
constexpr std::int64_t kAnswers = 40;
constexpr double kBrief = 1e7;  // ns: below, the first of a round waits noticeably for the others

template <class T>
std::span<std::byte> span_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

std::int64_t whole_elements(std::int64_t bytes) {
  return (bytes + kElement - 1) / kElement * kElement;
}

// Nearly equal pieces of whole elements.
std::vector<std::span<std::byte>> cut(std::span<std::byte> whole, std::size_t pieces) {
  const std::size_t elements = whole.size() / kElement;
  std::vector<std::span<std::byte>> result;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t from = elements * i / pieces, to = elements * (i + 1) / pieces;
    result.push_back(whole.subspan(from * kElement, (to - from) * kElement));
  }
  return result;
}

}  // namespace

void Probing::wait(std::unique_ptr<Pending> pending) {
  on_transport([&] { pending->wait(); });
  ended_.fetch_add(1, std::memory_order_relaxed);
}

void Probing::tell(const Probe& probe, Round what) {
  for (const int member : probe.members) {
    if (member != rank_)
      wait(on_transport([&] { return transport_.send(member, kRoundTag, span_of(what)); }));
  }
}

void Probing::exchange(const Probe& probe, std::int64_t bytes, bool leads) {
  const auto message = memory_.at_least(static_cast<std::size_t>(bytes));
  const int other = probe.members[leads ? 1 : 0];
  std::array<std::byte, 1> answer{};
  if (leads) {
    wait(on_transport([&] { return transport_.send(other, kMessageTag, message); }));
    wait(on_transport([&] { return transport_.receive(other, kAnswerTag, answer); }));
  } else {
    wait(on_transport([&] { return transport_.receive(other, kMessageTag, message); }));
    wait(on_transport([&] { return transport_.send(other, kAnswerTag, answer); }));
  }
}

void Probing::collect(const Probe& probe, std::int64_t bytes) {
  const auto whole = memory_.at_least(static_cast<std::size_t>(bytes));
  wait(on_transport([&] {
    switch (*probe.collective) {
      case Collective::AllGather:
        return transport_.all_gather(probe.members, kMessageTag, cut(whole, probe.members.size()));
      case Collective::ReduceScatter:
        return transport_.reduce_scatter(probe.members, kMessageTag, DataType::F32,
                                         cut(whole, probe.members.size()));
      default:
        return transport_.all_reduce(probe.members, kMessageTag, DataType::F32, {whole});
    }
  }));
}

void Probing::run(const Probe& probe, std::int64_t bytes, bool leads) {
  probe.collective ? collect(probe, bytes) : exchange(probe, bytes, leads);
}

std::vector<double> Probing::round(const Probe& probe, Round what) {
  memory_.at_least(static_cast<std::size_t>(what.bytes));
  tell(probe, what);
  std::vector<double> times;
  for (std::int64_t i = 0; i < what.count; ++i) {
    const std::int64_t start = now_ns();
    run(probe, what.bytes, true);
    times.push_back(static_cast<double>(now_ns() - start));
  }
  return times;
}

SizedMeasurement Probing::measure(const Probe& probe, Bytes bytes,
                                  std::chrono::nanoseconds allowed) {
  const double first = round(probe, {bytes.value, 1}).front();
  const auto fit = static_cast<std::int64_t>(static_cast<double>(allowed.count()) / first);
  const std::int64_t count = std::clamp(fit, kLeast, kMost);
  const bool brief = first < kBrief;
  std::vector<double> times = round(probe, {bytes.value, count + (brief ? 1 : 0)});
  if (brief) times.erase(times.begin());
  const Middle middle = middle_of(times);
  // A message takes at least as long as its answer, which is as small as can be.
  const double least = answer_ > 0 ? middle.median / 2 : 0;
  return {bytes, nanos_from(std::max({middle.median - answer_, least, 1.0})),
          nanos_from(middle.spread), count};
}

std::vector<SizedMeasurement> Probing::lead(const Probe& probe, SizeRange sizes,
                                            std::chrono::nanoseconds time) {
  const std::int64_t end = now_ns() + time.count();
  answer_ = 0;
  if (!probe.collective) answer_ = middle_of(round(probe, {1, kAnswers})).median / 2;
  std::vector<SizedMeasurement> points;
  const std::int64_t smallest = whole_elements(sizes.smallest.value);
  for (std::int64_t size = smallest; size <= sizes.largest.value; size *= 2) {
    const std::int64_t left = end - now_ns();
    const double sizes_left =
        1 + std::log2(static_cast<double>(sizes.largest.value) / static_cast<double>(size));
    // The next size takes at most about twice as long; it runs once before it counts.
    const auto least = [&] { return 2 * (kLeast + 1) * points.back().time.value; };
    if (points.size() >= 2 && left < least()) break;
    const auto share = static_cast<std::int64_t>(static_cast<double>(left) / sizes_left);
    points.push_back(
        measure(probe, Bytes(size), std::chrono::nanoseconds(std::max<std::int64_t>(share, 0))));
    if (size > sizes.largest.value / 2) break;
  }
  tell(probe, {});
  return points;
}

void Probing::follow(const Probe& probe) {
  const int leader = probe.members.front();
  for (;;) {
    Round what;
    wait(on_transport([&] { return transport_.receive(leader, kRoundTag, span_of(what)); }));
    if (what.count == 0) return;
    memory_.at_least(static_cast<std::size_t>(what.bytes));
    for (std::int64_t i = 0; i < what.count; ++i) run(probe, what.bytes, false);
  }
}

}  // namespace strato::worker
