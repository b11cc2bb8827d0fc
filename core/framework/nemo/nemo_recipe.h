// What a recipe of NVIDIA's NeMo Automodel (YAML) says about how a model is laid out over devices.
#pragma once

#include "core/framework/layout/read_layout.h"

namespace strato::frameworks {

// Is it such a one, by its names?
bool is_nemo(const GivenArguments& given);

// Throws InputError with the name, and what to write instead.
ReadLayout read_nemo(GivenArguments given, const Training& training);

}  // namespace strato::frameworks
