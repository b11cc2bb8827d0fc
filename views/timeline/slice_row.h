// Slices of one row in time order, and the level of detail: what is narrower than a few
// pixels folds into a block with a count. Folding searches ahead instead of visiting every slice,
// so a row costs what its pixels cost (a million slices in view are some hundred blocks), and finds
// a block's end quickly, since neighbours hold about as many. A pyramid of blocks made before would
// save what is left of the search and take three times the memory of the slices and a quarter of a
// second for every outcome and colour mode.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/program/value/program.h"
#include "views/timeline/time_mapping.h"

namespace strato {

// The first of [from, size) that is not `before`; of those that are none follows one that is not.
// Looks from `from + guess` outwards in ever larger steps.
template <class Before>
std::size_t first_not(Before&& before, std::size_t from, std::size_t size, std::size_t guess = 1) {
  std::size_t low = from, high = std::min(from + guess, size);  // it is in [low, high]
  std::size_t step = std::max<std::size_t>(1, guess / 8);
  if (high == size || !before(high)) {
    while (high - low > step && !before(high - step)) high -= step, step *= 2;
    if (high - low > step) low = high - step + 1;
  } else {
    while (high < size && before(high))
      low = high + 1, high = std::min(high + step, size), step *= 2;
  }
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// When they are, whatever they are.
struct SliceTimes {
  // Parallel arrays, ascending by start; slices do not overlap. Nanoseconds.
  std::vector<std::int64_t> start, end;
  std::vector<std::int64_t>
      busy_before;  // sum of the durations of the slices before; one more than slices

  std::size_t size() const { return start.size(); }
  void add(std::int64_t from, std::int64_t to) {
    if (busy_before.empty()) busy_before.push_back(0);
    start.push_back(from);
    end.push_back(to);
    busy_before.push_back(busy_before.back() + (to - from));
  }
  std::int64_t busy(std::size_t first, std::size_t last) const {
    return busy_before[last] - busy_before[first];
  }
  std::int64_t busy_total() const { return busy_before.empty() ? 0 : busy_before.back(); }

  // The first slice that ends after `time`.
  std::size_t first_after(double time) const {
    const auto found = std::upper_bound(end.begin(), end.end(), time, [](double t, std::int64_t e) {
      return t < static_cast<double>(e);
    });
    return static_cast<std::size_t>(found - end.begin());
  }
  // The first slice from `from` on that starts at `time` or later. Gallops from `guess` slices
  // further, since it is mostly near there; any guess gives the same answer.
  std::size_t first_starting(double time, std::size_t from, std::size_t guess = 1) const {
    const auto before = [&](std::size_t i) { return static_cast<double>(start[i]) < time; };
    return first_not(before, from, size(), guess);
  }
  // Time in [from, to) that is covered.
  std::int64_t busy_between(std::int64_t from, std::int64_t to) const {
    if (to <= from || size() == 0) return 0;
    return busy_until(to) - busy_until(from);
  }

 private:
  std::int64_t busy_until(std::int64_t time) const {
    const std::size_t i = first_after(static_cast<double>(time));
    const std::int64_t inside = i < size() ? std::max<std::int64_t>(0, time - start[i]) : 0;
    return busy_before[i] + inside;
  }
};

// The slices of one resource.
struct SliceRow : SliceTimes {
  std::vector<TaskId> task;  // parallel to the others

  void add(std::int64_t from, std::int64_t to, TaskId id) {
    SliceTimes::add(from, to);
    task.push_back(id);
  }
};

// Slices [first, last) drawn as one thing; last == first + 1 is a slice of its own.
struct SliceFold {
  std::size_t first, last;
  std::size_t count() const { return last - first; }
};

inline constexpr double kFoldPixels = 3;

// Calls visit(SliceFold) in time order for everything in view.
template <class Visit>
void fold_slices(const SliceTimes& row, const TimeMapping& mapping, Visit&& visit) {
  const double smallest = kFoldPixels * mapping.ns_per_px, view_end = mapping.end();
  const auto wide = [&](std::size_t i) {
    return static_cast<double>(row.end[i] - row.start[i]) >= smallest;
  };
  std::size_t i = row.first_after(mapping.begin), guess = 1;
  while (i < row.size() && static_cast<double>(row.start[i]) < view_end) {
    std::size_t next = i + 1;
    if (!wide(i)) {
      const double block_end = static_cast<double>(row.start[i]) + smallest;
      next = std::max(next, row.first_starting(block_end, i, guess));
      guess = next - i;  // the next block holds about as many
      // Only the last of them can reach beyond the block; a wide one is drawn by itself.
      if (next - 1 > i && wide(next - 1)) --next;
    }
    visit(SliceFold{i, next});
    i = next;
  }
}

inline constexpr double kOutlinePixels = 6;

// The same for some slices of a row, `marked` ascending: calls visit(SliceFold) of indices into
// `marked` for everything in view. What is at least kOutlinePixels wide is by itself.
template <class Visit>
void fold_marked(const SliceTimes& row, const std::vector<std::uint32_t>& marked,
                 const TimeMapping& mapping, Visit&& visit) {
  const double smallest = kFoldPixels * mapping.ns_per_px, view_end = mapping.end();
  const auto length = [&](std::size_t m) {
    return static_cast<double>(row.end[marked[m]] - row.start[marked[m]]);
  };
  const auto start = [&](std::size_t m) { return static_cast<double>(row.start[marked[m]]); };
  const auto first = std::lower_bound(marked.begin(), marked.end(), row.first_after(mapping.begin));
  std::size_t i = static_cast<std::size_t>(first - marked.begin()), guess = 1;
  while (i < marked.size() && start(i) <= view_end) {
    std::size_t next = i + 1;
    if (length(i) < smallest) {
      const double block_end = start(i) + smallest;
      const auto before = [&](std::size_t m) { return start(m) < block_end; };
      next = std::max(next, first_not(before, i, marked.size(), guess));
      guess = next - i;
      if (next - 1 > i && length(next - 1) >= smallest) --next;
    }
    visit(SliceFold{i, next});
    i = next;
  }
}

// The part of a block that is filled.
inline double density_of(const SliceTimes& row, const SliceFold& fold) {
  const auto whole = static_cast<double>(row.end[fold.last - 1] - row.start[fold.first]);
  return whole > 0 ? static_cast<double>(row.busy(fold.first, fold.last)) / whole : 1;
}

// A folded block takes the entry of a legend that fills most of the slices looked at: all when few,
// else a sample, for each is somewhere else in memory.
template <std::size_t kSample = 32>
class BlockEntry {
 public:
  template <class EntryOf>  // of the slice with this index
  std::uint8_t of(const SliceTimes& row, const SliceFold& fold, EntryOf&& entry_of) {
    if (fold.count() == 1) return entry_of(fold.first);
    std::array<std::uint8_t, 2 * kSample> seen;
    std::size_t count = 0;
    const std::size_t stride = std::max<std::size_t>(1, fold.count() / kSample);
    std::uint8_t fullest = 0;
    std::int64_t most = -1;
    for (std::size_t i = fold.first; i < fold.last; i += stride) {
      const std::uint8_t entry = entry_of(i);
      seen[count++] = entry;
      time_[entry] += row.end[i] - row.start[i];
      if (time_[entry] > most) {
        most = time_[entry];
        fullest = entry;
      }
    }
    for (std::size_t i = 0; i < count; ++i) time_[seen[i]] = 0;
    return fullest;
  }

 private:
  std::array<std::int64_t, 256> time_{};  // all 0 in between
};

// What is drawn at `time`: the fold that covers it, within `slack_px` of its edges.
inline std::optional<SliceFold> fold_at(const SliceTimes& row, const TimeMapping& mapping, double x,
                                        double slack_px = 2) {
  std::optional<SliceFold> best;
  double best_distance = slack_px;
  fold_slices(row, mapping, [&](SliceFold fold) {
    const double from = mapping.x(static_cast<double>(row.start[fold.first]));
    const double to = std::max(mapping.x(static_cast<double>(row.end[fold.last - 1])), from + 1);
    const double distance = std::max({from - x, x - to, 0.0});
    if (distance <= best_distance && (distance < best_distance || !best)) {
      best = fold;
      best_distance = distance;
    }
  });
  return best;
}

}  // namespace strato
