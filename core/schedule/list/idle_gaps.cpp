#include "core/schedule/list/idle_gaps.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {

Nanos IdleGaps::Chunk::longest() const {
  Nanos longest;
  for (std::size_t i = 0; i < count; ++i) longest = std::max(longest, gaps[i].end - gaps[i].begin);
  return longest;
}

std::size_t IdleGaps::first_chunk(Nanos end) const {
  const auto at = std::partition_point(chunks_.begin(), chunks_.end(), [&](const Chunk& chunk) {
    return chunk.gaps[chunk.count - 1].end < end;
  });
  return static_cast<std::size_t>(at - chunks_.begin());
}

Nanos IdleGaps::earliest(Nanos ready, Nanos duration) const {
  if (ready >= end_) return ready;
  for (std::size_t c = first_chunk(ready + duration); c < chunks_.size(); ++c) {
    if (longest_[c] < duration) continue;
    const Chunk& chunk = chunks_[c];
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const Nanos start = std::max(ready, chunk.gaps[i].begin);
      if (start + duration <= chunk.gaps[i].end) return start;
    }
  }
  return end_;
}

void IdleGaps::add_chunk(std::size_t before, const Chunk& chunk) {
  chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(before), chunk);
  longest_.insert(longest_.begin() + static_cast<std::ptrdiff_t>(before), chunk.longest());
}

void IdleGaps::split(std::size_t c) {
  constexpr std::size_t half = Chunk::kMost / 2;
  Chunk upper;
  std::copy(chunks_[c].gaps.begin() + half, chunks_[c].gaps.end(), upper.gaps.begin());
  upper.count = Chunk::kMost - half;
  chunks_[c].count = half;
  refresh(c);
  add_chunk(c + 1, upper);
}

void IdleGaps::insert(std::size_t c, std::size_t at, Gap gap) {
  if (c == chunks_.size()) {  // behind all others: full chunks stay full
    if (chunks_.empty() || chunks_.back().count == Chunk::kMost) add_chunk(c, Chunk());
    c = chunks_.size() - 1;
    at = chunks_[c].count;
  }
  if (chunks_[c].count == Chunk::kMost) {
    split(c);
    if (at > chunks_[c].count) at -= chunks_[c++].count;
  }
  Chunk& chunk = chunks_[c];
  const auto first = chunk.gaps.begin() + static_cast<std::ptrdiff_t>(at);
  std::copy_backward(first, chunk.gaps.begin() + static_cast<std::ptrdiff_t>(chunk.count),
                     chunk.gaps.begin() + static_cast<std::ptrdiff_t>(chunk.count) + 1);
  *first = gap;
  ++chunk.count;
  longest_[c] = std::max(longest_[c], gap.end - gap.begin);
}

void IdleGaps::erase(std::size_t c, std::size_t at) {
  Chunk& chunk = chunks_[c];
  const auto first = chunk.gaps.begin() + static_cast<std::ptrdiff_t>(at);
  std::copy(first + 1, chunk.gaps.begin() + static_cast<std::ptrdiff_t>(chunk.count), first);
  --chunk.count;
  refresh(c);
  if (chunk.count > 0) return;
  chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(c));
  longest_.erase(longest_.begin() + static_cast<std::ptrdiff_t>(c));
}

void IdleGaps::occupy(Nanos start, Nanos duration) {
  if (duration <= Nanos()) return;
  if (start >= end_) {
    if (start > end_) insert(chunks_.size(), 0, {end_, start});
    end_ = start + duration;
    return;
  }
  const Nanos end = start + duration;
  const std::size_t c = first_chunk(end);
  CHECK(c < chunks_.size(), "the device is busy");
  Chunk& chunk = chunks_[c];
  std::size_t at = 0;
  while (at < chunk.count && chunk.gaps[at].end < end) ++at;
  const Gap gap = chunk.gaps[at];
  CHECK(at < chunk.count && gap.begin <= start, "the device is busy");
  if (gap.begin == start && gap.end == end) return erase(c, at);
  if (gap.begin == start || gap.end == end) {
    chunk.gaps[at] = gap.begin == start ? Gap{end, gap.end} : Gap{gap.begin, start};
    return refresh(c);
  }
  chunk.gaps[at] = {gap.begin, start};
  refresh(c);
  insert(c, at + 1, {end, gap.end});
}

}  // namespace strato
