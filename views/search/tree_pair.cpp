#include "views/search/tree_pair.h"

#include <algorithm>
#include <unordered_map>

#include "core/search/tree/search_tree.h"

namespace strato {
namespace {

const SearchTree::Vertex& at(const SearchTree& tree, std::int32_t vertex) {
  return tree.vertices[static_cast<std::size_t>(vertex)];
}

class Union {
 public:
  Union(const SearchTree& first, const SearchTree& second)
      : first_(first), second_(second), both_(std::make_shared<SearchTree>()) {}

  TreePair run() {
    both_->actions = first_.actions;
    both_->order = first_.order;
    both_->pinned = first_.pinned;
    both_->problem = first_.problem;
    both_->iterations = first_.iterations;
    match_actions();
    match_order();
    add(0, 0, -1);
    // Breadth first, as the trees are: the children of a vertex stand together.
    for (std::int32_t v = 0; v < static_cast<std::int32_t>(both_->vertices.size()); ++v) {
      add_children(v);
    }
    if (first_.focus >= 0) both_->focus = place_of_first_[static_cast<std::size_t>(first_.focus)];
    find_best_paths();
    pair_.both = std::move(both_);
    return std::move(pair_);
  }

 private:
  void match_actions() {
    for (const Decision& action : second_.actions) {
      const auto known = std::ranges::find(both_->actions, action);
      action_of_second_.push_back(static_cast<std::int32_t>(known - both_->actions.begin()));
      if (known == both_->actions.end()) both_->actions.push_back(action);
    }
  }

  void match_order() {
    const std::size_t depths = std::min(first_.order.size(), second_.order.size());
    std::size_t same = 0;
    while (same < depths && first_.order[same] == second_.order[same]) ++same;
    if (same < second_.order.size()) pair_.differs_from_depth = static_cast<std::int32_t>(same);
  }

  void add(std::int32_t first, std::int32_t second, std::int32_t parent) {
    SearchTree::Vertex vertex;
    if (first >= 0) {
      vertex = at(first_, first);
    } else {
      vertex = at(second_, second);
      vertex.visits = 0;
      vertex.value_sum = 0;
      vertex.weight = 1;
      vertex.action = action_of_second_[static_cast<std::size_t>(vertex.action)];
    }
    vertex.parent = parent;
    vertex.first_child = -1;
    vertex.child_count = 0;
    vertex.prior_row = -1;
    both_->vertices.push_back(vertex);
    pair_.first.push_back(first);
    second_vertex_.push_back(second);
    pair_.other.push_back(
        second < 0 ? TreePair::Figures()
                   : TreePair::Figures{at(second_, second).visits, at(second_, second).value()});
    const auto place = static_cast<std::int32_t>(both_->vertices.size() - 1);
    if (first >= 0) remember(place_of_first_, first, place);
    if (second >= 0) remember(place_of_second_, second, place);
  }

  static void remember(std::vector<std::int32_t>& places, std::int32_t vertex, std::int32_t place) {
    if (places.size() <= static_cast<std::size_t>(vertex)) {
      places.resize(static_cast<std::size_t>(vertex) + 1, -1);
    }
    places[static_cast<std::size_t>(vertex)] = place;
  }

  void add_children(std::int32_t vertex) {
    const std::int32_t first = pair_.first[static_cast<std::size_t>(vertex)];
    const std::int32_t second = second_vertex_[static_cast<std::size_t>(vertex)];
    const std::int32_t depth = at(*both_, vertex).depth;
    std::unordered_map<std::int32_t, std::int32_t> by_action;  // children of the second tree
    std::vector<std::int32_t> of_second;
    if (second >= 0 && (pair_.differs_from_depth < 0 || depth < pair_.differs_from_depth)) {
      of_second = second_.children(second);
    }
    for (const std::int32_t child : of_second) {
      by_action[action_of_second_[static_cast<std::size_t>(at(second_, child).action)]] = child;
    }
    const auto begin = static_cast<std::int32_t>(both_->vertices.size());
    if (first >= 0) {
      for (const std::int32_t child : first_.children(first)) {
        const auto same = by_action.find(at(first_, child).action);
        add(child, same == by_action.end() ? -1 : same->second, vertex);
        if (same != by_action.end()) by_action.erase(same);
      }
    }
    for (const std::int32_t child : of_second) {
      const auto rest =
          by_action.find(action_of_second_[static_cast<std::size_t>(at(second_, child).action)]);
      if (rest != by_action.end()) add(-1, child, vertex);
    }
    SearchTree::Vertex& parent = both_->vertices[static_cast<std::size_t>(vertex)];
    parent.child_count = static_cast<std::int32_t>(both_->vertices.size()) - begin;
    parent.first_child = parent.child_count > 0 ? begin : -1;
  }

  void find_best_paths() {
    const auto places = [](const std::vector<std::int32_t>& path,
                           const std::vector<std::int32_t>& place) {
      std::vector<std::int32_t> result;
      for (const std::int32_t v : path) {
        if (static_cast<std::size_t>(v) >= place.size() || place[static_cast<std::size_t>(v)] < 0)
          break;
        result.push_back(place[static_cast<std::size_t>(v)]);
      }
      return result;
    };
    pair_.best = places(first_.best_path(), place_of_first_);
    pair_.other_best = places(second_.best_path(), place_of_second_);
    for (std::size_t i = 0; i < std::min(pair_.best.size(), pair_.other_best.size()); ++i) {
      if (pair_.best[i] != pair_.other_best[i]) break;
      pair_.parts = pair_.best[i];
    }
  }

  const SearchTree &first_, &second_;
  std::shared_ptr<SearchTree> both_;
  TreePair pair_;
  std::vector<std::int32_t> action_of_second_, second_vertex_, place_of_first_, place_of_second_;
};

}  // namespace

TreePair pair_trees(const SearchTree& first, const SearchTree& second) {
  return Union(first, second).run();
}

}  // namespace strato
