#include "core/strategy/value/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace strato {

Part Part::samples(std::int32_t begin, std::int32_t end) {
  return Part().cut({kBatchAxis, begin, end});
}

Part Part::partial_sum(std::int32_t begin, std::int32_t end) {
  Part part = samples(begin, end);
  part.partial_sum_ = true;
  return part;
}

Part Part::slice(int axis, std::int32_t begin, std::int32_t end) {
  return Part().cut({static_cast<std::int8_t>(axis), begin, end});
}

Part Part::cut(const AxisRange& range) const {
  Part part = *this;
  const auto end = part.ranges_.begin() + part.count_;
  const auto at =
      std::ranges::lower_bound(part.ranges_.begin(), end, range.axis, {}, &AxisRange::axis);
  if (at == end || at->axis != range.axis) {
    CHECK(part.count_ < part.ranges_.size(), "a part that is cut along too many axes");
    std::move_backward(at, end, end + 1);
    ++part.count_;
  }
  *at = range;
  return part;
}

Part Part::repeated(std::int32_t period, std::int32_t times) const {
  CHECK(count_ > 0 && ranges_[0].axis == kBatchAxis && ranges_[0].size() <= period && times > 0,
        "samples that overlap where they repeat");
  Part part = *this;
  part.period_ = times > 1 ? period : 0;
  part.times_ = times;
  return part;
}

Part Part::without(int axis) const {
  Part part = *this;
  const auto end = part.ranges_.begin() + part.count_;
  const auto at = std::ranges::find(part.ranges_.begin(), end, axis, &AxisRange::axis);
  if (at == end) return part;
  std::move(at + 1, end, at);
  part.ranges_[--part.count_] = AxisRange();
  if (axis == kBatchAxis) {
    part.partial_sum_ = false;
    part.period_ = 0;
    part.times_ = 1;
  }
  return part;
}

std::span<const AxisRange> Part::cuts() const {
  const std::size_t first = count_ > 0 && ranges_[0].axis == kBatchAxis ? 1 : 0;
  return ranges().subspan(first, count_ - first - (sums_letter() ? 1 : 0));
}

const AxisRange* Part::along(int axis) const {
  const auto known = ranges();
  const auto at = std::ranges::find(known, axis, &AxisRange::axis);
  return at == known.end() ? nullptr : &*at;
}

std::size_t PartHash::operator()(const Part& part) const {
  std::uint64_t hash = part.is_partial_sum();
  const auto mix = [&](std::int32_t value) {
    hash = (hash ^ static_cast<std::uint32_t>(value)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  for (const AxisRange& range : part.ranges()) mix(range.axis), mix(range.begin), mix(range.end);
  if (part.times() > 1) mix(part.period()), mix(part.times());
  return hash;
}

// Boxes meet unless they are apart along an axis.
bool overlap(const Part& a, const Part& b) {
  return std::ranges::none_of(a.ranges(), [&](const AxisRange& range) {
    const AxisRange* other = b.along(range.axis);
    return other && (range.end <= other->begin || other->end <= range.begin);
  });
}

std::optional<Part> common_part(const Part& a, const Part& b) {
  if (!overlap(a, b)) return std::nullopt;
  Part common = b;
  for (const AxisRange& range : a.ranges()) {
    const AxisRange* other = b.along(range.axis);
    common = common.cut(other ? AxisRange{range.axis, std::max(range.begin, other->begin),
                                          std::min(range.end, other->end)}
                              : range);
  }
  return common;
}

bool contains(const Part& outer, const Part& inner) {
  if (outer.is_partial_sum() || inner.is_partial_sum() || outer.times() > 1 || inner.times() > 1)
    return outer == inner;
  return std::ranges::all_of(outer.ranges(), [&](const AxisRange& range) {
    const AxisRange* other = inner.along(range.axis);
    return other && range.contains(*other);
  });
}

bool is_cut_from(const Part& part, const Part& whole) {
  if (!whole.is_partial_sum() || !part.is_partial_sum()) return contains(whole, part);
  const auto terms = [](const Part& of) {
    return std::pair(of.sums_letter() ? of.addend() : AxisRange(),
                     of.sums_samples() ? of.first() : AxisRange());
  };
  return terms(part) == terms(whole) && part.sums_letter() == whole.sums_letter() &&
         part.sums_samples() == whole.sums_samples() && part.period() == whole.period() &&
         part.times() == whole.times() && contains(whole.summed_up(), part.summed_up());
}

bool is_part_of(const Part& part, const Tensor& tensor, std::int64_t batch) {
  return std::ranges::all_of(part.ranges(), [&](const AxisRange& range) {
    const auto axis = static_cast<std::size_t>(static_cast<std::uint8_t>(range.axis));
    const bool samples = range.axis == kBatchAxis;
    const std::int64_t later = std::int64_t{part.period()} * (part.times() - 1);
    if (range.axis >= kSummedAxis) return range.begin >= 0 && range.begin < range.end;
    return (samples || (range.axis >= 0 && axis < tensor.shape.size())) && range.begin >= 0 &&
           range.begin < range.end && range.end <= (samples ? batch - later : tensor.shape[axis]);
  });
}

// A partial sum has the shape of the total.
Shape shape_of(const Tensor& tensor, const Part& part, std::int64_t batch) {
  Shape shape = tensor.shape;
  const AxisRange* samples = part.along(kBatchAxis);
  if (samples && !part.sums_samples() && tensor.batch.kind == BatchKind::Batched) {
    std::int64_t& extent = shape[static_cast<std::size_t>(tensor.batch.axis)];
    extent = extent / batch * samples->size();
  }
  for (const AxisRange& range : part.cuts())
    shape[static_cast<std::size_t>(range.axis)] = range.size();
  return shape;
}

std::int64_t elements_of(const Tensor& tensor, const Part& part, std::int64_t batch) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape_of(tensor, part, batch)) elements *= extent;
  return elements;
}

Bytes bytes_of(const Tensor& tensor, const Part& part, std::int64_t batch) {
  return Bytes(elements_of(tensor, part, batch) * size_of(tensor.type));
}

std::string describe(std::span<const AxisRange> ranges) {
  std::string axes, extents;
  for (const AxisRange& range : ranges) {
    axes += fmt::format("{}{}", axes.empty() ? "" : ",", range.axis);
    extents += fmt::format("{}[{},{})", extents.empty() ? "" : "x", range.begin, range.end);
  }
  return fmt::format("{} {} {}", ranges.size() == 1 ? "axis" : "axes", axes, extents);
}

std::string describe(const Part& part) {
  if (part.is_whole()) return "whole";
  std::string text;
  if (const AxisRange* samples = part.along(kBatchAxis))
    text = fmt::format("{}samples [{},{})", part.sums_samples() ? "the sum over " : "",
                       samples->begin, samples->end);
  if (part.times() > 1) text += fmt::format(" of every {}", part.period());
  if (part.sums_letter())
    text = fmt::format("the sum over [{},{}) of {}", part.addend().begin, part.addend().end,
                       text.empty() ? "the whole" : text);
  if (part.cuts().empty()) return text;
  return text + (text.empty() ? "" : " of ") + describe(part.cuts());
}

}  // namespace strato
