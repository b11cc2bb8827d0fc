#include "views/search/search_tree_view.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QTreeView>
#include <random>

#include "views/search/icicle.h"

namespace strato {
namespace {

// Breadth first, visits of children add up to less than the parent's.
std::shared_ptr<const SearchTree> random_tree(unsigned seed, std::size_t size) {
  std::mt19937 random(seed);
  auto tree = std::make_shared<SearchTree>();
  tree->actions.resize(6);
  for (std::size_t g = 0; g < 20; ++g) tree->order.push_back(GroupId(g));
  SearchTree::Vertex root;
  root.visits = 1000;
  tree->vertices.push_back(root);
  for (std::size_t at = 0; at < tree->vertices.size() && tree->vertices.size() < size; ++at) {
    const SearchTree::Vertex parent = tree->vertices[at];
    if (parent.depth >= 20) continue;
    const auto count = static_cast<std::int32_t>(1 + random() % 5);
    tree->vertices[at].first_child = static_cast<std::int32_t>(tree->vertices.size());
    tree->vertices[at].child_count = count;
    for (std::int32_t a = 0; a < count; ++a) {
      SearchTree::Vertex child;
      child.parent = static_cast<std::int32_t>(at);
      child.action = a;
      child.depth = parent.depth + 1;
      child.visits = static_cast<std::int32_t>(1 + random() % 100);
      child.value_sum = child.visits * (static_cast<double>(random() % 100) / 50 - 1);
      child.step_time_ns = 1'000'000;
      tree->vertices.push_back(child);
    }
  }
  return tree;
}

TEST(SearchTreeModel, ObeysTheModelRules) {
  SearchTreeModel model;
  for (unsigned seed = 1; seed < 6; ++seed) {
    model.show(random_tree(seed, 300), nullptr);
    // Made anew: a tester fetches in its slot of modelReset, and then complains that rows are
    // inserted in a reset.
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    for (int row = 0; row < model.rowCount(); ++row) {
      const QModelIndex child = model.index(row, 0);
      if (model.canFetchMore(child)) model.fetchMore(child);
    }
  }
  model.show(nullptr, nullptr);
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(SearchTreeModel, IsLazyAndSortedByVisits) {
  SearchTreeModel model;
  const auto tree = random_tree(7, 400);
  model.show(tree, nullptr);
  EXPECT_GT(model.rowCount(), 0);
  for (int row = 1; row < model.rowCount(); ++row) {
    EXPECT_GE(
        tree->vertices[static_cast<std::size_t>(model.vertex_at(model.index(row - 1, 0)))].visits,
        tree->vertices[static_cast<std::size_t>(model.vertex_at(model.index(row, 0)))].visits);
  }
  EXPECT_EQ(model.rowCount(model.index(0, 0)), 0);
}

TEST(SearchTreeModel, FindsVerticesByTheirActions) {
  SearchTreeModel model;
  const auto tree = random_tree(8, 400);
  model.show(tree, nullptr);
  for (std::int32_t v = 0; v < static_cast<std::int32_t>(tree->vertices.size()); v += 17) {
    EXPECT_EQ(model.find(model.path_to(v)), v);
    EXPECT_EQ(model.vertex_at(model.index_of(v)), v);
  }
  EXPECT_EQ(model.find({99}), -1);
}

TEST(Icicle, ChildrenLieUnderTheirParentWithoutOverlap) {
  for (unsigned seed = 1; seed < 20; ++seed) {
    const auto tree = random_tree(seed, 500);
    const auto cells = icicle(*tree, 0, 900, {});
    ASSERT_FALSE(cells.empty());
    for (std::size_t a = 0; a < cells.size(); ++a) {
      EXPECT_GE(cells[a].box.left(), -1e-6);
      EXPECT_LE(cells[a].box.right(), 900 + 1e-6);
      for (std::size_t b = a + 1; b < cells.size(); ++b) {
        const QRectF common = cells[a].box.intersected(cells[b].box);
        EXPECT_TRUE(common.width() < 1e-6 || common.height() < 1e-6);
      }
    }
  }
}

TEST(SearchTreeView, ShowsWhatToDoWithoutATree) {
  Session session;
  SearchTreeView view(session);
  view.resize(800, 400);
  EXPECT_FALSE(view.grab().isNull());
  EXPECT_EQ(view.tree_view().model()->rowCount(), 0);
}

}  // namespace
}  // namespace strato
