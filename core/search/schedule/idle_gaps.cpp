#include "core/search/schedule/idle_gaps.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {

void IdleGaps::Chunk::refresh() {
  longest = {};
  for (std::size_t i = 0; i < count; ++i) longest = std::max(longest, gaps[i].end - gaps[i].begin);
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
    const Chunk& chunk = chunks_[c];
    if (chunk.longest < duration) continue;
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const Nanos start = std::max(ready, chunk.gaps[i].begin);
      if (start + duration <= chunk.gaps[i].end) return start;
    }
  }
  return end_;
}

void IdleGaps::insert(std::size_t c, std::size_t at, Gap gap) {
  if (chunks_.empty()) chunks_.emplace_back();
  if (c == chunks_.size()) {
    --c;
    at = chunks_[c].count;
  }
  if (chunks_[c].count == Chunk::kMost) {
    const std::size_t half = Chunk::kMost / 2;
    Chunk upper;
    std::copy(chunks_[c].gaps.begin() + half, chunks_[c].gaps.end(), upper.gaps.begin());
    upper.count = Chunk::kMost - half;
    upper.refresh();
    chunks_[c].count = half;
    chunks_[c].refresh();
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(c) + 1, upper);
    if (at > half) {
      ++c;
      at -= half;
    }
  }
  Chunk& chunk = chunks_[c];
  const auto first = chunk.gaps.begin() + static_cast<std::ptrdiff_t>(at);
  std::copy_backward(first, chunk.gaps.begin() + static_cast<std::ptrdiff_t>(chunk.count),
                     chunk.gaps.begin() + static_cast<std::ptrdiff_t>(chunk.count) + 1);
  *first = gap;
  ++chunk.count;
  chunk.longest = std::max(chunk.longest, gap.end - gap.begin);
}

void IdleGaps::erase(std::size_t c, std::size_t at) {
  Chunk& chunk = chunks_[c];
  const auto first = chunk.gaps.begin() + static_cast<std::ptrdiff_t>(at);
  std::copy(first + 1, chunk.gaps.begin() + static_cast<std::ptrdiff_t>(chunk.count), first);
  --chunk.count;
  chunk.refresh();
  if (chunk.count == 0) chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(c));
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
    return chunk.refresh();
  }
  chunk.gaps[at] = {gap.begin, start};
  chunk.refresh();
  insert(c, at + 1, {end, gap.end});
}

}  // namespace strato
