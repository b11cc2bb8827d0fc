// People and programs spell one GPU's name differently; all spellings get one key: "NVIDIA
// A100-SXM4-80GB" (nvidia-smi), "a100_80gb" and "tesla_v100-sxm2-32gb" (Slurm), "A100 80G". Private
// to this folder.
#pragma once

#include <string>
#include <string_view>

#include "core/cluster/value/cluster.h"

namespace strato {

// The name's words and numbers in an order of their own, without the maker's: equal for spellings
// that differ in case, hyphens, spaces, order, "GB" or "G", and a leading "NVIDIA Tesla".
std::string gpu_key(std::string_view name);

// Finds a type by a name or alias as it is written, in any case; null when there is none.
const GpuType* find_as_written(const std::vector<GpuType>& gpus, std::string_view name);

}  // namespace strato
