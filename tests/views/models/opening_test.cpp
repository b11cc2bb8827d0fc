// What a person does while a workspace is being opened: nothing of it is lost.
#include <gtest/gtest.h>

#include "core/search/constraints/constraints.h"
#include "tests/views/models/fixture.h"
#include "tests/views/models/tiny_planners.h"
#include "views/models/run_queue.h"
#include "views/models/workspace_model.h"

namespace strato {
namespace {

class OpeningTest : public SessionTest {
 protected:
  static Constraints at_most(std::int64_t devices) {
    Constraints demand;
    demand.limits.push_back({{"*", {}}, devices});
    return demand;
  }
  // The problem has demands in test.strata, and none in other.strata, which is open.
  void begin() {
    open_workspace();
    ASSERT_NO_FATAL_FAILURE(open_lenet());
    ASSERT_TRUE(session_.constrain(at_most(1), "one device"));
    session_.settle();
    session_.open_workspace(folder_.filePath("other.strata").toStdString(), false);
    session_.settle();
    ASSERT_EQ(session_.constraints(), nullptr);
    QObject::connect(&session_, &Session::message,
                     [this](const QString& text) { messages_ << text; });
  }
  void reopen() { session_.open_workspace(folder_.filePath("test.strata").toStdString(), false); }

  QStringList messages_;
};

TEST_F(OpeningTest, ASearchBegunMeanwhileKeepsToTheDemands) {
  ASSERT_NO_FATAL_FAILURE(begin());
  reopen();
  PlannerOptions options;
  options.iterations = 10;
  session_.start_search("single-device", options);
  EXPECT_TRUE(messages_.join(' ').contains("as soon as the workspace is open"));
  session_.settle();
  ASSERT_TRUE(wait_until([&] {
    return session_.search().planner == "single-device" &&
           session_.search().state == SearchPhase::Idle;
  }));
  session_.settle();
  ASSERT_TRUE(session_.search_options().constraints);
  EXPECT_EQ(*session_.search_options().constraints, at_most(1));
  EXPECT_EQ(stored().runs().all().size(), 1u);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(OpeningTest, ASearchThatIsStoppedMeanwhileDoesNotBegin) {
  ASSERT_NO_FATAL_FAILURE(begin());
  reopen();
  session_.start_search("single-device", {});
  session_.stop_search();
  session_.settle();
  EXPECT_EQ(session_.search().state, SearchPhase::Idle);
  EXPECT_TRUE(session_.search().planner.isEmpty());
  EXPECT_TRUE(stored().runs().all().empty());
}

// The workspace shows another problem than the one that it was asked for.
TEST_F(OpeningTest, ASearchOfWhatIsNoLongerShownDoesNotBegin) {
  ASSERT_NO_FATAL_FAILURE(begin());
  reopen();
  session_.settle();
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(1)), "an edit");
  session_.settle();
  session_.open_workspace(folder_.filePath("other.strata").toStdString(), false);
  session_.settle();
  session_.regroup(3);
  session_.settle();
  session_.open_workspace(folder_.filePath("test.strata").toStdString(), true);
  session_.start_search("single-device", {});
  session_.settle();
  EXPECT_TRUE(messages_.join(' ').contains("not begun")) << messages_.join('|').toStdString();
  EXPECT_TRUE(stored().runs().all().empty());
}

TEST_F(OpeningTest, TheQueueAsksToWait) {
  ASSERT_NO_FATAL_FAILURE(begin());
  Gate gate;
  RunQueue queue(session_, tiny_factory(gate));
  reopen();
  EXPECT_TRUE(queue.add("dp", as_they_are()).contains("still being opened"));
  session_.settle();
  EXPECT_EQ(queue.add("dp", as_they_are()), QString());
  EXPECT_TRUE(wait_until([&] { return queue.running_row() < 0; }));
}

TEST_F(OpeningTest, DemandsMadeMeanwhileStayWhereItCannotBeOpened) {
  ASSERT_NO_FATAL_FAILURE(begin());
  session_.open_workspace(folder_.path().toStdString(), false);  // a folder
  ASSERT_TRUE(session_.constrain(at_most(2), "two devices"));
  session_.settle();
  EXPECT_EQ(failures_.size(), 1);
  ASSERT_TRUE(session_.constraints());
  EXPECT_EQ(*session_.constraints(), at_most(2));
}

// Those of each stay with it, whatever is opened after it.
TEST_F(OpeningTest, DemandsOfOneWorkspaceAreNotThoseOfAnother) {
  open_workspace();
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  ASSERT_TRUE(session_.constrain(at_most(1), "one device"));
  session_.settle();
  session_.open_workspace(folder_.filePath("other.strata").toStdString(), false);
  session_.open_workspace(folder_.path().toStdString(), false);  // a folder
  session_.settle();
  ASSERT_EQ(session_.workspace()->file(), folder_.filePath("other.strata").toStdString());
  EXPECT_EQ(session_.constraints(), nullptr);
}

TEST_F(OpeningTest, DemandsMadeWhileOneOfTwoIsOpenedStayInIt) {
  open_workspace();
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  session_.open_workspace(folder_.filePath("other.strata").toStdString(), false);
  ASSERT_TRUE(session_.constrain(at_most(2), "two devices"));
  session_.open_workspace(folder_.path().toStdString(), false);  // a folder
  session_.settle();
  ASSERT_TRUE(session_.constraints());
  EXPECT_EQ(*session_.constraints(), at_most(2));
  reopen();
  session_.settle();
  EXPECT_EQ(session_.constraints(), nullptr);
}

// A row of the one before is another in the next.
TEST_F(OpeningTest, WhatWasMeantForTheOneBeforeDoesNotChangeTheNext) {
  open_workspace();
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  for (const char* name : {"test.strata", "other.strata"}) {
    session_.open_workspace(folder_.filePath(name).toStdString(), false);
    session_.settle();
    session_.decide({GroupId(0)}, decision_on_device(DeviceId(1)), name);
    session_.settle();
    session_.undo_stack().undo();
    session_.settle();
  }
  const StrategyRow row = session_.workspace()->strategies().front().id;
  const std::string label = session_.workspace()->strategies().front().label;
  reopen();
  session_.rename_strategy(row, "renamed");
  session_.in_workspace([](Workspace& workspace) { workspace.settings().set("stray", "1"); });
  session_.settle();
  EXPECT_EQ(stored().strategies().all().front().label, label);
  EXPECT_FALSE(stored().settings().find("stray"));
}

// Whoever closes the window waits for what is stored, and for nothing else.
TEST_F(OpeningTest, NothingIsReadAnyMoreOnceAllIsToBeStored) {
  ASSERT_NO_FATAL_FAILURE(begin());
  { Workspace(session_.workspace()->file()).settings().set("written elsewhere", "1"); }
  int told = 0;
  QObject::connect(&session_, &Session::workspace_changed, [&] { ++told; });
  EXPECT_TRUE(session_.store_all(std::chrono::seconds(60)));
  session_.look_at_workspace();
  session_.rename_strategy(1, "last word");
  session_.settle();
  EXPECT_EQ(told, 0);
}

// Its tree stays open as it was, and so do its demands.
TEST_F(OpeningTest, TheSameWorkspaceAgainChangesNothing) {
  ASSERT_NO_FATAL_FAILURE(begin());
  reopen();
  session_.settle();
  WorkspaceModel model(session_);
  int resets = 0, unread = 0;
  QObject::connect(&model, &QAbstractItemModel::modelReset, [&] { ++resets; });
  QObject::connect(&session_, &Session::workspace_changed,
                   [&] { unread += session_.workspace()->is_read() ? 0 : 1; });
  reopen();
  ASSERT_TRUE(session_.constrain(at_most(2), "two devices"));
  session_.settle();
  EXPECT_EQ(resets, 0);
  EXPECT_EQ(unread, 0);
  ASSERT_TRUE(session_.constraints());
  EXPECT_EQ(*session_.constraints(), at_most(2));
  EXPECT_GT(model.rowCount({}), 0);
}

}  // namespace
}  // namespace strato
