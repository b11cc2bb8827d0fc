// Gloo's connections between all ranks of a job, each verified; and groups and rings of ranks on
// them.
//
// Gloo knows no authentication: whoever connects to a port of it is taken for a peer. Therefore its
// ports are handed out on the admitted connections only, and both ends of every connection of
// Gloo's exchange the pair's token before anything else.
#pragma once

#include <gloo/context.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/plugin/api/rank_engine.h"
#include "plugins/transports/meeting/admission.h"

namespace strato::gloo_transport {

using admission::Roster;

// Names what Gloo's messages are told apart by, beside the tag. Gloo's own collectives have the
// numbers from 1 to 8 there.
enum class Lane : std::uint8_t { Transfer = 0xa1, Gather, Scatter, Text, Token, Swap };
inline std::uint64_t slot_of(Lane lane, std::uint32_t tag) {
  return std::uint64_t{static_cast<std::uint8_t>(lane)} << 56 | std::uint64_t{tag} << 8;
}

// Blocks until every pair of ranks is connected and has exchanged its token. Throws InputError
// naming a rank that is lost or presents another token.
std::shared_ptr<gloo::Context> connect_all(const Meeting& meeting, const Roster& roster);

// Returns a group of ranks for Gloo's collectives on the connections of all ranks: a context of
// Gloo's that renames the ranks, so that no group needs connections of its own. `members`:
// ascending, the rank of `all` among them.
std::shared_ptr<gloo::Context> make_group(const std::shared_ptr<gloo::Context>& all,
                                          const std::vector<int>& members);

// ---- element-wise sums, also for Gloo's own collectives

// to = a + b, for so many elements; `to` may be `a` or `b`. Halves are added as floats and rounded
// to the nearest, ties to even.
using SumFunction = std::function<void(void* to, const void* a, const void* b, std::size_t)>;

// Throws InputError for a type that nothing sums (Bool).
SumFunction sum_of(DataType type);

// ---- rings: all-gather and reduce-scatter
//
// Every member sends to its next one only, n - 1 times a piece, so that each link carries what the
// cost of a ring says, and all links do so at once. Direct messages between all of them move no
// less, and get into each other's way.

// A ring has the members of one collective, and what tells their messages apart.
struct Ring {
  gloo::Context& context;
  const std::vector<int>& members;  // ranks
  std::size_t own;                  // this rank's place among them
  std::uint64_t slot;               // the low 8 bits are free
  std::chrono::milliseconds timeout;
};

// Both block, and throw what Gloo throws. `pieces`: one a member, some may be empty.
void ring_all_gather(const Ring& ring, std::span<const std::span<std::byte>> pieces);
// Adds into the pieces: our own one is whole in the end, the others are in between. The order of
// the additions depends on the members alone: the same bits in every run.
void ring_reduce_scatter(const Ring& ring, std::span<const std::span<std::byte>> pieces,
                         const SumFunction& sum, std::size_t element_size);

// Every member sends every other one its piece, first the one after it. Blocks, and throws what
// Gloo throws. Pieces may be empty.
void swap_pairwise(const Ring& ring, std::span<const std::span<std::byte>> sent,
                   std::span<const std::span<std::byte>> received);

}  // namespace strato::gloo_transport
