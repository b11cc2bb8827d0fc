// One Markov chain over strategies: Metropolis sampling (Jia et al. 2018, section 6.2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/search/api/evaluator.h"
#include "core/search/api/problem.h"

namespace strato::mcmc {

// The cost of a strategy: its step time over data parallelism's; what does not fit in memory costs
// more than anything that does, the more the more bytes are missing.
class CostScale {
 public:
  CostScale(const Cluster& cluster, Nanos data_parallel);
  double cost(const Score& score) const;

 private:
  double time_ = 1, memory_ = 1;
};

class Chain {
 public:
  // `start` is complete; its groups are what the chain decides. `groups`: those that it speaks of.
  Chain(Strategy start, const Score& score, const CostScale& scale, const Grouping& groups,
        std::span<const Decision> actions, double beta, std::uint64_t seed);

  // Makes at least one, at most `most` proposals, each a random group under a random configuration.
  // All start from where the chain is, as if those before were rejected: while acceptances are rare
  // they can be evaluated side by side. Empty: there is no other configuration.
  std::vector<Strategy> propose(std::size_t most);
  // Takes the first proposal that is accepted and forgets those behind it. True when the chain's
  // best improved.
  bool accept(std::span<const Score> scores);

  const Strategy& at() const { return at_; }
  const Strategy& best() const { return best_; }
  const Score& best_score() const { return best_score_; }
  double best_cost() const { return best_cost_; }
  std::int64_t steps() const { return steps_; }
  std::int64_t acceptances() const { return acceptances_; }
  // Half of its steps, and as many as a strategy has neighbours, brought no improvement.
  bool is_stuck() const;

 private:
  bool passes(double cost);

  Strategy at_, best_;
  Score best_score_;
  double cost_, best_cost_;
  const CostScale& scale_;
  std::span<const Decision> actions_;
  std::vector<char> has_parameters_;  // by group
  std::vector<GroupId> changeable_;   // have another configuration
  double beta_;
  Random random_;
  std::size_t ahead_ = 1;  // proposals of the next round
  std::vector<Strategy> proposals_;
  std::int64_t steps_ = 0, improved_at_ = 0, acceptances_ = 0;
};

}  // namespace strato::mcmc
