// Other groups by hand: strategy in, strategy with groups of its own out. Ops of a new group are
// decided as the group that its first op was in, except where it is said. Pure; throws InputError
// when there is nothing to do. Takes a while on large graphs: not for the GUI thread.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato {

struct Regrouping {
  const Problem& shown;  // in the strategy's groups
  const Problem&
      opened;  // in those that it was opened with: going back to them needs none of its own
  const Strategy& strategy;
  const std::vector<Nanos>& op_times;  // mean_op_times
};
using StrategyChange = std::function<Strategy(const Regrouping&)>;

// Two or more groups become one, decided as the first (the most expensive) of them.
Strategy merged(const Regrouping& from, std::span<const GroupId> groups);

// A group becomes one group a scope of its ops; a layer keeps its gradients and updates.
inline constexpr std::size_t kMostScopeGroups = 32;  // neighbours are bundled beyond
Strategy split_by_scopes(const Regrouping& from, GroupId group);

// The layers of the group before this op's become one group, those from it on another.
Strategy split_at(const Regrouping& from, OpId op);

// The ops leave their groups; those that were in one group become a group of their own.
Strategy with_ops_apart(const Regrouping& from, std::span<const OpId> ops);

// The forward op whose gradients and updates are kept with it where groups are made.
OpId layer_of(const Graph& graph, OpId op);

// The group is called so; empty: as its ops are. Takes no time.
Strategy renamed(const Regrouping& from, GroupId group, std::string_view name);

}  // namespace strato
