// The layers of a transformer, as frameworks count them: found by the numbers in the names of its
// ops ("model.layers.12.mlp.up_proj", "/encoder/layer.3/attention/MatMul").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/framework/layout/training_layout.h"
#include "core/graph/value/graph.h"

namespace strato::frameworks {

struct ModelLayers {
  // By op: 0 in front of the layers (embeddings), then 1 to `count`, then count + 1 behind them.
  // Gradients and updates are where their forward op is.
  std::vector<std::int32_t> place_of;
  std::int32_t count = 0;
  bool tied = false;  // what is behind the layers reads a parameter of what is in front
};

// Throws InputError where ops have no such numbers, or those of two stacks (encoder and decoder).
ModelLayers model_layers(const Graph& graph);

// All that layers compute but what each hands on, ascending: full recomputation of every layer, as
// Megatron-LM has it (Korthikanti et al. 2022, section 5).
std::vector<OpId> recomputed_layers(const Graph& graph, const ModelLayers& layers);

// So many blocks of whole layers, at least one each, as much work as the block's speed says: `work`
// is by op. There are as many layers as speeds at least.
std::vector<Block> balanced_blocks(const ModelLayers& layers, std::span<const Nanos> work,
                                   std::span<const double> speeds);

// The block of each op; these have all of the model's layers.
std::vector<std::int32_t> block_of_ops(const ModelLayers& layers, std::span<const Block> blocks);

}  // namespace strato::frameworks
