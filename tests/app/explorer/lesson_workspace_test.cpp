// What lessons do stays in a workspace of their own, however they are left; and what the next start
// finds again: the workspace and the budget of searches.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include "app/explorer/header_bar.h"
#include "app/explorer/last_workspace.h"
#include "app/explorer/main_window.h"
#include "tests/app/explorer/sample.h"
#include "views/lessons/lesson_panel.h"
#include "views/models/problem_source.h"
#include "views/models/strategy_edits.h"

namespace strato {
namespace {

// With settings and data of its own.
class LessonWorkspaceTest : public ::testing::Test {
 protected:
  LessonWorkspaceTest() : data_before_(qgetenv("XDG_DATA_HOME")) {
    qputenv("XDG_DATA_HOME", folder_.path().toUtf8());
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder_.path());
    QSettings().clear();
  }
  ~LessonWorkspaceTest() override {
    QSettings().clear();
    data_before_.isEmpty() ? qunsetenv("XDG_DATA_HOME") : qputenv("XDG_DATA_HOME", data_before_);
  }

  QTemporaryDir folder_;
  QByteArray data_before_;
};

TEST_F(LessonWorkspaceTest, OnesOwnWorkIsThereAfterwards) {
  Session session;
  QStringList failed;
  QObject::connect(&session, &Session::failed, [&](const QString& text) { failed << text; });
  MainWindow window(session, true);
  window.show();
  auto* panel = window.findChild<LessonPanel*>();
  session.open_workspace(folder_.filePath("own.strata").toStdString(), false);
  session.open_cluster(sample("clusters/tag-2x1080ti.json").toStdString());
  ImportOptions import;
  import.batch = 16;
  session.open_model(sample("models/lenet.onnx").toStdString(), import, {});
  session.settle();
  ASSERT_TRUE(session.snapshot().problem);
  session.decide({GroupId(0)}, decision_on_device(DeviceId(1)), QStringLiteral("by hand"));
  session.settle();
  session.settle();
  const Digest graph = session.snapshot().problem->graph->digest();
  const Digest cluster = session.snapshot().problem->cluster->digest();
  const Strategy strategy = session.snapshot().strategy;
  for (const bool opened : {false, true}) {
    SCOPED_TRACE(opened);
    panel->begin(panel->lessons().front().id);
    ASSERT_TRUE(panel->player().opening());
    if (opened) {
      ASSERT_TRUE(QTest::qWaitFor([&] { return !panel->player().opening(); }, kPatience));
      session.settle();
    }
    panel->show_list();
    session.settle();
    session.settle();
    EXPECT_EQ(session.workspace()->file().filename(), "own.strata");
    EXPECT_EQ(session.snapshot().problem->graph->digest(), graph);
    EXPECT_EQ(session.snapshot().problem->cluster->digest(), cluster);
    EXPECT_EQ(session.snapshot().strategy.groups, strategy.groups);
    EXPECT_EQ(session.workspace()->models().size(), 1u);
    EXPECT_EQ(session.workspace()->clusters().size(), 1u);
  }
  EXPECT_TRUE(failed.isEmpty()) << failed.join('\n').toStdString();
}

TEST_F(LessonWorkspaceTest, AWindowThatIsClosedWhileItOpensDidNotCrash) {
  Session session;
  LastWorkspace last(session);
  session.open_workspace(folder_.filePath("own.strata").toStdString(), false);
  session.settle();
  const QString own = QSettings().value(QStringLiteral("workspace/last")).toString();
  ASSERT_TRUE(own.endsWith(QStringLiteral("own.strata")));
  last.begins(own);
  last.ends();
  QString trouble;
  EXPECT_EQ(LastWorkspace::to_reopen(trouble), own);
  EXPECT_TRUE(trouble.isEmpty());
  last.begins(own);
  EXPECT_EQ(LastWorkspace::to_reopen(trouble), QString());
  EXPECT_FALSE(trouble.isEmpty());
  last.stands_in(folder_.filePath("other.strata"));
  session.open_workspace(folder_.filePath("other.strata").toStdString(), false);
  session.settle();
  EXPECT_EQ(LastWorkspace::to_reopen(trouble), own);
}

TEST_F(LessonWorkspaceTest, TheBudgetIsRemembered) {
  const auto reopened = [](const QString& written) {
    Session session;
    MainWindow window(session, true);
    auto* header = window.findChild<HeaderBar*>();
    const QString found = header->budget();
    if (!written.isEmpty()) header->findChild<QComboBox*>("budget")->setCurrentText(written);
    window.close();
    return found;
  };
  const QString usual = reopened(QStringLiteral("45 s"));
  EXPECT_NE(usual, QStringLiteral("45 s"));
  EXPECT_EQ(reopened(QStringLiteral("soon")), QStringLiteral("45 s"));
  EXPECT_EQ(reopened({}), QStringLiteral("45 s")) << "no budget was written last";
  EXPECT_NE(usual, QString());
}

}  // namespace
}  // namespace strato
