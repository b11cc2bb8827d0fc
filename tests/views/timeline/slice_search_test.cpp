#include "views/timeline/slice_search.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QLineEdit>
#include <QTest>

#include "tests/views/timeline/sample_timeline.h"
#include "views/timeline/search_panel.h"
#include "views/timeline/timeline_view.h"

namespace strato {
namespace {

using test::sample;

TEST(Search, FindsWhatHasEveryWord) {
  const auto timeline = sample(600, 1);
  const Program& program = *timeline->program;
  const FoundSlices found = find_slices(*timeline, nullptr, QStringLiteral("  LAYER7/  compute "));
  std::size_t expected = 0;
  for (const Task& task : program.tasks)
    expected += task.kind == TaskKind::Compute && program.graph->op(task.op).name == "layer7/Relu";
  EXPECT_GT(expected, 0u);
  EXPECT_EQ(found.count, expected);
  EXPECT_EQ(found.tasks.size(), expected);
  Nanos sum;
  for (std::size_t i = 0; i < found.tasks.size(); ++i) {
    const auto length = [&](std::size_t at) {
      return timeline->tasks[found.tasks[at]].end - timeline->tasks[found.tasks[at]].start;
    };
    sum += length(i);
    if (i > 0) {
      EXPECT_LE(length(i), length(i - 1));
    }
  }
  EXPECT_EQ(found.time, sum);
}

TEST(Search, FindsByKindDeviceTensorAndGroup) {
  const auto timeline = sample(400, 2);
  const Program& program = *timeline->program;
  std::vector<std::int32_t> all(program.graph->op_count(), 0);
  const Grouping one(*program.graph, all, std::vector<Nanos>(all.size(), Nanos(1)));
  EXPECT_EQ(find_slices(*timeline, &one, QString::fromStdString(one.group(GroupId(0)).name)).count,
            program.tasks.size());
  std::size_t reduces = 0;
  for (const Task& task : program.tasks) reduces += task.kind == TaskKind::AllReduce;
  EXPECT_EQ(find_slices(*timeline, nullptr, QStringLiteral("allreduce")).count, reduces);
  EXPECT_EQ(find_slices(*timeline, nullptr, QStringLiteral("relu")).count, program.tasks.size());
  for (const char* nothing : {"", "   ", "no such op", "relu nothing", "\xf0\x9f\x98\x80"})
    EXPECT_EQ(find_slices(*timeline, nullptr, QString::fromUtf8(nothing)).count, 0u) << nothing;
  EXPECT_EQ(find_slices(*timeline, nullptr, QString(10'000, QLatin1Char('x'))).count, 0u);
}

TEST(Search, ListsTheLongestOfMany) {
  const auto timeline =
      test::random_timeline(test::chain_graph(4), test::even_cluster(1, 2), 12'000, 3);
  const FoundSlices found = find_slices(*timeline, nullptr, QStringLiteral("relu"));
  EXPECT_EQ(found.count, 12'000u);
  ASSERT_EQ(found.tasks.size(), FoundSlices::kMost);
  const auto length = [&](TaskId t) { return timeline->tasks[t].end - timeline->tasks[t].start; };
  std::vector<bool> listed(timeline->tasks.size());
  for (const TaskId task : found.tasks) listed[task.index()] = true;
  for (std::size_t t = 0; t < listed.size(); ++t) {
    if (!listed[t]) {
      EXPECT_LE(length(TaskId(t)), length(found.tasks.back()));
    }
  }
}

TEST(Search, OpensByASlashAndWalksThroughItsList) {
  Session session;
  TimelineView view(session);
  view.resize(1000, 400);
  view.show();
  const auto timeline = sample(300, 4);
  view.show_timeline(timeline, Nanos(0));
  SearchPanel& panel = view.search_panel();
  EXPECT_FALSE(panel.isVisible());
  QTest::keyClick(&view.canvas(), Qt::Key_Slash);
  ASSERT_TRUE(panel.isVisible());
  QAbstractItemModelTester tester(&panel.model(),
                                  QAbstractItemModelTester::FailureReportingMode::Fatal);
  auto* query = panel.findChild<QLineEdit*>();
  QTest::keyClick(query, Qt::Key_Return);  // nothing was found yet
  QTest::keyClicks(query, QStringLiteral("layer1 compute"));
  ASSERT_GT(panel.model().rowCount(), 1);
  QTest::keyClick(query, Qt::Key_Return);
  QTest::keyClick(query, Qt::Key_Down);
  QTest::keyClick(query, Qt::Key_Up);
  QTest::keyClick(query, Qt::Key_Up);  // around the end
  for (int c = 0; c < panel.model().columnCount(); ++c)
    EXPECT_FALSE(panel.model().index(0, c).data().toString().isEmpty());
  view.grab();
  view.show_timeline(sample(10, 5), Nanos(0));  // others: it searches again
  EXPECT_LE(panel.model().rowCount(), 10);
  view.show_timeline(nullptr, Nanos(0));
  EXPECT_EQ(panel.model().rowCount(), 0);
  QTest::keyClick(query, Qt::Key_Escape);
  EXPECT_FALSE(panel.isVisible());
}

}  // namespace
}  // namespace strato
