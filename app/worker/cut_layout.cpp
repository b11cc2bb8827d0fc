#include "app/worker/cut_layout.h"

#include "core/base/error.h"

namespace strato::worker {
namespace {

std::size_t runs_of(const Tensor& tensor, const Piece& piece) {
  const bool samples = piece.form == Piece::Form::Samples;
  CHECK(samples ? tensor.batch.kind == BatchKind::Batched : piece.form == Piece::Form::Slice,
        "tensor " + tensor.name + " is not made of pieces");
  const int axis = samples ? tensor.batch.axis : piece.axis;
  std::int64_t runs = samples ? tensor.batch.blocks : 1;
  for (int before = 0; before < axis; ++before)
    runs *= tensor.shape[static_cast<std::size_t>(before)];
  return static_cast<std::size_t>(runs);
}

}  // namespace

CutLayout::CutLayout(const Tensor& tensor, const Piece& piece, std::span<const std::int32_t> cuts,
                     std::size_t bytes)
    : cuts_(cuts), runs_(runs_of(tensor, piece)) {
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

void CutLayout::take(std::span<const std::byte> whole, std::size_t piece,
                     std::span<std::byte> out, const Copy& copy) const {
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

SliceLayout::SliceLayout(const Tensor& tensor, const Piece& slice)
    : cuts_{0, slice.begin, slice.end,
            static_cast<std::int32_t>(tensor.shape[static_cast<std::size_t>(slice.axis)])},
      layout_(tensor, slice, cuts_, static_cast<std::size_t>(tensor.bytes().value)) {}

std::string SliceLayout::take(std::string_view whole) const {
  std::string slice(layout_.bytes(1), '\0');
  layout_.take(std::as_bytes(std::span(whole)), 1, std::as_writable_bytes(std::span(slice)));
  return slice;
}

void SliceLayout::put(std::string_view slice, std::string& whole) const {
  layout_.put(std::as_bytes(std::span(slice)), 1, std::as_writable_bytes(std::span(whole)));
}

}  // namespace strato::worker
