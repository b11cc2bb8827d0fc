#include "core/program/place/synced_variables.h"

namespace strato {

void SyncedVariables::clear() {
  variables_.clear();
  reduced_.clear();
  has_stale_ = false;
}

void SyncedVariables::add(const VariableSync& variable) {
  has_stale_ = has_stale_ || variable.staleness > 0;
  // The whole of it is all-reduced, on its own or in the strategy's buckets.
  const bool is_all_reduced = variable.parts.size() == 1 && variable.parts[0] == SyncPart();
  if (is_all_reduced)
    reduced_.push_back(variable.update);
  else
    variables_.push_back(variable);
}

const VariableSync* SyncedVariables::find(OpId update) const {
  const auto at = std::ranges::lower_bound(variables_, update, {}, &VariableSync::update);
  return at != variables_.end() && at->update == update ? &*at : nullptr;
}

}  // namespace strato
