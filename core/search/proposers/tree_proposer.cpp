#include "core/search/proposers/tree_proposer.h"

#include <unordered_map>
#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

// Groups that the vertex leaves undecided have no decision.
Strategy partial_strategy(const GrowingTree& tree, const ActionTable& table, std::int32_t vertex) {
  Strategy strategy;
  strategy.groups.resize(table.groups());
  for (const TreeNode* at = &tree.node(vertex); at->parent >= 0; at = &tree.node(at->parent))
    strategy.groups[table.order()[static_cast<std::size_t>(at->depth - 1)]] =
        table.action(at->action);
  return strategy;
}

}  // namespace

void consider(const GrowingTree& tree, const Finishing& finishing, const ActionVector& actions,
              const Score& score, Incumbent& incumbent) {
  if (!incumbent.is_improved_by(score) || tree.is_excluded(actions)) return;
  incumbent.take({actions, finishing.flags_of_tree()}, score, Incumbent::Tree);
}

TreeProposer::TreeProposer(const Problem& problem, const ActionTable& table,
                           const TreeSearchOptions& options, PriorProvider& prior,
                           const Finishing& finishing, GrowingTree& tree, KnownRewards& rewards,
                           Incumbent& incumbent)
    : problem_(problem),
      table_(table),
      options_(options),
      prior_(prior),
      finishing_(finishing),
      tree_(tree),
      rewards_(rewards),
      incumbent_(incumbent) {}

bool TreeProposer::wants_prior(std::int32_t leaf) const {
  const TreeNode& node = tree_.node(leaf);
  return !prior_.is_uniform() && !node.evaluated &&
         static_cast<std::size_t>(node.depth) < table_.groups();
}

// Up to `want` leaves that need an evaluation; those that are known are backed up on the way, or
// wait for their prior.
TreeProposer::Batch TreeProposer::collect(std::size_t want) {
  constexpr std::size_t kPatience = 1000;  // selections a leaf: repeats are free, but not for ever
  Batch batch;
  std::unordered_map<Digest, std::size_t> in_batch;
  for (std::size_t i = 0; batch.fresh.size() + batch.repeats < want && i < kPatience * want; ++i) {
    const std::int32_t leaf = batch.leaves.size() < 2 * want ? tree_.select() : -1;
    if (leaf < 0) break;
    ActionVector actions = tree_.completed_actions(leaf);
    const Digest key = digest_of(actions);
    if (const auto* known = rewards_.find(key)) {
      if (!options_.free_repeats) ++batch.repeats;
      if (!wants_prior(leaf)) {
        tree_.back_up(leaf, known->reward, known->step_time_ns);
        continue;
      }
      batch.is_again.push_back(batch.leaves.size());
      batch.leaves.push_back({leaf, batch.again.size()});
      batch.again.push_back(std::move(actions));
    } else {
      const auto [slot, is_new] = in_batch.emplace(key, batch.fresh.size());
      if (is_new) batch.fresh.push_back(std::move(actions));
      batch.leaves.push_back({leaf, slot->second});
    }
    tree_.add_virtual_visit(leaf, 1);
  }
  return batch;
}

// Sometimes all that could be selected waits for its evaluation; then there is more once that is
// known, so that a turn always counts the same.
Proposal TreeProposer::propose(const Turn& turn) {
  Batch batch = collect(turn.most);
  for (const std::size_t leaf : batch.is_again) batch.leaves[leaf].evaluation += batch.fresh.size();
  Proposal proposal;
  proposal.iterations = batch.fresh.size() + batch.repeats;
  proposal.repeated = batch.again.size();
  proposal.more = proposal.iterations > 0 || !batch.leaves.empty();
  leaves_ = std::move(batch.leaves);
  strategies_ = std::move(batch.fresh);
  strategies_.insert(strategies_.end(), batch.again.begin(), batch.again.end());
  for (const ActionVector& actions : strategies_)
    proposal.strategies.push_back(finishing_.seen_by_tree(actions));
  return proposal;
}

void TreeProposer::accept(std::span<const Score> scores) {
  for (const Leaf& leaf : leaves_) {
    const ActionVector& actions = strategies_[leaf.evaluation];
    const Score& score = scores[leaf.evaluation];
    const KnownRewards::Known known = rewards_.learn(actions, score);
    tree_.add_virtual_visit(leaf.node, -1);
    tree_.back_up(leaf.node, known.reward, known.step_time_ns);
    consider(tree_, finishing_, actions, score, incumbent_);
  }
  ask_priors(leaves_, scores);
}

void TreeProposer::accept_root(const Score& score) {
  const ActionVector actions = tree_.completed_actions(0);
  const KnownRewards::Known known = rewards_.learn(actions, score);
  tree_.back_up(0, known.reward, known.step_time_ns);
  ask_priors({{0, 0}}, std::span(&score, 1));
  consider(tree_, finishing_, actions, score, incumbent_);
}

void TreeProposer::ask_priors(const std::vector<Leaf>& leaves, std::span<const Score> scores) {
  if (prior_.is_uniform()) return;
  std::vector<Strategy> partial;
  std::vector<const Leaf*> asked;
  for (const Leaf& leaf : leaves) {
    const TreeNode& node = tree_.node(leaf.node);
    if (static_cast<std::size_t>(node.depth) == table_.groups() || !node.children.empty()) continue;
    partial.push_back(partial_strategy(tree_, table_, leaf.node));
    asked.push_back(&leaf);
  }
  std::vector<PriorQuery> queries;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto depth = static_cast<std::size_t>(tree_.node(asked[i]->node).depth);
    queries.push_back({partial[i], table_.order()[depth], scores[asked[i]->evaluation]});
  }
  const std::vector<std::vector<float>> rows = prior_.priors(problem_, table_.actions(), queries);
  CHECK(rows.size() == queries.size(), "one row of priors a query");
  for (std::size_t i = 0; i < rows.size(); ++i) tree_.set_priors(asked[i]->node, rows[i]);
}

}  // namespace strato
