// How the pieces of an all-gather or a reduce-scatter lie in the value that they make up: piece i is
// the units [cuts[i], cuts[i + 1]) of every run, so that it has gaps wherever there is more than one
// run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "app/worker/value_memory.h"
#include "core/graph/graph.h"
#include "core/program/rank_program.h"

namespace strato::worker {

class CutLayout {
 public:
  // `piece`: the form of one of the pieces, of samples or along an axis. `bytes`: of all together.
  CutLayout(const Tensor& tensor, const Piece& piece, std::span<const std::int32_t> cuts,
            std::size_t bytes);

  // Of records, which lie one after the other.
  CutLayout(std::span<const std::int32_t> cuts, std::size_t bytes);

  std::size_t count() const { return cuts_.size() - 1; }
  std::size_t bytes(std::size_t piece) const;
  // The piece where it lies in `whole`; only when contiguous().
  std::span<std::byte> part(std::span<std::byte> whole, std::size_t piece) const;
  bool contiguous() const { return runs_ == 1; }
  using Copy = std::function<void(const RowCopy&)>;
  void take(std::span<const std::byte> whole, std::size_t piece, std::span<std::byte> out,
            const Copy& copy = copy_on_host) const;
  void put(std::span<const std::byte> in, std::size_t piece, std::span<std::byte> whole,
           const Copy& copy = copy_on_host) const;

 private:
  std::size_t offset(std::size_t piece) const;  // in the first run
  std::size_t pitch() const { return static_cast<std::size_t>(cuts_.back() - cuts_.front()) * unit_; }
  std::size_t width(std::size_t piece) const;  // bytes in one run

  std::span<const std::int32_t> cuts_;
  std::size_t runs_ = 1, unit_ = 0;  // unit: bytes of one sample, or of one element along the axis
};

// Of `slice` in a whole tensor: the middle one of three pieces.
class SliceLayout {
 public:
  SliceLayout(const Tensor& tensor, const Piece& slice);
  SliceLayout(const SliceLayout&) = delete;  // the layout looks at our cuts
  SliceLayout& operator=(const SliceLayout&) = delete;

  static constexpr std::size_t kMiddle = 1;
  const CutLayout& layout() const { return layout_; }
  std::int32_t extent() const { return cuts_.back(); }  // of the tensor along the slice's axis
  std::string take(std::string_view whole) const;
  void put(std::string_view slice, std::string& whole) const;

 private:
  std::array<std::int32_t, 4> cuts_;
  CutLayout layout_;
};

}  // namespace strato::worker
