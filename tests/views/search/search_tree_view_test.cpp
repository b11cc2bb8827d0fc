#include "views/search/search_tree_view.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QTest>
#include <QTreeView>
#include <cstdio>
#include <ctime>

#include "core/search/tree/search_tree.h"
#include "tests/views/search/sample_tree.h"
#include "views/search/icicle.h"
#include "views/search/puct_table.h"
#include "views/search/replay_panel.h"
#include "views/search/step_story.h"

namespace strato {
namespace {

const SearchTree::Vertex& vertex(const SearchTree& tree, std::int32_t id) {
  return tree.vertices[static_cast<std::size_t>(id)];
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
    model.show(nullptr, nullptr);
    EXPECT_EQ(model.rowCount(), 0);
  }
}

TEST(SearchTreeModel, IsLazyAndSortedByVisits) {
  SearchTreeModel model;
  const auto tree = random_tree(7, 400);
  model.show(tree, nullptr);
  EXPECT_GT(model.rowCount(), 0);
  for (int row = 1; row < model.rowCount(); ++row) {
    EXPECT_GE(vertex(*tree, model.vertex_at(model.index(row - 1, 0))).visits,
              vertex(*tree, model.vertex_at(model.index(row, 0))).visits);
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

// Vertices of a later snapshot have other numbers and another order: rows stay what they were.
TEST(SearchTreeModel, ALaterSnapshotKeepsRowsAndAddsNewOnes) {
  for (unsigned seed = 1; seed < 8; ++seed) {
    GrowingTree growing(seed);
    growing.grow(60);
    SearchTreeModel model;
    model.show(growing.tree(), nullptr);
    int resets = 0;
    QObject::connect(&model, &QAbstractItemModel::modelReset, [&] { ++resets; });
    std::vector<std::pair<QPersistentModelIndex, SearchTreeModel::Path>> kept;
    for (std::int32_t v = 1; v < static_cast<std::int32_t>(model.tree()->vertices.size()); v += 3) {
      kept.emplace_back(model.index_of(v), model.path_to(v));
    }
    for (int snapshot = 0; snapshot < 5; ++snapshot) {
      growing.grow(40);
      model.show(growing.tree(), nullptr);
      // Made anew: it fetches in its slot of rowsInserted, too.
      QAbstractItemModelTester tester(&model,
                                      QAbstractItemModelTester::FailureReportingMode::Fatal);
      for (const auto& [index, path] : kept) {
        ASSERT_TRUE(index.isValid());
        EXPECT_EQ(model.path_to(model.vertex_at(index)), path);
        EXPECT_EQ(model.index_of(model.vertex_at(index)), index);
      }
      EXPECT_EQ(model.rowCount(), model.tree()->vertices[0].child_count);
    }
    EXPECT_EQ(resets, 0);
    model.show(random_tree(seed + 100, 20), nullptr);  // not the same search: rows are missing
  }
}

TEST(SearchTreeView, WhatIsOpenAndChosenStaysWhenTheTreeGrows) {
  GrowingTree growing(3);
  growing.grow(100);
  Session session;
  SearchTreeView view(session);
  view.resize(900, 500);
  view.show_tree(growing.tree(), nullptr);
  SearchTreeModel& model = view.model();
  model.fetchMore(model.index(0, 0));
  ASSERT_GT(model.rowCount(model.index(0, 0)), 1);
  view.tree_view().expand(model.index(0, 0));
  view.tree_view().setCurrentIndex(model.index(1, 0, model.index(0, 0)));
  const auto chosen = model.path_to(model.vertex_at(view.tree_view().currentIndex()));
  growing.grow(400);
  view.show_tree(growing.tree(), nullptr);
  EXPECT_EQ(model.path_to(model.vertex_at(view.tree_view().currentIndex())), chosen);
  EXPECT_TRUE(view.tree_view().isExpanded(model.index_of(model.find({chosen[0]}))));
}

TEST(Icicle, ChildrenLieUnderTheirParentWithoutOverlap) {
  for (unsigned seed = 1; seed < 20; ++seed) {
    const auto tree = random_tree(seed, 500);
    TreeReplay replay(tree);
    replay.seek(seed * 20);
    for (const TreeReplay* step : {static_cast<TreeReplay*>(nullptr), &replay}) {
      const auto cells = icicle(TreeMoment(*tree, step), 0, 900, {});
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
}

TEST(SearchTreeView, ShowsWhatToDoWithoutATree) {
  Session session;
  SearchTreeView view(session);
  view.resize(800, 400);
  EXPECT_FALSE(view.grab().isNull());
  EXPECT_EQ(view.tree_view().model()->rowCount(), 0);
}

TEST(Replay, EndsWithTheTreeAndGoesBackTheSameWay) {
  const auto tree = random_tree(5, 200);
  SearchTreeModel model;
  model.show(tree, nullptr);
  ReplayPanel panel;
  panel.begin(tree);
  for (std::int32_t v = 0; v < static_cast<std::int32_t>(tree->vertices.size()); ++v) {
    EXPECT_EQ(panel.after().visits(v), vertex(*tree, v).visits);
    EXPECT_NEAR(panel.after().value(v), vertex(*tree, v).value(), 1e-9);
  }
  QTest::keyClick(&panel, Qt::Key_Home);
  EXPECT_EQ(panel.after().step(), 0u);
  std::vector<QString> stories;
  for (std::size_t step = 0; step <= 10; ++step) {
    EXPECT_EQ(panel.after().step(), step);
    model.show_moment(&panel.after());
    stories.push_back(step_story(panel.before(), panel.after(), model, {}));
    QTest::keyClick(&panel, Qt::Key_Right);
  }
  for (std::size_t step = 11; step-- > 0;) {
    QTest::keyClick(&panel, Qt::Key_Left);
    model.show_moment(&panel.after());
    EXPECT_EQ(step_story(panel.before(), panel.after(), model, {}), stories[step]);
  }
  EXPECT_TRUE(stories[5].contains(QStringLiteral("Selection went")));
  EXPECT_TRUE(stories[5].contains(QStringLiteral("backed up to")));
  QTest::keyClick(&panel, Qt::Key_Space);
  EXPECT_TRUE(panel.playing());
  QTest::keyClick(&panel, Qt::Key_Space);
  EXPECT_FALSE(panel.playing());
}

TEST(Replay, RowsShowTheFiguresOfTheirStep) {
  const auto tree = random_tree(6, 150);
  Session session;
  SearchTreeView view(session);
  view.resize(900, 600);
  view.show_tree(tree, nullptr);
  view.replay(true);
  view.replay_panel().seek(40);
  SearchTreeModel& model = view.model();
  int sum = 0;
  for (int row = 0; row < model.rowCount(); ++row) {
    sum += model.index(row, SearchTreeModel::Visits).data().toString().toInt();
  }
  EXPECT_EQ(sum, 39);  // the first back-up is the root's own
  const auto path = view.replay_panel().after().path();
  for (const std::int32_t v : path) EXPECT_TRUE(model.is_highlighted(v));
  EXPECT_FALSE(view.grab().isNull());
  view.replay(false);
  EXPECT_EQ(model.replay(), nullptr);
}

TEST(PuctTable, TheLargestComesFirstAndWhatWasTakenIsMarked) {
  const auto tree = random_tree(9, 300);
  SearchTreeModel names;
  names.show(tree, nullptr);
  TreeReplay before(tree), after(tree);
  PuctModel model(names);
  for (std::size_t step = 2; step <= 300; step += 7) {
    before.seek(step - 1);
    after.seek(step);
    const auto path = after.path();
    ASSERT_GE(path.size(), 2u);
    model.show(before, path[0], path[1], {});
    ASSERT_GT(model.rowCount(), 0);
    double last = 1e9;
    for (int row = 0; row < model.rowCount(); ++row) {
      const double score = model.index(row, PuctModel::Score).data().toString().toDouble();
      EXPECT_LE(score, last + 0.01);
      last = score;
    }
  }
}

// Not a test of time, which depends on the machine: prints what a person would feel.
TEST(SearchTreeView, FiftyThousandVerticesAreSmooth) {
  GrowingTree growing(11, 60, 40);
  growing.grow(49'000);
  const auto first = growing.tree();
  growing.grow(1'000);
  const auto second = growing.tree();
  Session session;
  SearchTreeView view(session);
  view.resize(900, 700);
  const auto measure = [&](const char* what, int times, auto&& work) {
    const std::clock_t begin = std::clock();  // of the processor: others may have it, too
    for (int i = 0; i < times; ++i) work(i);
    std::printf("[ %7.2f ms ] %s\n",
                1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / times, what);
  };
  measure("show a tree of 50,000 vertices", 1, [&](int) { view.show_tree(first, nullptr); });
  SearchTreeModel& model = view.model();
  for (int row = 0; row < model.rowCount(); ++row) view.tree_view().expand(model.index(row, 0));
  view.grab();
  measure("take the next snapshot", 1, [&](int) { view.show_tree(second, nullptr); });
  measure("paint", 10, [&](int) { view.grab(); });
  measure("lay out the overview", 10,
          [&](int) { EXPECT_FALSE(icicle(TreeMoment(*second), 0, 900, {}).empty()); });
  measure("begin a replay", 1, [&](int) { view.replay(true); });
  measure("one step back", 10, [&](int) { view.replay_panel().move(-1); });
  measure("one step and paint", 10, [&](int) {
    view.replay_panel().move(-1);
    view.grab();
  });
  measure("jump to the middle", 1, [&](int) { view.replay_panel().seek(25'000); });
  EXPECT_EQ(view.replay_panel().after().step(), 25'000u);
}

}  // namespace
}  // namespace strato
