// The model that Megatron-LM's arguments describe, as a configuration in Hugging Face's words: what
// pretrain_gpt.py would build. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/framework/given/given_arguments.h"

namespace strato::frameworks {

struct DescribedModel {
  std::string name;                  // "llama-70.6B": its family and its parameters
  std::string config;                // the text of a config.json
  std::vector<std::string> remarks;  // what was assumed, a sentence each
};

// Does it say the layers of a model?
bool describes_layers(GivenArguments& given);

// Marks what it reads. Throws InputError with the argument, and what to write instead, for what is
// missing or no number, and for models that no configuration here describes.
DescribedModel described_model(GivenArguments& given);

// A dense model of the Llama 3 family, which torchtitan knows by its size ("8B", "70B", "405B").
// Nothing: there is no such size.
std::optional<DescribedModel> llama_of_size(const std::string& size);

}  // namespace strato::frameworks
