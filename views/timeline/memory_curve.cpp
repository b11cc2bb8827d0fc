#include "views/timeline/memory_curve.h"

#include <algorithm>

#include "core/sim/timeline/timeline.h"
#include "views/timeline/slice_row.h"

namespace strato {
namespace {
constexpr std::size_t kFan = 16;
}

MemoryCurve::MemoryCurve(std::int64_t resident, std::vector<Change> changes)
    : resident_(resident), peak_(resident) {
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.time != b.time ? a.time < b.time : a.bytes < b.bytes;
  });
  levels_.emplace_back();
  std::int64_t now = resident;
  for (const Change& change : changes) {
    now += change.bytes;
    peak_ = std::max(peak_, now);
    if (!times_.empty() && times_.back() == change.time) {
      levels_[0].back() = now;
    } else {
      times_.push_back(change.time);
      levels_[0].push_back(now);
    }
  }
  while (levels_.back().size() > kFan) {
    const std::vector<std::int64_t>& below = levels_.back();
    std::vector<std::int64_t> level;
    for (std::size_t i = 0; i < below.size(); i += kFan) {
      const auto from = below.begin() + static_cast<std::ptrdiff_t>(i);
      const auto to = below.begin() + static_cast<std::ptrdiff_t>(std::min(i + kFan, below.size()));
      level.push_back(*std::max_element(from, to));
    }
    levels_.push_back(std::move(level));
  }
}

std::int64_t MemoryCurve::at(std::int64_t time) const {
  const auto found = std::upper_bound(times_.begin(), times_.end(), time);
  return found == times_.begin() ? resident_
                                 : levels_[0][static_cast<std::size_t>(found - times_.begin()) - 1];
}

std::int64_t MemoryCurve::highest(std::int64_t from, std::int64_t to) const {
  const auto first = std::upper_bound(times_.begin(), times_.end(), from) - times_.begin();
  const auto last = std::upper_bound(times_.begin(), times_.end(), to) - times_.begin();
  return std::max(at(from),
                  highest_of(static_cast<std::size_t>(first), static_cast<std::size_t>(last)));
}

std::int64_t MemoryCurve::Walk::highest(std::int64_t from, std::int64_t to) {
  const std::vector<std::int64_t>& times = curve_.times_;
  const auto first_later = [&](std::int64_t time, std::size_t begin) {
    return first_not([&](std::size_t i) { return times[i] <= time; }, begin, times.size(), guess_);
  };
  at_ = from == to_ ? end_ : first_later(from, at_);
  to_ = to;
  end_ = at_ == times.size() || times[at_] > to ? at_ : first_later(to, at_);
  const std::int64_t before = at_ == 0 ? curve_.resident_ : curve_.levels_[0][at_ - 1];
  if (end_ == at_) return before;
  guess_ = end_ - at_;
  return std::max(before, curve_.highest_of(at_, end_));
}

std::int64_t MemoryCurve::highest_of(std::size_t first, std::size_t last) const {
  std::int64_t result = 0;
  for (std::size_t level = 0; first < last; ++level) {
    const std::vector<std::int64_t>& values = levels_[level];
    const bool top = level + 1 == levels_.size();
    while (first < last && (top || first % kFan != 0)) result = std::max(result, values[first++]);
    while (first < last && last % kFan != 0) result = std::max(result, values[--last]);
    first /= kFan;
    last /= kFan;
  }
  return result;
}

IdVector<DeviceId, MemoryCurve> memory_curves(const Timeline& timeline) {
  const Program& program = *timeline.program;
  const std::size_t count = program.cluster->device_count();
  std::vector<std::vector<MemoryCurve::Change>> changes(count);
  std::vector<std::int64_t> resident(count, 0);
  for (const Resident& r : program.residents)
    if (!r.on_host) resident[r.device.index()] += r.bytes.value;
  const IdVector<BufferId, Lifetime> lives = lifetimes(timeline);
  for (std::size_t b = 0; b < lives.size(); ++b) {
    const auto& [taken_by, released_by] = lives[BufferId(b)];
    if (!taken_by.valid() || !released_by.valid()) continue;
    const Buffer& buffer = program.buffers[BufferId(b)];
    if (buffer.on_host) continue;
    auto& list = changes[buffer.device.index()];
    list.push_back({timeline.tasks[taken_by].start.value, buffer.bytes.value});
    list.push_back({timeline.tasks[released_by].end.value, -buffer.bytes.value});
  }
  IdVector<DeviceId, MemoryCurve> curves;
  for (std::size_t d = 0; d < count; ++d) curves.emplace_back(resident[d], std::move(changes[d]));
  return curves;
}

}  // namespace strato
