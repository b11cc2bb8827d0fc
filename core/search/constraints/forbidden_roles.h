// Which ops have a role that a constraint forbids, and the strategy without it. Pure functions;
// safe from any thread.
//
// A stage of a pipeline is, as in core/program/lower/chunks.h, a set of devices that compute ops of
// the forward or backward pass together: in shares, in parts, or as copies. Only decisions are
// looked at: stages that wait for each other in both directions are one in the program, and several
// here.
#pragma once

#include <array>
#include <span>

#include "core/graph/group/grouping.h"
#include "core/search/constraints/constraints.h"

namespace strato {

using RoleMask = std::array<bool, kRoles.size()>;

// The first group in which one of the ops has the role; invalid: none has. Of a pipeline it is one
// that is in another stage than the ops before it. `ops` and `groups`: ascending, the ops and those
// groups of `grouping`, the complete strategy's, that hold them.
GroupId group_with(Role role, const Strategy& strategy, const Graph& graph,
                   const Grouping& grouping, std::span<const OpId> ops,
                   std::span<const GroupId> groups);

// Takes the role from the ops. Decisions stay: the columns of their rows are not taken. Of a
// pipeline, all of the strategy runs in one micro-batch.
void take_role(Role role, Strategy& strategy, const Graph& graph, const Grouping& grouping,
               std::span<const OpId> ops, std::span<const GroupId> groups);

}  // namespace strato
