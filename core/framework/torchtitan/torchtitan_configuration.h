// What torchtitan's configuration says about how a model is laid out over devices: its TOML files
// (2024 to February 2026, under all names that values have had), and overrides of a command line.
#pragma once

#include "core/framework/layout/read_layout.h"

namespace strato::frameworks {

// Is it such a one, by its names?
bool is_torchtitan(const GivenArguments& given);

// Throws InputError with the name, and what to write instead.
ReadLayout read_torchtitan(GivenArguments given, const Training& training);

// How torchtitan itself divides layers into parts: as if the first and the last had so many more.
// Nothing where it refuses to.
std::vector<Block> torchtitan_blocks(std::int32_t layers, std::int32_t parts, std::int32_t first,
                                     std::int32_t last);

}  // namespace strato::frameworks
