#include "core/trace/analyse/alignment.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

namespace strato::trace {
namespace {

// Clocks from 1970 and from a machine's start are 55 years apart; with more, sums would not fit.
constexpr double kLargestOffset = 2e18;

// Waits of damaged files may add up to more than fits.
void add_wait(Nanos& sum, Nanos wait) {
  constexpr Nanos most(4'000'000'000'000'000'000);
  sum = std::min(sum, most) + std::min(wait, most);
}

Nanos median(std::vector<Nanos>& of) {
  const auto middle = of.begin() + std::ssize(of) / 2;
  std::ranges::nth_element(of, middle);
  return *middle;
}

// Differences of ends between ranks that are the first and another member of a match.
using Differences = std::map<std::pair<std::size_t, std::size_t>, std::vector<Nanos>>;

Differences differences_of(std::span<const Match> matches) {
  Differences differences;
  for (const Match& match : matches) {
    const Match::Member& first = match.members.front();
    for (const Match::Member& other : std::span(match.members).subspan(1))
      differences[{first.rank, other.rank}].push_back(first.event->end() - other.event->end());
  }
  return differences;
}

void measure_error(std::span<const Match> matches, Alignment& alignment) {
  std::vector<Nanos> spreads;
  for (const Match& match : matches) {
    Nanos first = Nanos::max(), last(INT64_MIN);
    for (const auto& [rank, event] : match.members) {
      const Nanos end = event->end() + alignment.offset[rank];
      first = std::min(first, end);
      last = std::max(last, end);
    }
    spreads.push_back(last - first);
  }
  if (spreads.empty()) return;
  alignment.worst_error = std::ranges::max(spreads);
  alignment.typical_error = median(spreads);
}

}  // namespace

Alignment align(std::span<const Trace> traces, std::span<const Match> matches) {
  Alignment alignment{std::vector<Nanos>(traces.size()), std::vector<bool>(traces.size(), false),
                      matches.size(), Nanos(0), Nanos(0)};
  std::map<std::size_t, std::vector<std::pair<std::size_t, Nanos>>> neighbours;
  for (auto& [pair, differences] : differences_of(matches)) {
    const Nanos difference = median(differences);
    neighbours[pair.first].emplace_back(pair.second, difference);
    neighbours[pair.second].emplace_back(pair.first, Nanos(0) - difference);
  }
  if (traces.empty() || neighbours.empty()) return alignment;
  // From the rank that keeps its clock to all that can be reached.
  std::deque<std::size_t> reached = {neighbours.begin()->first};
  alignment.aligned[reached.front()] = true;
  for (; !reached.empty(); reached.pop_front()) {
    for (const auto& [rank, difference] : neighbours[reached.front()]) {
      if (alignment.aligned[rank]) continue;
      const double offset = static_cast<double>(alignment.offset[reached.front()].value) +
                            static_cast<double>(difference.value);
      if (std::abs(offset) > kLargestOffset) continue;
      alignment.aligned[rank] = true;
      alignment.offset[rank] = alignment.offset[reached.front()] + difference;
      reached.push_back(rank);
    }
  }
  measure_error(matches, alignment);
  return alignment;
}

std::vector<Arrivals> arrivals(std::span<const Trace> traces, std::span<const Match> matches,
                               const Alignment& alignment) {
  std::vector<Arrivals> result(traces.size());
  for (const Match& match : matches) {
    const auto start = [&](const Match::Member& member) {
      return member.event->start + alignment.offset[member.rank];
    };
    const bool known = std::ranges::all_of(
        match.members, [&](const Match::Member& member) { return alignment.aligned[member.rank]; });
    if (!known) continue;
    const auto last = std::ranges::max_element(match.members, {}, start);
    ++result[last->rank].last;
    for (const Match::Member& member : match.members) {
      const Nanos wait = start(*last) - start(member);
      ++result[member.rank].matched;
      add_wait(result[member.rank].waited, wait);
      add_wait(result[last->rank].held_up, wait);
    }
  }
  return result;
}

}  // namespace strato::trace
