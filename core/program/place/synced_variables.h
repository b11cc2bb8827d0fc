// The variables that are synchronised otherwise than their groups say (AutoDist 2.2): updates of
// replicated groups whose variable has an entry of its own and a gradient that their replicas have
// summed up in parts, which nobody else reads. Elsewhere an entry changes nothing.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/strategy/value/variable_sync.h"

namespace strato {

class SyncedVariables {
 public:
  void clear();
  void add(const VariableSync& variable);  // ascending

  bool empty() const { return variables_.empty() && reduced_.empty(); }
  std::span<const VariableSync> all() const { return variables_; }
  const VariableSync* find(OpId update) const;  // null: none
  // An entry that says no more than that the whole gradient is all-reduced is none of these.
  bool is_reduced(OpId update) const {
    return !reduced_.empty() && std::binary_search(reduced_.begin(), reduced_.end(), update);
  }
  // Is the parameter read as it was when the step began, and overwritten at any time?
  bool is_stale(OpId update) const {
    if (!has_stale_) return false;
    const VariableSync* variable = find(update);
    return variable && variable->staleness > 0;
  }

 private:
  std::vector<VariableSync> variables_;
  std::vector<OpId> reduced_;
  bool has_stale_ = false;  // among variables_
};

}  // namespace strato
