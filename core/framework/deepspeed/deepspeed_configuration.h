// What DeepSpeed's configuration (ds_config.json) says about how a model is laid out over devices.
#pragma once

#include <string>

#include "core/framework/layout/read_layout.h"

namespace strato::frameworks {

// Is it such a one, by its names?
bool is_deepspeed(const GivenArguments& given);

// Of the program's own (PipelineModule's stages, experts of its layers, what it computes again)
// only what Training::program says, or what the exporter "deepspeed" has written under
// "stratoscope". Values of "auto" are not there. Throws InputError with the name, and what to write
// instead.
ReadLayout read_deepspeed(GivenArguments given, const Training& training);

// Of a name whose value is none, cpu or nvme. Throws for nvme.
bool rests_on_host(GivenArguments& given, const std::string& name);

}  // namespace strato::frameworks
