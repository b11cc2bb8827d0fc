#include "app/worker/alignment.h"

#include <limits>
#include <span>

#include "app/worker/clock.h"

namespace strato::worker {
namespace {

constexpr std::uint32_t kTag = 0x7fff'fff0;  // no task has it
constexpr int kRounds = 40;

std::span<std::byte> bytes_of(std::int64_t& number) {
  return std::as_writable_bytes(std::span(&number, 1));
}

void answer(Transport& transport) {
  for (int round = 0; round < kRounds; ++round) {
    std::int64_t asked = 0;
    transport.receive(0, kTag, bytes_of(asked))->wait();
    std::int64_t now = now_ns();
    transport.send(0, kTag, bytes_of(now))->wait();
  }
}

ClockReading ask(Transport& transport, int rank) {
  ClockReading best;
  std::int64_t quickest = std::numeric_limits<std::int64_t>::max();
  for (int round = 0; round < kRounds; ++round) {
    std::int64_t sent = now_ns(), theirs = 0;
    const std::int64_t start = sent;
    transport.send(rank, kTag, bytes_of(sent))->wait();
    transport.receive(rank, kTag, bytes_of(theirs))->wait();
    const std::int64_t trip = now_ns() - start;
    if (trip >= quickest) continue;
    quickest = trip;
    best = {theirs, start + trip / 2 - theirs, trip / 2};
  }
  return best;
}

}  // namespace

std::vector<ClockReading> read_clocks(Transport& transport, int rank, int ranks) {
  if (rank != 0) {
    answer(transport);
    return {};
  }
  std::vector<ClockReading> readings(1);
  for (int other = 1; other < ranks; ++other) readings.push_back(ask(transport, other));
  return readings;
}

std::int64_t ClockLine::on_rank_0(std::int64_t own) const {
  const std::int64_t length = last_.at - first_.at;
  if (length <= 0) return own + first_.offset;
  const double drift =
      static_cast<double>(last_.offset - first_.offset) / static_cast<double>(length);
  return own + first_.offset +
         static_cast<std::int64_t>(drift * static_cast<double>(own - first_.at));
}

}  // namespace strato::worker
