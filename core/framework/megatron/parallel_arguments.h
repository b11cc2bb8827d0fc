// What Megatron-LM's arguments say about how a model is laid out over devices, written and read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/framework/given/script_words.h"
#include "core/framework/layout/training_layout.h"
#include "core/framework/megatron/model_arguments.h"

namespace strato::frameworks {

struct ParallelArguments {
  std::vector<Argument> arguments;
  std::vector<std::string> unsaid;  // what they cannot say of the layout, a sentence each
};
ParallelArguments parallel_arguments(const TrainingLayout& layout, bool has_experts);

// Throws InputError with the argument, and what to write instead: for what is missing, given twice,
// no number, or does not go with the rest or the training; and for arguments that change what is
// computed where, and are not known here.
ReadLayout read_layout(const std::vector<ScriptWord>& words, const Training& training,
                       const std::string& file);

}  // namespace strato::frameworks
