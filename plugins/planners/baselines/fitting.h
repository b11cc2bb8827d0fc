// Strategies that fit in memory by computing more of the forward pass again
// (core/program/value/recompute.h), and by keeping things on hosts (core/program/value/offload.h).
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/search/api/planner.h"

namespace strato {

// As Recompute has it; each layer of a transformer (frameworks::recomputed_layers()); or as much as
// is needed: nothing; where that does not fit, what is cheap; where that does not, blocks.
enum class Recomputing : std::uint8_t { None, Cheap, Blocks, Layers, WhenNeeded };
inline constexpr std::array<std::string_view, 5> kRecomputing = {
    kRecompute[0], kRecompute[1], kRecompute[2], "layers", "when-needed"};
// `in_flight`: passes under way on a device, at most. Not WhenNeeded. Throws InputError for Layers
// of a model that has none.
std::vector<OpId> recomputed_ops(const Graph& graph, Recomputing how, std::int64_t in_flight);

// As Offload has it, or as much as is needed: where nothing fits, however much is computed again,
// states, then activations, then both.
enum class Offloading : std::uint8_t { None, States, Activations, All, WhenNeeded };
inline constexpr std::array<std::string_view, 5> kOffloading = {
    kOffload[0], kOffload[1], kOffload[2], kOffload[3], "when-needed"};
// What is tried, one after the other until something fits. When needed: on clusters where every
// device reaches the memory of a host, which are not so large that each try takes minutes.
std::vector<Offload> rounds_of(Offloading how, const Cluster& cluster);

struct Tried {
  std::vector<Strategy> strategies;
  std::vector<Score> scores;  // one each
};
// Evaluates these strategies, which compute nothing again, with recomputation, and with this on
// hosts of what is not computed again. `in_flight`: as recomputed_ops() has it.
Tried try_recomputing(const PlanRequest& request, const std::vector<Strategy>& strategies,
                      Recomputing how, Offload offload, std::int64_t in_flight);

}  // namespace strato
