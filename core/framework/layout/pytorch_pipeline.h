// What frameworks say about stages that run by PyTorch's torch.distributed.pipelining: schedules by
// its names, and stages by the names of modules. All throw InputError, which blames the named
// value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/framework/layout/read_layout.h"

namespace strato::frameworks {

struct PytorchSchedule {
  std::string_view name;  // "Interleaved1F1B"
  PipelineSchedule schedule;
  std::int32_t chunks;  // of a stage where nothing else is said
};

// Its name there; empty: it has none.
std::string_view name_in_pytorch(PipelineSchedule schedule);

// By the value of this name, in any case and with underscores, 1F1B where there is none; of one
// stage it means nothing.
PytorchSchedule read_pytorch_schedule(TrainingLayout& layout, GivenArguments& given,
                                      const std::string& name);

// The layout's blocks, of a list for each: "tok_embeddings" or "embed_tokens", "layers.N", "norm",
// "output" or "lm_head", with whatever stands in front of these names.
void read_pytorch_modules(TrainingLayout& layout, const Training& training, GivenArguments& given,
                          const std::string& name);

// The chunks that the layout's blocks make of its stages, as many as the schedule takes.
void find_chunks(TrainingLayout& layout, const GivenArguments& given, const PytorchSchedule& known,
                 const std::string& blamed);

}  // namespace strato::frameworks
