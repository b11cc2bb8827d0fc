#include "views/search/tree_pair.h"

#include <gtest/gtest.h>

#include <set>

#include "core/search/tree/search_tree.h"
#include "tests/views/search/sample_tree.h"
#include "views/models/steering.h"

namespace strato {
namespace {

using Path = std::vector<std::int32_t>;

TEST(TreePair, HasEveryVertexOfEitherWithTheFiguresOfBoth) {
  for (unsigned seed = 1; seed < 10; ++seed) {
    const auto a = random_tree(seed, 150), b = random_tree(seed + 50, 220);
    const TreePair pair = pair_trees(*a, *b);
    std::set<Path> paths;
    for (const auto& tree : {a, b}) {
      for (std::size_t v = 0; v < tree->vertices.size(); ++v) {
        const Path path = path_to(*tree, static_cast<std::int32_t>(v));
        paths.insert(path);
        const std::int32_t both = find(*pair.both, path);
        ASSERT_GE(both, 0);
        const std::int32_t in_a = find(*a, path), in_b = find(*b, path);
        const auto place = static_cast<std::size_t>(both);
        EXPECT_EQ(pair.first[place], in_a);
        EXPECT_EQ(pair.both->vertices[place].visits,
                  in_a < 0 ? 0 : a->vertices[static_cast<std::size_t>(in_a)].visits);
        EXPECT_EQ(pair.other[place].visits,
                  in_b < 0 ? 0 : b->vertices[static_cast<std::size_t>(in_b)].visits);
      }
    }
    EXPECT_EQ(pair.both->vertices.size(), paths.size());
    EXPECT_EQ(pair.best.size(), a->best_path().size());
    EXPECT_EQ(pair.other_best.size(), b->best_path().size());
    EXPECT_EQ(pair.differs_from_depth, -1);
    parse_search_tree(serialise(*pair.both));  // checks that it is a tree
  }
}

TEST(TreePair, ATreeAndItselfDoNotPart) {
  const auto tree = random_tree(4, 200);
  const TreePair pair = pair_trees(*tree, *tree);
  EXPECT_EQ(pair.both->vertices.size(), tree->vertices.size());
  EXPECT_EQ(pair.best, pair.other_best);
  EXPECT_EQ(pair.parts, pair.best.back());
}

TEST(TreePair, AnotherOrderOfGroupsIsComparedAsFarAsItIsTheSame) {
  const auto a = random_tree(1, 200);
  SearchTree b = *a;
  std::swap(b.order[1], b.order[2]);
  const TreePair pair = pair_trees(*a, b);
  EXPECT_EQ(pair.differs_from_depth, 1);
  for (std::size_t v = 0; v < pair.both->vertices.size(); ++v) {
    EXPECT_EQ(pair.other[v].visits > 0, pair.both->vertices[v].depth <= 1);
  }
}

TEST(TreePair, ActionsAreMatchedByWhatTheyDecide) {
  const auto a = random_tree(2, 100);
  SearchTree b = *a;
  b.actions.push_back(b.actions[0]);  // the same decisions under other numbers
  b.actions[0] = {Mode::Duplicate, {{DeviceId(5), 1}}};
  for (SearchTree::Vertex& vertex : b.vertices) {
    if (vertex.action == 0) vertex.action = static_cast<std::int32_t>(b.actions.size() - 1);
  }
  const TreePair pair = pair_trees(*a, b);
  EXPECT_EQ(pair.both->vertices.size(), a->vertices.size());
}

TEST(Steering, GoesIntoATreeAndComesBack) {
  std::mt19937 random(7);
  for (unsigned seed = 1; seed < 30; ++seed) {
    const auto tree = random_tree(seed, 120);
    Steering steering;
    for (int i = 0; i < 3; ++i) {
      const auto v = static_cast<std::int32_t>(1 + random() % (tree->vertices.size() - 1));
      steering.weights[path_to(*tree, v)] = i == 0 ? 0.0F : static_cast<float>(2 * i);
      steering.pinned[GroupId(random() % 20)] = {Mode::Duplicate, {{DeviceId(random() % 4), 1}}};
    }
    const auto told = steered(*tree, steering);
    EXPECT_EQ(steering_of(*told), steering);
    EXPECT_EQ(steering_of(*steered(*told, Steering())), Steering());
    for (std::size_t v = 0; v < tree->vertices.size(); ++v) {
      EXPECT_EQ(told->vertices[v].visits, tree->vertices[v].visits);
    }
    EXPECT_EQ(steering_of(parse_search_tree(serialise(*told))), steering);
  }
}

TEST(Steering, ForgetsBranchesThatAreNotThereAndAFocusThatIsClosed) {
  const auto tree = random_tree(3, 60);
  Steering steering;
  steering.weights[{5, 5, 5, 5, 5, 5}] = 2;
  EXPECT_TRUE(steering_of(*steered(*tree, steering)).empty());
  const Path first = path_to(*tree, tree->vertices[0].first_child);
  steering = {};
  steering.focus = first;
  EXPECT_EQ(steering_of(*steered(*tree, steering)).focus, first);
  steering.weights[first] = 0;
  EXPECT_TRUE(steering_of(*steered(*tree, steering)).focus.empty());
}

}  // namespace
}  // namespace strato
