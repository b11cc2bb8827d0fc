// N and Q of a search tree: as they are, or as they were at a step of its replay.
#pragma once

#include "core/search/mcts/tree_replay.h"
#include "core/search/tree/search_tree.h"

namespace strato {

class TreeMoment {
 public:
  TreeMoment() = default;
  explicit TreeMoment(const SearchTree& tree, const TreeReplay* replay = nullptr)
      : tree_(&tree), replay_(replay) {}

  const SearchTree& tree() const { return *tree_; }
  const TreeReplay* replay() const { return replay_; }
  const SearchTree::Vertex& vertex(std::int32_t id) const {
    return tree_->vertices[static_cast<std::size_t>(id)];
  }
  std::int32_t visits(std::int32_t id) const {
    return replay_ ? replay_->visits(id) : vertex(id).visits;
  }
  double value(std::int32_t id) const { return replay_ ? replay_->value(id) : vertex(id).value(); }
  bool exists(std::int32_t id) const { return !replay_ || replay_->exists(id); }

 private:
  const SearchTree* tree_ = nullptr;
  const TreeReplay* replay_ = nullptr;
};

}  // namespace strato
