// Which ops leave what they make, or keep, in the memory of their host (Strategy::offloaded). Pure
// functions; safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/cluster/value/cluster.h"
#include "core/graph/value/graph.h"

namespace strato {

enum class Offload : std::uint8_t {
  None,
  States,       // of updates: their optimizer state (Ren et al. 2021, "ZeRO-Offload", section 3)
  Activations,  // of the forward pass: what waits for the backward pass (Rhu et al. 2016, "vDNN:
                // virtualized deep neural networks", section 3)
  All,
};
inline constexpr std::array<std::string_view, 4> kOffload = {"none", "states", "activations",
                                                             "all"};
inline std::string_view name_of(Offload which) { return kOffload[static_cast<std::size_t>(which)]; }
std::optional<Offload> offload_from(std::string_view name);

// Does the op make something in the forward pass that the backward pass reads, no sum over the
// batch among it (which would be added up on the host)? Or does it update a parameter by a state?
bool may_offload(const Graph& graph, OpId op);

// Ascending. Activations: of all ops that may be, but for what is read again at once, since the
// backward pass begins with it.
std::vector<OpId> offloaded_ops(const Graph& graph, Offload which);

// Those that are not computed again, too; both ascending.
std::vector<OpId> kept_ones(const std::vector<OpId>& offloaded,
                            const std::vector<OpId>& recomputed);

// Has every device a way to the memory of a host?
bool has_host_memory(const Cluster& cluster);
// And is it not so large that a strategy that keeps something there takes minutes to evaluate?
bool may_try_hosts(const Cluster& cluster);

}  // namespace strato
