#include "app/worker/cut_layout.h"

#include <utility>

#include "core/base/error.h"
#include "core/program/value/program_task.h"

namespace strato::worker {
namespace {

std::size_t runs_of(const Tensor& tensor, const Part& part, const Part& whole, std::int64_t batch) {
  const int cut_axis = joined_axis(part, whole);
  const bool samples = cut_axis == kBatchAxis;
  CHECK(part != whole && (!samples || tensor.batch.kind == BatchKind::Batched),
        "tensor " + tensor.name + " is not made of pieces");
  const int axis = samples ? tensor.batch.axis : cut_axis;
  std::int64_t runs = samples ? tensor.batch.blocks : 1;
  const Shape shape = shape_of(tensor, part, batch);
  for (int before = 0; before < axis; ++before) runs *= shape[static_cast<std::size_t>(before)];
  return static_cast<std::size_t>(runs);
}

}  // namespace

CutLayout::CutLayout(const Graph& graph, const Value& piece, const Value& whole,
                     std::span<const std::int32_t> cuts, std::size_t bytes)
    : cuts_(cuts),
      runs_(runs_of(graph.tensor(piece.tensor), piece.part.summed_up(), whole.part.summed_up(),
                    graph.batch())) {
  const Tensor& tensor = graph.tensor(piece.tensor);
  const auto units = static_cast<std::size_t>(cuts.back() - cuts.front());
  CHECK(runs_ * units != 0 && bytes % (runs_ * units) == 0,
        "tensor " + tensor.name + " is not divided evenly");
  unit_ = bytes / (runs_ * units);
}

CutLayout::CutLayout(std::span<const std::int32_t> cuts, std::size_t bytes) : cuts_(cuts) {
  const auto records = static_cast<std::size_t>(cuts.back() - cuts.front());
  CHECK(records != 0 && bytes % records == 0, "records of different sizes");
  unit_ = bytes / records;
}

std::size_t CutLayout::width(std::size_t piece) const {
  return static_cast<std::size_t>(cuts_[piece + 1] - cuts_[piece]) * unit_;
}

std::size_t CutLayout::bytes(std::size_t piece) const { return runs_ * width(piece); }

std::size_t CutLayout::offset(std::size_t piece) const {
  return static_cast<std::size_t>(cuts_[piece] - cuts_.front()) * unit_;
}

std::span<std::byte> CutLayout::part(std::span<std::byte> whole, std::size_t piece) const {
  CHECK(contiguous(), "the piece has gaps");
  return whole.subspan(offset(piece), width(piece));
}

void CutLayout::take(std::span<const std::byte> whole, std::size_t piece, std::span<std::byte> out,
                     const Copy& copy) const {
  const std::size_t size = width(piece);
  CHECK(out.size() == runs_ * size, "a piece has another size than its value");
  copy({out.data(), size, whole.data() + offset(piece), pitch(), size, runs_});
}

void CutLayout::put(std::span<const std::byte> in, std::size_t piece, std::span<std::byte> whole,
                    const Copy& copy) const {
  const std::size_t size = width(piece);
  CHECK(in.size() == runs_ * size, "a piece has another size than its value");
  copy({whole.data() + offset(piece), pitch(), in.data(), size, size, runs_});
}

// The rows of a block have the innermost range that is cut; the range cut before it, and the axes
// between, count them.
SliceLayout::SliceLayout(const Tensor& tensor, const Part& slice) {
  const auto ranges = slice.cuts();
  CHECK(slice.is_slice(), "tensor " + tensor.name + " is not made of slices");
  const auto inner = static_cast<std::size_t>(ranges.back().axis);
  const auto outer =
      ranges.size() > 1 ? static_cast<std::size_t>(ranges[ranges.size() - 2].axis) : 0;
  whole_ = static_cast<std::size_t>(tensor.bytes().value);
  std::size_t stride = whole_;  // bytes of one index of the axis before
  blocks_ = {0};
  for (std::size_t axis = 0; axis <= inner; ++axis) {
    const auto extent = static_cast<std::int32_t>(tensor.shape[axis]);
    CHECK(extent > 0 && stride % static_cast<std::size_t>(extent) == 0, "a slice of nothing");
    stride /= static_cast<std::size_t>(extent);
    AxisRange each{static_cast<std::int8_t>(axis), 0, extent};
    for (const AxisRange& range : ranges)
      if (range.axis == each.axis) each = range;
    const auto count = static_cast<std::size_t>(each.end - each.begin);
    if (axis == inner) {
      pitch_ = stride * static_cast<std::size_t>(extent);
      width_ = stride * count;
    } else if (axis >= outer) {
      rows_ *= count;
    }
    std::vector<std::size_t> begins;
    const std::size_t apart = axis < outer ? count : 1;
    for (const std::size_t block : blocks_)
      for (std::size_t i = 0; i < apart; ++i)
        begins.push_back(block + stride * (static_cast<std::size_t>(each.begin) + i));
    blocks_ = std::move(begins);
  }
}

std::span<std::byte> SliceLayout::part(std::span<std::byte> whole) const {
  CHECK(contiguous(), "the slice has gaps");
  return whole.subspan(blocks_.front(), width_);
}

void SliceLayout::take(std::span<const std::byte> whole, std::span<std::byte> out,
                       const CutLayout::Copy& copy) const {
  CHECK(whole.size() == whole_ && out.size() == bytes(), "a slice has another size than its value");
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    copy({out.data() + i * rows_ * width_, width_, whole.data() + blocks_[i], pitch_, width_,
          rows_});
}

void SliceLayout::put(std::span<const std::byte> in, std::span<std::byte> whole,
                      const CutLayout::Copy& copy) const {
  CHECK(whole.size() == whole_ && in.size() == bytes(), "a slice has another size than its value");
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    copy(
        {whole.data() + blocks_[i], pitch_, in.data() + i * rows_ * width_, width_, width_, rows_});
}

std::string SliceLayout::take(std::string_view whole) const {
  std::string slice(bytes(), '\0');
  take(std::as_bytes(std::span(whole)), std::as_writable_bytes(std::span(slice)));
  return slice;
}

void SliceLayout::put(std::string_view slice, std::string& whole) const {
  put(std::as_bytes(std::span(slice)), std::as_writable_bytes(std::span(whole)));
}

}  // namespace strato::worker
