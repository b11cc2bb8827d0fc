// Search trees for tests: grown step by step from a seed, with the log of their back-ups.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "core/search/tree/search_tree.h"

namespace strato {

// A history of back-ups by path; the tree after any number of them. The same seed tells the same
// history, so a longer tree goes on where a shorter one ended.
class GrowingTree {
 public:
  explicit GrowingTree(unsigned seed, std::size_t depth = 20, int actions = 6)
      : random_(seed), depth_(depth), actions_(actions) {}

  void grow(std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) {
      std::vector<std::int32_t> path;
      while (known_.contains(path) && path.size() < depth_) {
        // Prefers low actions: trees get deep.
        path.push_back(
            static_cast<std::int32_t>(std::min(random_() % actions_, random_() % actions_)));
      }
      known_.emplace(path, reward(path));
      log_.push_back(path);
    }
  }

  std::shared_ptr<const SearchTree> tree() const {
    auto tree = std::make_shared<SearchTree>();
    for (int a = 0; a < actions_; ++a) {
      tree->actions.push_back({Mode::ReplicateAllReduce, {{DeviceId(0), a + 1}}});
    }
    for (std::size_t g = 0; g < depth_; ++g) tree->order.push_back(GroupId(g));
    tree->iterations = static_cast<std::int64_t>(log_.size());
    add_vertices(*tree);
    return tree;
  }

 private:
  using Path = std::vector<std::int32_t>;
  struct ByDepth {  // breadth first; children of one vertex in order of expansion
    bool operator()(const Path& a, const Path& b) const {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    }
  };

  static float reward(const Path& path) {
    float sum = 0;
    for (const std::int32_t action : path) sum += static_cast<float>((action * 7 + 3) % 5) - 1;
    return path.empty() ? 0 : sum / static_cast<float>(path.size());
  }

  void add_vertices(SearchTree& tree) const {
    std::map<Path, std::int32_t> place;
    for (const auto& [path, reward] : known_) {
      SearchTree::Vertex vertex;
      vertex.depth = static_cast<std::int32_t>(path.size());
      vertex.reward = reward;
      vertex.step_time_ns = 50'000'000;
      vertex.prior = 1.0F / static_cast<float>(actions_);
      const auto id = static_cast<std::int32_t>(tree.vertices.size());
      if (!path.empty()) {
        vertex.action = path.back();
        vertex.parent = place.at(Path(path.begin(), path.end() - 1));
        SearchTree::Vertex& parent = tree.vertices[static_cast<std::size_t>(vertex.parent)];
        if (parent.child_count++ == 0) parent.first_child = id;
      }
      place.emplace(path, id);
      tree.vertices.push_back(vertex);
    }
    for (const Path& path : log_) {
      const std::int32_t leaf = place.at(path);
      const float reward = tree.vertices[static_cast<std::size_t>(leaf)].reward;
      tree.log.push_back({leaf, reward});
      for (std::int32_t v = leaf; v >= 0; v = tree.vertices[static_cast<std::size_t>(v)].parent) {
        ++tree.vertices[static_cast<std::size_t>(v)].visits;
        tree.vertices[static_cast<std::size_t>(v)].value_sum += static_cast<double>(reward);
      }
    }
  }

  std::mt19937 random_;
  const std::size_t depth_;
  const int actions_;
  std::map<Path, float, ByDepth> known_;
  std::vector<Path> log_;
};

inline std::shared_ptr<const SearchTree> random_tree(unsigned seed, std::size_t steps) {
  GrowingTree growing(seed);
  growing.grow(steps);
  return growing.tree();
}

}  // namespace strato
