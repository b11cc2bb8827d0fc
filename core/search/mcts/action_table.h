// What the groups of a problem may be told in a search: the actions, the order in which a tree
// decides the groups, the legal actions of each, those that groups are pinned to, and the order in
// which a running search opens them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/at.h"
#include "core/base/digest.h"
#include "core/search/api/problem.h"
#include "core/search/mcts/tree_options.h"
#include "core/search/tree/search_tree.h"

namespace strato {

// Immutable.
class ActionTable {
 public:
  // `steering`: pins and further actions come from there; null: none. Throws InputError when they
  // do not fit. Decisions of `known` (complete strategies in the problem's groups) that are no
  // actions become further actions, behind those that are free.
  ActionTable(const Problem& problem, const TreeSearchOptions& options, std::uint64_t seed,
              const SearchTree* steering = nullptr, std::span<const Strategy> known = {});

  const std::vector<Decision>& actions() const { return actions_; }
  const Decision& action(std::int32_t number) const { return actions_[at(number)]; }
  // Those beyond are legal for the group that is pinned to them, or has them in a known strategy.
  std::size_t free_action_count() const { return free_actions_; }
  // Depth by depth, the group that is decided there.
  const std::vector<GroupId>& order() const { return order_; }
  // The group that a vertex of this depth, from 1, has decided last.
  GroupId decided_at(std::int32_t depth) const { return order_[at(depth - 1)]; }
  std::size_t groups() const { return order_.size(); }
  // By depth: legal actions, most plausible first.
  const std::vector<std::vector<std::int32_t>>& ranked() const { return ranked_; }
  std::vector<std::vector<std::int32_t>> ranked_by_group() const;
  // Ascending; of a pinned group its pin alone.
  std::vector<std::vector<std::int32_t>> legal_by_group() const;
  // Its place among the ranked actions of the depth; -1: it is not one of them.
  std::int32_t rank(std::size_t depth, std::int32_t action) const {
    return rank_[depth][at(action)];
  }

  // By group id: the action that it is pinned to, or -1; empty: none is pinned.
  const std::vector<std::int32_t>& pinned() const { return pinned_; }
  const IdVector<GroupId, std::optional<Decision>>& pins() const { return pins_; }
  std::int32_t pin_at(std::size_t depth) const {
    return pinned_.empty() ? -1 : pinned_[order_[depth].index()];
  }
  std::size_t first_free() const { return first_free_; }  // depth of the first group not pinned
  bool obeys_pins(const ActionVector& actions) const;
  ActionVector with_pins(ActionVector actions) const;
  Digest digest_of_pins() const;

  Strategy strategy_of(const ActionVector& actions) const;
  // The inverse, with the pins instead of its own decisions; for the strategies that were `known`.
  ActionVector actions_of(const Strategy& known) const;

 private:
  void take_actions(const Problem& problem, const SearchTree& steering);
  void take_pins(const IdVector<GroupId, std::optional<Decision>>& of_constraints);
  void take_decisions(const Strategy& known);

  std::vector<Decision> actions_;
  std::size_t free_actions_ = 0;
  std::vector<GroupId> order_;
  IdVector<GroupId, std::optional<Decision>> pins_;
  std::vector<std::int32_t> pinned_;
  std::size_t first_free_ = 0;
  std::vector<std::vector<std::int32_t>> ranked_;
  std::vector<std::vector<std::int32_t>> rank_;  // by depth and action
};

// A vertex as it is stored (without first_child and child_count), and what selection needs.
struct TreeNode : SearchTree::Vertex {
  std::int32_t first_action = -1;  // of the first group: what undecided groups follow
  std::int32_t virtual_visits = 0;
  double best = 0;                     // best reward at or below
  bool done = false;                   // nothing new at or below
  bool closed = false;                 // excluded or against a pin, or below such
  bool stale = false;                  // evaluated under other pins
  std::int32_t cursor = 0;             // place of the next action to open
  std::vector<std::int32_t> children;  // in order of expansion
  std::vector<std::int32_t> order;     // actions by prior, once one is opened; empty: by rank

  bool is_evaluated() const { return step_time_ns > 0; }
  // It may still be a result: nothing keeps the search from it, and the pins are those of now.
  bool counts() const { return is_evaluated() && !closed && !stale; }
};

// The priors of vertices, and the order of their actions: by rank, "as the first
// group" first; by prior where a vertex has one of its own.
class ActionOrder {
 public:
  // Refers to both.
  ActionOrder(const ActionTable& table, const TreeSearchOptions& options)
      : table_(table), options_(options) {}

  // Every group is decided: there is nothing to open.
  bool is_complete(const TreeNode& node) const { return at(node.depth) == table_.groups(); }
  std::size_t count(const TreeNode& node) const;
  // The place-th action to open. Of a vertex with a prior: once it is sorted by it.
  std::int32_t action(const TreeNode& node, std::size_t place) const;
  std::int32_t next(const TreeNode& node) const { return action(node, at(node.cursor)); }
  bool has_next(const TreeNode& node) const { return at(node.cursor) < count(node); }
  void sort_by_prior(TreeNode& node) const;

  float prior(const TreeNode& node, std::int32_t action) const;
  // Once a vertex; an empty row is uniform.
  void set_priors(TreeNode& node, const std::vector<float>& row);
  const std::vector<float>& rows() const { return priors_; }
  // Rows of a stored tree, which may have had fewer actions.
  void restore_rows(const SearchTree& tree);

 private:
  bool follows_first(const TreeNode& node) const;

  const ActionTable& table_;
  const TreeSearchOptions& options_;
  std::vector<float> priors_;  // rows of as many as there are actions
};

}  // namespace strato
