// Instances of a GPU (MIG) as devices: their share of its multiprocessors and memory, by NVIDIA's
// MIG User Guide.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/cluster/value/cluster.h"

namespace strato {

struct MigSlice {
  std::string profile;  // "3g.20gb", also with attributes: "1g.5gb+me"
  int compute = 0;      // slices of multiprocessors
  int gigabytes = 0;
};

// Of "3g.20gb"; nothing for what is none.
std::optional<MigSlice> mig_slice_from(std::string_view profile);

// The GPU's name with the profile, the profile's memory, of its peaks `compute` sevenths (A30:
// fourths) and of its memory bandwidth as many eighths (fourths) as it has of the memory. Nothing
// when the GPU has not so much.
std::optional<GpuType> type_of_slice(const GpuType& whole, const MigSlice& slice);

}  // namespace strato
