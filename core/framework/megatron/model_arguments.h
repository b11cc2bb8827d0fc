// What Megatron-LM's arguments say about the model itself, read from its graph: as far as shapes,
// op types and names of the importer of Hugging Face's configurations tell it.
#pragma once

#include <string>
#include <vector>

#include "core/framework/layout/model_layers.h"
#include "core/framework/layout/read_layout.h"

namespace strato::frameworks {

struct ModelArguments {
  std::vector<Argument> arguments;
  std::vector<std::string> unknown;  // what the graph does not tell, a sentence each
};
ModelArguments model_arguments(const Graph& graph, const ModelLayers& layers);

}  // namespace strato::frameworks
