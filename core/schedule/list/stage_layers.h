// Where the chunks of a pipeline begin among the layers of its model, and the same with one of them
// beginning elsewhere. Pure; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/program/stages/stage_plan.h"
#include "core/schedule/dag/layers.h"
#include "core/search/api/problem.h"

namespace strato {

struct StageLayers {
  Layers layers;
  std::vector<std::int32_t> begins;  // by chunk its first layer; behind them the number of layers
  std::vector<Nanos> work;           // by layer, of a whole step
  std::vector<std::string> names;    // by layer: its first op

  std::size_t chunk_count() const { return begins.size() - 1; }
  std::int32_t layers_of_chunk(std::size_t chunk) const {
    return begins[chunk + 1] - begins[chunk];
  }
  // Each chunk keeps a layer: where this one, which is not the first, can begin.
  std::int32_t earliest(std::size_t chunk) const { return begins[chunk - 1] + 1; }
  std::int32_t latest(std::size_t chunk) const { return begins[chunk + 1] - 1; }
};

// `problem`: in the groups of the strategy that the plan is of. Throws InputError where chunks do
// not follow each other along the layers.
StageLayers stage_layers(const Problem& problem, const StagePlan& plan);

// The strategy with the chunk, not the first, beginning at this layer: layers that come to another
// chunk are decided as their new neighbour is. `shown`: the problem in the strategy's groups; other
// groups are made of those of `opened`. Throws InputError where a chunk would have no layer.
Strategy with_chunk_at(const Problem& opened, const Problem& shown, const Strategy& strategy,
                       const StageLayers& stages, std::size_t chunk, std::int32_t layer);

}  // namespace strato
