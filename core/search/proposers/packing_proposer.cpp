#include "core/search/proposers/packing_proposer.h"

#include <span>
#include <utility>

#include "core/search/local/memory_estimate.h"
#include "core/search/proposers/tree_proposer.h"

namespace strato {

Proposal PackingProposer::propose(const Turn&) {
  if (packed_ || !incumbent_.exists() || incumbent_.score().feasible) return {};
  packed_ = true;
  const auto free = std::span(table_.actions()).first(table_.free_action_count());
  packings_ = MemoryEstimate(problem_).packings(free);
  Proposal proposal;
  for (ActionVector& packing : packings_) {
    packing = table_.with_pins(std::move(packing));
    proposal.strategies.push_back(finishing_.seen_by_tree(packing));
  }
  return proposal;
}

void PackingProposer::accept(std::span<const Score> scores) {
  for (std::size_t i = 0; i < packings_.size(); ++i)
    consider(tree_, finishing_, packings_[i], scores[i], incumbent_);
}

}  // namespace strato
