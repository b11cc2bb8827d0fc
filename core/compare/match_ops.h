// Matches ops of one graph to those of another one: a model that was changed, exported again or
// planned with another batch. Ops of one name are the same op, whatever became of it; of those that
// are left, ops with the same fingerprint (type, phase, attributes, shapes) are the same, in the
// graph's order, where both graphs have as many of them. A value; safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "core/graph/value/graph.h"

namespace strato {

struct OpMatch {
  bool same_graph = false;          // by digest: every op is itself
  IdVector<OpId, OpId> to_of_from;  // invalid: the other graph has none
  IdVector<OpId, OpId> from_of_to;
  std::size_t same = 0;                  // name and fingerprint
  std::size_t changed = 0;               // name alone: other shapes or attributes
  std::size_t renamed = 0;               // fingerprint alone
  std::vector<OpId> only_from, only_to;  // ascending
};
OpMatch match_ops(const Graph& from, const Graph& to);

// "412 ops are the same, 3 changed, 2 renamed, 5 only in the first, 1 only in the second"
std::string text_of(const OpMatch& match);

}  // namespace strato
