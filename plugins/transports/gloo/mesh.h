// Gloo's connections between all ranks of a job, each verified; and groups of ranks on them.
//
// Gloo knows no authentication: whoever connects to a port of it is taken for a peer. Therefore its
// ports are handed out on the admitted connections only, and both ends of every connection of
// Gloo's exchange the pair's token before anything else.
#pragma once

#include <gloo/context.h>

#include <memory>
#include <vector>

#include "core/plugin/api/rank_engine.h"
#include "plugins/transports/meeting/admission.h"

namespace strato::gloo_transport {

using admission::Roster;

// Names what Gloo's messages are told apart by, beside the tag. Gloo's own collectives have the
// numbers from 1 to 8 there.
enum class Lane : std::uint8_t { Transfer = 0xa1, Gather, Scatter, Text, Token };
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

}  // namespace strato::gloo_transport
