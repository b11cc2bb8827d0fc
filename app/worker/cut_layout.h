// How the pieces of an all-gather or a reduce-scatter lie in the value that they make up: piece i
// is the units [cuts[i], cuts[i + 1]) of every run, so that it has gaps wherever there is more than
// one run. And how a slice lies in its tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/worker/value_memory.h"
#include "core/graph/value/graph.h"
#include "core/program/rank/rank_program.h"

namespace strato::worker {

class CutLayout {
 public:
  // `piece`: one of the pieces, which differ in their samples or along an axis. `whole`: all of
  // them, or what they are scattered from; `bytes`: its size.
  CutLayout(const Graph& graph, const Value& piece, const Value& whole,
            std::span<const std::int32_t> cuts, std::size_t bytes);

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
  std::size_t pitch() const {
    return static_cast<std::size_t>(cuts_.back() - cuts_.front()) * unit_;
  }
  std::size_t width(std::size_t piece) const;  // bytes in one run

  std::span<const std::int32_t> cuts_;
  std::size_t runs_ = 1, unit_ = 0;  // unit: bytes of one sample, or of one element along the axis
};

// Where a slice lies in its whole tensor: blocks of rows of one width, with gaps between. Along one
// axis it is one block.
class SliceLayout {
 public:
  SliceLayout(const Tensor& tensor, const Part& slice);

  std::size_t bytes() const { return blocks_.size() * rows_ * width_; }
  bool contiguous() const { return blocks_.size() == 1 && rows_ == 1; }
  // The slice where it lies in `whole`; only when contiguous().
  std::span<std::byte> part(std::span<std::byte> whole) const;
  void take(std::span<const std::byte> whole, std::span<std::byte> out,
            const CutLayout::Copy& copy = copy_on_host) const;
  void put(std::span<const std::byte> in, std::span<std::byte> whole,
           const CutLayout::Copy& copy = copy_on_host) const;
  std::string take(std::string_view whole) const;
  void put(std::string_view slice, std::string& whole) const;

 private:
  std::vector<std::size_t> blocks_;               // where each begins, in bytes
  std::size_t rows_ = 1, width_ = 0, pitch_ = 0;  // of a block; bytes
  std::size_t whole_ = 0;                         // bytes of the tensor
};

}  // namespace strato::worker
