// The layers of a model, and where a person would put them: the human-expert placements that GDP
// (section 4.1) and Baechi (section 5) measure themselves against.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/search/api/problem.h"

namespace strato {

// Forward ops that read the same parameter, the parameterless ops behind them, and the gradients
// and updates of all these.
struct Layers {
  std::vector<std::int32_t> of_op;  // layer by op, numbered by their first forward ops
  std::int32_t count = 0;
};
Layers layers_of(const Graph& graph);

// True when most of the work is recurrent: LSTM and its like, or weights that many steps share.
bool is_recurrent(const Problem& problem);

// The devices to use for a model in parts: all, or where there are fewer parts than devices the
// fastest, by graph_times(); ascending.
std::vector<DeviceId> devices_for(const Cluster& cluster, const IdVector<GpuTypeId, Nanos>& times,
                                  std::size_t parts);

// The block of each op: consecutive layers, as much work as the block's speed says, cut where few
// bytes cross. Every block gets a layer; there are at least as many layers as speeds.
std::vector<std::int32_t> layer_blocks(const Problem& problem, std::span<const double> speeds);

// The device of each op. Recurrent models: layer after layer goes to the next device, round robin;
// embeddings are layers of their own, and so are attention and softmax behind a stack of layers.
// Others: the devices, in order, get consecutive layers, as much work as their speed says, cut
// where few bytes cross. Devices are in ascending order; where layers are fewer, the fastest.
std::vector<DeviceId> expert_devices(const Problem& problem);

}  // namespace strato
