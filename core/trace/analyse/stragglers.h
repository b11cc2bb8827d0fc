// Ranks that the others wait for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/trace/analyse/alignment.h"

namespace strato::trace {

struct Straggler {
  std::size_t index = 0;  // of its trace
  std::int64_t rank = 0;
  std::int64_t matched = 0, last = 0;  // collectives, and those that it was the last to begin
  Nanos held_up;                       // each other rank, on average
};

// Ranks that cause far more than their share of all waiting (three times as much, or three
// quarters of it), and for which each other rank waited at least 1 % of `time`, the longest device
// time of a rank. The latest first; none where ranks are alike.
std::vector<Straggler> stragglers(std::span<const Trace> traces, std::span<const Arrivals> arrivals,
                                  Nanos time);

// "Rank 3 was the last at 41 of 50 collectives; each other rank waited 12.3 ms for it."
std::string sentence_of(const Straggler& straggler);

}  // namespace strato::trace
