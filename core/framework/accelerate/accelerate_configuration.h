// What a configuration of Hugging Face's Accelerate ("accelerate launch --config_file") says about
// how a model is laid out over devices.
#pragma once

#include "core/framework/layout/read_layout.h"

namespace strato::frameworks {

// Is it such a one, by its names?
bool is_accelerate(const GivenArguments& given);

// It says nothing of the batch: micro-batches have as many samples as Training::program says, or
// there is one. Throws InputError with the name, and what to write instead.
ReadLayout read_accelerate(GivenArguments given, const Training& training);

}  // namespace strato::frameworks
