// Shows which ops the policy of a planner attends to when it places an op.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/graph/value/graph.h"

namespace strato {

struct PlannerOptions;
struct Problem;

// The attention of one policy on one problem. Immutable; safe from several threads.
class Attention {
 public:
  virtual ~Attention() = default;
  // Returns each op's part of the attention when these ops are placed, the mean over what is placed
  // as one (co-located ops, among which a part is shared equally). Sums to 1; zeros for no op.
  virtual std::vector<double> of(std::span<const OpId> ops) const = 0;
};

// A planner is also an AttentionSource when it can tell (found by dynamic_cast). The library that
// it comes from has to outlive what it tells.
class AttentionSource {
 public:
  virtual ~AttentionSource() = default;
  // Returns the attention of the policy as a search with these options begins with it, before it
  // learns from the problem. Null: it has no attention. Throws InputError for options, and for
  // weights that are not there. Takes a while: one pass of the network over the graph.
  virtual std::shared_ptr<const Attention> attention(const Problem& problem,
                                                     const PlannerOptions& options) const = 0;
};

}  // namespace strato
