// Memory as a function of the batch size: the Standard Evaluation of Celeritas (4.2.1).
//
// Step one, rough: the model, or an op of it, is measured at several batch sizes small enough for
// one GPU; memory is linear in the batch, so a line through the measurements tells it at the batch
// size wanted. Step two, accurate: with these estimates a sequential placement on as few GPUs as
// possible is found (sequential_placement), the model runs a few steps at the full batch size under
// it, and what is measured then replaces the estimate (refine). Values, safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/cost/value/profile.h"

namespace strato {

struct MemoryPoint {
  std::int64_t batch = 1;
  Bytes bytes;
};

// Piecewise-linear in the batch size; rounds up.
class MemoryModel {
 public:
  // Step one: least squares, errors relative to what was measured, neither part negative (memory
  // does not shrink with the batch, and parameters take no less than nothing). Nothing with fewer
  // than two batch sizes: one does not tell parameters from activations.
  static std::optional<MemoryModel> rough(std::span<const MemoryPoint> small);

  // Step two: exact at the batch sizes of `large`, linear between them and from the greatest small
  // one; beyond the last it grows as the rough line does.
  MemoryModel refine(std::span<const MemoryPoint> large) const;

  Bytes at(std::int64_t batch) const;

  Bytes fixed() const;  // at no samples: parameters, gradients, optimizer state
  double bytes_per_sample() const { return line_.slope; }

  // Relative errors tell how good the model is: root mean square over the small batch sizes of the
  // line itself and with each left out in turn (0 with two sizes: nothing is left to tell it by),
  // and the greatest of the rough estimates at the large ones (0 before step two).
  struct Errors {
    double fit = 0, left_out = 0, rough_at_large = 0;
  };
  const Errors& errors() const { return errors_; }

  struct Line {  // in bytes, and bytes per sample
    double intercept = 0, slope = 0;
    double at(std::int64_t batch) const { return intercept + slope * static_cast<double>(batch); }
  };

 private:
  MemoryModel() = default;

  Line line_;
  std::int64_t greatest_small_ = 0;
  std::vector<MemoryPoint> large_;  // ascending by batch, unique, above greatest_small_
  Errors errors_;
};

// Fits the model to what a profile holds of one model on one GPU: batch sizes from `large_batch` on
// are step two's. Returns nothing with fewer than two smaller ones.
std::optional<MemoryModel> memory_model(const Profile& profile, std::string_view graph,
                                        std::string_view gpu, std::int64_t large_batch);

// Celeritas's simple placement for step two: each device is filled in the order of `sizes` (a
// topological order) before the next one; what fits nowhere goes where most is free (best effort:
// the run may then fail).
struct SequentialPlacement {
  std::vector<std::size_t> device;  // by index in `sizes`
  std::vector<Bytes> used;          // by device
  bool fits = true;
};
SequentialPlacement sequential_placement(std::span<const Bytes> sizes,
                                         std::span<const Bytes> capacity);

}  // namespace strato
