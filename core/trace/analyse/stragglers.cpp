#include "core/trace/analyse/stragglers.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/quantity_text.h"

namespace strato::trace {
namespace {

constexpr double kTimesItsShare = 3, kMostOfIt = 0.75, kLeastOfTime = 0.01;

}  // namespace

std::vector<Straggler> stragglers(std::span<const Trace> traces, std::span<const Arrivals> arrivals,
                                  Nanos time) {
  double waiting = 0;
  std::int64_t ranks = 0;
  for (const Arrivals& each : arrivals) {
    waiting += static_cast<double>(each.held_up.value);
    ranks += each.matched > 0 ? 1 : 0;
  }
  std::vector<Straggler> found;
  if (ranks < 2 || waiting <= 0) return found;
  const double share = std::min(kMostOfIt, kTimesItsShare / static_cast<double>(ranks));
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const Arrivals& each = arrivals[i];
    const Nanos held_up(each.held_up.value / (ranks - 1));
    if (static_cast<double>(each.held_up.value) < share * waiting ||
        static_cast<double>(held_up.value) < kLeastOfTime * static_cast<double>(time.value))
      continue;
    found.push_back({i, traces[i].rank.value_or(0), each.matched, each.last, held_up});
  }
  std::ranges::stable_sort(found, std::greater(), &Straggler::held_up);
  return found;
}

std::string sentence_of(const Straggler& straggler) {
  return fmt::format(
      "Rank {} was the last at {} of {} collectives; each other rank waited {} for it.",
      straggler.rank, straggler.last, straggler.matched, time_text(straggler.held_up));
}

}  // namespace strato::trace
