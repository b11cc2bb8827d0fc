// A part of a tensor, or of an op's index space: a box. It is given by a range for each axis that
// it does not have all of; the batch is an axis like any other, counted in samples. A partial sum
// is a sum over just its samples of the batch, or over just some indices of a letter that the op
// sums over (core/graph/axes/letter_splits.h); such parts add up to the total. The samples may
// repeat: those of a device that computes a part of each micro-batch.
//
// A part does not know how long axes are: whoever makes one leaves out ranges that are all of
// their axis, so that equal parts are equal values. Immutable in use; free to copy between threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/graph/value/graph.h"

namespace strato {

constexpr std::int8_t kBatchAxis = -1;
// From here on an axis stands for a letter that the op which makes the tensor sums over: that of
// letter_splits()[axis - kSummedAxis]. A range of it is of that letter's indices.
constexpr std::int8_t kSummedAxis = 64;

// The indices [begin, end) of an axis of a tensor; of kBatchAxis: the samples.
struct AxisRange {
  std::int8_t axis = kBatchAxis;
  std::int32_t begin = 0, end = 0;
  std::int32_t size() const { return end - begin; }
  bool contains(const AxisRange& other) const {  // both are of one axis
    return begin <= other.begin && other.end <= end;
  }
  friend auto operator<=>(const AxisRange&, const AxisRange&) = default;
};
constexpr std::size_t kMostCutAxes = 4;  // of one variable, beside the batch

class Part {
 public:
  Part() = default;  // all of it
  static Part samples(std::int32_t begin, std::int32_t end);
  static Part partial_sum(std::int32_t begin, std::int32_t end);  // over these samples
  static Part slice(int axis, std::int32_t begin, std::int32_t end);
  // The part of this one that has just this range of an axis, in place of what it has of it.
  Part cut(const AxisRange& range) const;
  // The part with the samples of this one, and those that follow them by `period` samples, by twice
  // that, ...: `times` in all.
  Part repeated(std::int32_t period, std::int32_t times) const;
  // The part with all of an axis.
  Part without(int axis) const;
  // The sum that partial sums like this one add up to: of all indices of the summed letter, where
  // it sums over one, which may be a partial sum over samples itself; else of all samples.
  Part total() const { return is_partial_sum() ? without(addend().axis) : *this; }
  // The total of the letter and of the samples, where it sums over both.
  Part summed_up() const { return is_partial_sum() ? total().summed_up() : *this; }
  // The range that tells such partial sums apart.
  AxisRange addend() const { return sums_letter() ? ranges_[count_ - 1u] : ranges_[0]; }

  bool is_whole() const { return count_ == 0; }
  bool is_partial_sum() const { return partial_sum_ || sums_letter(); }
  bool sums_samples() const { return partial_sum_; }
  // Is an op divided otherwise than by its samples?
  bool is_divided() const { return !cuts().empty() || sums_letter(); }
  bool sums_letter() const { return count_ > 0 && ranges_[count_ - 1u].axis >= kSummedAxis; }
  bool is_slice() const {  // of every sample
    return count_ > 0 && ranges_[0].axis != kBatchAxis && ranges_[0].axis < kSummedAxis;
  }
  // Just some samples of the batch, with all of every other axis.
  bool is_samples() const { return count_ == 1 && !is_slice() && !is_partial_sum(); }
  // The samples, where it has not all of them; else the range of the first axis. Of the whole: of
  // the batch, and empty.
  AxisRange first() const { return ranges_[0]; }
  std::int32_t period() const { return period_; }  // 0: its samples do not repeat
  std::int32_t times() const { return times_; }
  // Ascending by axis, the batch first.
  std::span<const AxisRange> ranges() const { return {ranges_.data(), count_}; }
  // The same without the batch and the letter that it sums over: the slice that it is.
  std::span<const AxisRange> cuts() const;
  const AxisRange* along(int axis) const;  // null: all of the axis

  friend bool operator==(const Part&, const Part&) = default;

 private:
  std::array<AxisRange, 2 + kMostCutAxes> ranges_{};  // those beyond count_ are as they were made
  std::uint8_t count_ = 0;
  bool partial_sum_ = false;
  std::int32_t period_ = 0, times_ = 1;
};

struct PartHash {
  std::size_t operator()(const Part& part) const;
};

// Have they elements in common? Both are of one tensor; partial sums of other samples have none.
bool overlap(const Part& a, const Part& b);
// Has the outer part all elements of the inner one? A partial sum is in none but itself.
bool contains(const Part& outer, const Part& inner);
// The elements that they have in common; nothing: none. Of a sum what the second one says of it.
std::optional<Part> common_part(const Part& a, const Part& b);
// Can the part be cut out of what holds the other one? Partial sums come from the same samples'.
bool is_cut_from(const Part& part, const Part& whole);
// Do the ranges lie within a tensor of a graph with this batch, and is none of them empty?
bool is_part_of(const Part& part, const Tensor& tensor, std::int64_t batch);

// The shape of a part of a tensor of a graph with this batch, and what it takes without padding.
Shape shape_of(const Tensor& tensor, const Part& part, std::int64_t batch);
std::int64_t elements_of(const Tensor& tensor, const Part& part, std::int64_t batch);
Bytes bytes_of(const Tensor& tensor, const Part& part, std::int64_t batch);

// "axis 1 [0,32)", "axes 0,1 [0,4)x[8,16)"
std::string describe(std::span<const AxisRange> ranges);
// "whole", "samples [0,8)", "the sum over samples [0,8) of axis 1 [0,32)"
std::string describe(const Part& part);

}  // namespace strato
