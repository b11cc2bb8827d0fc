// What is typed above the workspace leaves those that have the words, with their edits.
#include "views/workspace/workspace_view.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QTest>
#include <QTreeView>

#include "tests/views/models/fixture.h"

namespace strato {
namespace {

class WorkspaceViewTest : public SessionTest {
 protected:
  // Two runs; the first one's result was edited.
  void fill() {
    open_workspace();
    open_lenet();
    for (const char* planner : {"dp-allreduce-proportional", "single-device"}) {
      session_.start_search(planner, {});
      ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchState::Idle; }));
      session_.settle();
      if (session_.search().planner != "single-device")
        session_.decide({GroupId(0)}, decision_on_device(DeviceId(0)), "all on one");
      session_.settle();
    }
    session_.settle();
  }
  QStringList names(const QModelIndex& parent = {}) const {
    QStringList result;
    const QAbstractItemModel& model = *view_.tree()->model();
    for (int row = 0; row < model.rowCount(parent); ++row) {
      const QModelIndex index = model.index(row, 0, parent);
      result << index.data().toString();
      result << names(index);
    }
    return result;
  }
  void type(const char* words) {
    view_.filter().clear();
    QTest::keyClicks(&view_.filter(), QString::fromUtf8(words));
  }

  mutable WorkspaceView view_{session_};
};

TEST_F(WorkspaceViewTest, LeavesWhatHasAllOfTheWordsAndTheirEdits) {
  ASSERT_NO_FATAL_FAILURE(fill());
  const QAbstractItemModelTester tester(view_.tree()->model(),
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  const QStringList all = names();
  EXPECT_EQ(all.filter("#").size(), 2);
  type("proportional");
  EXPECT_EQ(names(), QStringList({"Runs", "dp-allreduce-proportional #1", "all on one"}));
  type("ON one");
  EXPECT_EQ(names(), QStringList({"Runs", "dp-allreduce-proportional #1", "all on one"}));
  type("single finished");
  EXPECT_EQ(names(), QStringList({"Runs", "single-device #2"}));
  EXPECT_TRUE(view_.tree()->isVisibleTo(&view_));
  type("nobody");
  EXPECT_TRUE(names().isEmpty());
  EXPECT_FALSE(view_.tree()->isVisibleTo(&view_));
  EXPECT_TRUE(view_.filter().isVisibleTo(&view_));  // to take the word back
  type("");
  EXPECT_EQ(names(), all);
  EXPECT_TRUE(view_.tree()->isVisibleTo(&view_));
}

// Rows are found through the filter: what is opened is what was shown.
TEST_F(WorkspaceViewTest, OpensWhatIsLeft) {
  ASSERT_NO_FATAL_FAILURE(fill());
  type("on one");
  const QAbstractItemModel& model = *view_.tree()->model();
  const QModelIndex edit = model.index(0, 0, model.index(0, 0, model.index(0, 0)));
  ASSERT_EQ(edit.data(), "all on one");
  emit view_.tree()->activated(edit);
  session_.settle();
  EXPECT_EQ(session_.snapshot().label, "all on one");
  // What is written while something is looked for appears when it has the words, else not.
  session_.decide({GroupId(1)}, decision_on_device(DeviceId(1)), "on one more");
  session_.settle();
  session_.settle();
  EXPECT_EQ(names().last(), "on one more");
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

}  // namespace
}  // namespace strato
