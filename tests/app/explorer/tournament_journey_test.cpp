// A person compares the quick planners in the real window by keys, looks at what two of them found,
// and keeps one.
#include <gtest/gtest.h>

#include <QAction>
#include <QMenuBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "app/explorer/main_window.h"
#include "tests/app/explorer/sample.h"
#include "views/tournament/tournament_view.h"

namespace strato {
namespace {

TEST(TournamentJourney, RunsShowsAndKeeps) {
  const QTemporaryDir folder;
  Session session;
  QStringList failed;
  QObject::connect(&session, &Session::failed, [&](const QString& text) { failed << text; });
  MainWindow window(session, false);
  window.resize(1280, 800);
  window.show();
  session.open_workspace(folder.filePath(QStringLiteral("kept.strata")).toStdString(), false);
  window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
  ASSERT_TRUE(QTest::qWaitFor([&] { return session.snapshot().outcome != nullptr; }, kPatience));
  session.settle();
  auto* view = window.findChild<TournamentView*>();
  ASSERT_TRUE(view);
  EXPECT_FALSE(view->isVisible());
  QTest::keyClick(&window, Qt::Key_F8);
  ASSERT_TRUE(view->isVisible());
  ASSERT_TRUE(QTest::qWaitFor([&] { return !view->model().running(); }, kPatience));
  TournamentModel& model = view->model();
  ASSERT_GE(model.rowCount(), 5);
  EXPECT_EQ(model.state(0), TournamentModel::RowState::Done);
  for (int row = 0; row < model.rowCount(); ++row)
    EXPECT_NE(model.state(row), TournamentModel::RowState::Left) << row;
  for (const int row : {0, 1}) {
    view->table().selectRow(row);
    session.settle();
    ASSERT_EQ(model.state(row), TournamentModel::RowState::Done);
    EXPECT_EQ(session.snapshot().strategy,
              complete(model.cell(row)->result.strategy, *session.snapshot().opened->cluster));
    EXPECT_FALSE(window.grab().isNull());
  }
  QTest::keyClick(&view->table(), Qt::Key_Return);
  ASSERT_TRUE(QTest::qWaitFor([&] { return session.workspace()->runs().size() == 1; }, kPatience));
  EXPECT_EQ(session.workspace()->runs()[0].planner, model.planner(1).toStdString());
  EXPECT_TRUE(failed.isEmpty()) << failed.join('\n').toStdString();
}

}  // namespace
}  // namespace strato
