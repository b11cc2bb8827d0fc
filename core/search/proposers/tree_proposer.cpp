#include "core/search/proposers/tree_proposer.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/base/random.h"

namespace strato {
namespace {

// Groups that the vertex leaves undecided have no decision.
Strategy partial_strategy(const RunningSearch& search, std::int32_t vertex) {
  const ActionTable& table = search.table;
  Strategy strategy;
  strategy.groups.resize(table.groups());
  for (const TreeNode* n = &search.tree.node(vertex); n->parent >= 0;
       n = &search.tree.node(n->parent))
    strategy.groups[table.decided_at(n->depth)] = table.action(n->action);
  return strategy;
}

// A chance in proportion to this power of the probability: strategies of many groups that follow
// the prior closely, and are not all the same.
constexpr double kSharpness = 3;

// The most probable of the legal actions, or one by chance; the most plausible where the prior says
// nothing.
std::int32_t draw(const std::vector<float>& row, const std::vector<std::int32_t>& legal,
                  Random* random) {
  if (row.empty()) return legal.front();
  const auto probability = [&](std::int32_t a) { return row[at(a)]; };
  if (random == nullptr) return *std::ranges::max_element(legal, {}, probability);
  std::vector<double> weights;
  for (const std::int32_t a : legal) weights.push_back(std::pow(probability(a), kSharpness));
  return legal[random->weighted(weights)];
}

}  // namespace

bool TreeProposer::wants_prior(std::int32_t leaf) const {
  const TreeNode& node = search_.tree.node(leaf);
  return search_.prior != nullptr && !node.is_evaluated() &&
         at(node.depth) < search_.table.groups();
}

// Up to `want` leaves that need an evaluation; those that are known are backed up on the way, or
// wait for their prior. Returns how many of these cost an iteration.
std::size_t TreeProposer::collect(std::size_t want, std::vector<Candidate>& again) {
  constexpr std::size_t kPatience = 1000;  // selections a leaf: repeats are free, but not for ever
  std::unordered_map<Digest, std::size_t> in_batch;
  std::size_t repeats = 0;
  for (std::size_t i = 0; candidates_.size() + repeats < want && i < kPatience * want; ++i) {
    const std::int32_t leaf = leaves_.size() < 2 * want ? search_.tree.select() : -1;
    if (leaf < 0) break;
    Candidate candidate{search_.tree.completed_actions(leaf), search_.finishing.flags_of_tree()};
    const Digest key = digest_of(candidate.actions);
    if (const auto* known = search_.rewards.find(key)) {
      if (!search_.options.free_repeats) ++repeats;
      if (!wants_prior(leaf)) {
        search_.tree.back_up(leaf, known->reward, known->step_time_ns);
        continue;
      }
      leaves_.push_back({leaf, again.size(), true});
      again.push_back(std::move(candidate));
    } else {
      const auto [slot, is_new] = in_batch.emplace(key, candidates_.size());
      if (is_new) candidates_.push_back(std::move(candidate));
      leaves_.push_back({leaf, slot->second, false});
    }
    search_.tree.add_virtual_visit(leaf, 1);
  }
  return repeats;
}

// Sometimes all that could be selected waits for its evaluation; then there is more once that is
// known, so that a turn always counts the same.
Proposal TreeProposer::propose(const Turn& turn) {
  leaves_.clear();
  candidates_.clear();
  std::vector<Candidate> again;
  const std::size_t iterations = collect(turn.most, again) + candidates_.size();
  for (Leaf& leaf : leaves_)
    if (leaf.again) leaf.evaluation += candidates_.size();
  candidates_.insert(candidates_.end(), again.begin(), again.end());
  Proposal proposed = proposal(iterations > 0 || !leaves_.empty());
  proposed.iterations = iterations;
  proposed.repeated = again.size();
  return proposed;
}

void TreeProposer::accept(std::span<const Score> scores) {
  for (const Leaf& leaf : leaves_) {
    const ActionVector& actions = candidates_[leaf.evaluation].actions;
    const KnownRewards::Known known = search_.rewards.learn(actions, scores[leaf.evaluation]);
    search_.tree.add_virtual_visit(leaf.node, -1);
    search_.tree.back_up(leaf.node, known.reward, known.step_time_ns);
    search_.consider(actions, scores[leaf.evaluation]);
  }
  ask_priors(scores);
}

void TreeProposer::ask_priors(std::span<const Score> scores) {
  if (search_.prior == nullptr) return;
  const ActionTable& table = search_.table;
  std::erase_if(leaves_, [&](const Leaf& leaf) {
    const TreeNode& node = search_.tree.node(leaf.node);
    return at(node.depth) == table.groups() || !node.children.empty();
  });
  std::vector<Strategy> partial;
  for (const Leaf& leaf : leaves_) partial.push_back(partial_strategy(search_, leaf.node));
  std::vector<PriorQuery> queries;
  for (std::size_t i = 0; i < leaves_.size(); ++i)
    queries.push_back({partial[i], table.order()[at(search_.tree.node(leaves_[i].node).depth)],
                       scores[leaves_[i].evaluation]});
  const auto rows = search_.prior->priors(search_.problem, table.actions(), queries);
  CHECK(rows.size() == queries.size(), "one row of priors a query");
  for (std::size_t i = 0; i < rows.size(); ++i) search_.tree.set_priors(leaves_[i].node, rows[i]);
}

// The first takes the most probable action everywhere.
std::vector<ActionVector> PriorProposer::roll_out(std::size_t count) {
  const ActionTable& table = search_.table;
  Random random(search_.common.seed);
  std::vector<Strategy> partial(count);
  for (Strategy& strategy : partial) strategy.groups.resize(table.groups());
  std::vector<ActionVector> decided(count, ActionVector(table.groups(), 0));
  const Score unseen;
  for (std::size_t depth = 0; depth < table.groups(); ++depth) {
    const GroupId group = table.order()[depth];
    const std::int32_t pinned = table.pin_at(depth);
    std::vector<PriorQuery> queries;
    for (const Strategy& strategy : partial) queries.push_back({strategy, group, unseen});
    const auto rows = search_.prior->priors(search_.problem, table.actions(), queries);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t action =
          pinned >= 0 ? pinned : draw(rows[i], table.ranked()[depth], i == 0 ? nullptr : &random);
      decided[i][group.index()] = action;
      partial[i].groups[group] = table.action(action);
    }
  }
  return decided;
}

Proposal PriorProposer::propose(const Turn& turn) {
  std::vector<ActionVector> decided = roll_out(turn.most);
  std::ranges::sort(decided);
  decided.erase(std::ranges::unique(decided).begin(), decided.end());
  candidates_.clear();
  for (ActionVector& actions : decided)
    if (!search_.tree.is_excluded(actions))
      candidates_.push_back(
          {std::move(actions), search_.finishing.all(search_.finishing.is_chosen())});
  return proposal();
}

}  // namespace strato
