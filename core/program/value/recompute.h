// Which ops of the forward pass the backward pass computes again, so that what they make needs no
// memory in between (Strategy::recomputed). Pure functions; safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/graph/value/graph.h"

namespace strato {

enum class Recompute : std::uint8_t {
  None,
  Cheap,   // of what Blocks has what is bound by memory: not products, convolutions and recurrent
           // layers (selective recomputation: Korthikanti et al. 2022, "Reducing Activation
           // Recomputation in Large Transformer Models", section 5, has the ops of attention)
  Blocks,  // all but embeddings and what stands between blocks of the model (Chen et al. 2016,
           // "Training deep nets with sublinear memory cost", section 4)
};
inline constexpr std::array<std::string_view, 3> kRecompute = {"none", "cheap", "blocks"};
inline std::string_view name_of(Recompute which) {
  return kRecompute[static_cast<std::size_t>(which)];
}
std::optional<Recompute> recompute_from(std::string_view name);

// Can the op be computed a second time? It is of the forward pass, makes no sum over the batch
// (which would be added up twice) and no loss, and nothing that outlives the step.
bool may_recompute(const Graph& graph, OpId op);

// Ascending. Of None: none. Blocks are cut where least has to be kept, into as many as make what is
// kept between them, `in_flight` times (micro-batches that wait for their backward pass), and what
// is made within the largest of them least, together. With one in flight the last block is kept,
// since the backward pass begins with it.
std::vector<OpId> recomputed_ops(const Graph& graph, Recompute which, std::int64_t in_flight = 1);

}  // namespace strato
