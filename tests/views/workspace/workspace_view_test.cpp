// What is typed above the workspace leaves those that have the words, with their edits.
#include "views/workspace/workspace_view.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTest>
#include <QTreeView>

#include "tests/views/models/fixture.h"
#include "tests/views/models/tiny_planners.h"
#include "views/workspace/item_panel.h"
#include "views/workspace/strategy_pictures.h"
#include "views/workspace/workspace_lines.h"

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
      ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
      session_.settle();
      if (session_.search().planner != "single-device")
        session_.decide({GroupId(0)}, decision_on_device(DeviceId(0)), "all on first GPU");
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
  EXPECT_EQ(names(), QStringList({"Runs", "dp-allreduce-proportional #1", "all on first GPU"}));
  type("GPU first");
  EXPECT_EQ(names(), QStringList({"Runs", "dp-allreduce-proportional #1", "all on first GPU"}));
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

// Whatever shows something: the row of it is marked, and can be seen.
TEST_F(WorkspaceViewTest, MarksWhatIsShown) {
  ASSERT_NO_FATAL_FAILURE(fill());
  const auto marked = [&] {
    QTreeView& tree = *view_.tree();
    const QModelIndex index = tree.currentIndex();
    for (QModelIndex above = index.parent(); above.isValid(); above = above.parent())
      EXPECT_TRUE(tree.isExpanded(above)) << index.data().toString().toStdString();
    EXPECT_EQ(tree.selectionModel()->selectedRows(), QModelIndexList{index.siblingAtColumn(0)});
    EXPECT_TRUE(index.data(Qt::FontRole).value<QFont>().bold());
    return index.siblingAtColumn(0).data().toString();
  };
  EXPECT_EQ(marked(), "single-device #2");
  session_.decide({GroupId(1)}, decision_on_device(DeviceId(1)), "by hand");
  session_.settle();
  session_.settle();
  EXPECT_EQ(marked(), "by hand");
  QTest::keyPress(view_.tree(), Qt::Key_Control, Qt::ControlModifier);  // of Ctrl+Z
  session_.undo_stack().undo();
  session_.settle();
  EXPECT_EQ(marked(), "single-device #2");
  QTest::keyRelease(view_.tree(), Qt::Key_Control);
  session_.show_run(1);
  session_.settle();
  EXPECT_EQ(marked(), "dp-allreduce-proportional #1");
  session_.show_run(2);
  session_.settle();
  session_.start_search("dp-allreduce-proportional", {});  // finds what the first one has found
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  session_.settle();
  EXPECT_EQ(marked(), "dp-allreduce-proportional #3");
  // What a person chooses stays chosen while nothing else is shown; what is shown is still known.
  ASSERT_TRUE(view_.choose(WorkspaceModel::Kind::Cluster, 1));
  session_.rename_strategy(session_.workspace()->strategies().back().id, "other name");
  session_.settle();
  EXPECT_EQ(view_.tree()->currentIndex().data().toString(), "TAG two 1080 Ti");
  // Another model was never searched.
  ImportOptions import;
  import.batch = 16;
  session_.open_model(sample("models/alexnet.onnx"), import, {});
  session_.settle();
  session_.settle();
  EXPECT_EQ(marked(), "alexnet, batch 16");
}

// Rows are found through the filter: what is opened is what was shown.
TEST_F(WorkspaceViewTest, OpensWhatIsLeft) {
  ASSERT_NO_FATAL_FAILURE(fill());
  type("on first");
  const QAbstractItemModel& model = *view_.tree()->model();
  const QModelIndex edit = model.index(0, 0, model.index(0, 0, model.index(0, 0)));
  ASSERT_EQ(edit.data(), "all on first GPU");
  emit view_.tree()->activated(edit);
  session_.settle();
  EXPECT_EQ(session_.snapshot().label, "all on first GPU");
  // What is written while something is looked for appears when it has the words, else not.
  session_.decide({GroupId(1)}, decision_on_device(DeviceId(1)), "on first more");
  session_.settle();
  session_.settle();
  EXPECT_EQ(names().last(), "on first more");
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

// --- tags, notes, and where things come from
// -------------------------------------------------------------------------------------------

using Kind = WorkspaceModel::Kind;

class WorkspaceStory : public WorkspaceViewTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(fill());
    view_.resize(240, 600);
    view_.show();
    QApplication::setActiveWindow(&view_);
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&view_));
  }
  void settle() {
    session_.settle();
    session_.settle();
  }
  Annotation said(StoredKind kind, std::int64_t row) {
    return stored().annotations().of({kind, row});
  }
  StrategyRow row_of(const char* label) {
    for (const StoredStrategy& strategy : session_.workspace()->strategies())
      if (strategy.label == label) return strategy.id;
    return 0;
  }
  QString chosen() { return view_.tree()->currentIndex().siblingAtColumn(0).data().toString(); }
};

TEST_F(WorkspaceStory, TagsAndNotesAreWrittenInPlaceAndFoundAgain) {
  const QAbstractItemModelTester tester(view_.tree()->model(),
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  ASSERT_TRUE(view_.choose(Kind::Run, 1));
  EXPECT_TRUE(view_.panel().isVisible());
  view_.tree()->setFocus();
  QTest::keyClick(view_.tree(), Qt::Key_T);
  EXPECT_TRUE(view_.panel().tags().hasFocus());
  QTest::keyClicks(&view_.panel().tags(), "slow #Baseline slow");
  QTest::keyClick(&view_.panel().tags(), Qt::Key_Return);
  settle();
  EXPECT_EQ(said(StoredKind::Run, 1).tags, (std::vector<std::string>{"Baseline", "slow"}));
  EXPECT_EQ(chosen(), "dp-allreduce-proportional #1");  // it stays chosen
  QTest::keyClick(&view_.panel().tags(), Qt::Key_Escape);
  EXPECT_TRUE(view_.tree()->hasFocus());
  QTest::keyClick(view_.tree(), Qt::Key_N);
  EXPECT_TRUE(view_.panel().note().hasFocus());
  QTest::keyClicks(&view_.panel().note(), "for the report");
  ASSERT_TRUE(view_.choose(Kind::Model, 1));  // at once, not after a moment
  settle();
  EXPECT_EQ(said(StoredKind::Run, 1).note, "for the report");
  EXPECT_TRUE(said(StoredKind::Model, 1).empty());
  EXPECT_TRUE(view_.panel().note().toPlainText().isEmpty());
  type("tag:base");
  EXPECT_EQ(names(), QStringList({"Runs", "dp-allreduce-proportional #1", "all on first GPU"}));
  type("tag:slow tag:BASELINE report");
  EXPECT_EQ(names().size(), 3);
  type("tag:one");  // a word of a name is no tag
  EXPECT_TRUE(names().isEmpty());
  type("tag:");  // any
  EXPECT_EQ(names().size(), 3);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(WorkspaceStory, WrongTagsAreToldAndKeptInTheField) {
  ASSERT_TRUE(view_.choose(Kind::Run, 2));
  view_.panel().tags().setFocus();
  QTest::keyClicks(&view_.panel().tags(), QString(80, 'x'));
  QTest::keyClick(&view_.panel().tags(), Qt::Key_Return);
  settle();
  EXPECT_TRUE(said(StoredKind::Run, 2).empty());
  EXPECT_EQ(view_.panel().tags().text(), QString(80, 'x'));
  EXPECT_TRUE(failures_.isEmpty());
}

// A pasted address is no tag: it costs neither the other tags nor the note, also when another row
// is chosen before it is mended.
TEST_F(WorkspaceStory, AWordThatIsNoTagCostsNothingElse) {
  QStringList told;
  QObject::connect(&session_, &Session::message, [&](const QString& text) { told << text; });
  ASSERT_TRUE(view_.choose(Kind::Run, 2));
  view_.panel().tags().setFocus();
  QTest::keyClicks(&view_.panel().tags(), "good, " + QString(80, 'x') + ";#other");
  view_.panel().note().setFocus();
  QTest::keyClicks(&view_.panel().note(), "a long thought");
  ASSERT_TRUE(view_.choose(Kind::Run, 1));
  settle();
  EXPECT_EQ(said(StoredKind::Run, 2).tags, (std::vector<std::string>{"good", "other"}));
  EXPECT_EQ(said(StoredKind::Run, 2).note, "a long thought");
  EXPECT_TRUE(said(StoredKind::Run, 1).empty());
  EXPECT_EQ(told.filter("longer than 60 bytes").size(), 1) << told.join('\n').toStdString();
  ASSERT_TRUE(view_.choose(Kind::Run, 2));
  EXPECT_EQ(view_.panel().tags().text(), "good other");
  EXPECT_TRUE(failures_.isEmpty());
}

// Something else in the workspace changes before the tag is stored: it does not bring the old ones
// back, neither into the field nor into the workspace with the note.
TEST_F(WorkspaceStory, TagsThatAreOnTheirWayStayWhileTheNoteIsTyped) {
  Gate gate;
  Workspace(session_.workspace()->file())
      .annotations()
      .set({StoredKind::Run, 2}, {{"theirs"}, "theirs"});
  session_.look_at_workspace();
  settle();
  ASSERT_TRUE(view_.choose(Kind::Run, 1));
  session_.in_workspace([&](Workspace&) { gate.wait({}); });
  view_.panel().tags().setFocus();
  QTest::keyClicks(&view_.panel().tags(), "mine");
  QTest::keyClick(&view_.panel().tags(), Qt::Key_Tab);
  ASSERT_TRUE(view_.panel().note().hasFocus());
  emit session_.workspace_changed();  // as before the tag is stored
  EXPECT_EQ(view_.panel().tags().text(), "mine");
  ASSERT_TRUE(view_.choose(Kind::Run, 2));  // there and back
  EXPECT_EQ(view_.panel().tags().text(), "theirs");
  ASSERT_TRUE(view_.choose(Kind::Run, 1));
  EXPECT_EQ(view_.panel().tags().text(), "mine");
  view_.panel().note().setFocus();
  QTest::keyClicks(&view_.panel().note(), "and why");
  gate.open();
  settle();
  view_.panel().store();
  settle();
  EXPECT_EQ(said(StoredKind::Run, 1).tags, std::vector<std::string>{"mine"});
  EXPECT_EQ(said(StoredKind::Run, 1).note, "and why");
  // What another program says after that is shown again.
  view_.tree()->setFocus();
  Workspace(session_.workspace()->file()).annotations().set({StoredKind::Run, 1}, {{"later"}, ""});
  session_.look_at_workspace();
  settle();
  EXPECT_EQ(view_.panel().tags().text(), "later");
}

// What another program writes meanwhile does not take a word from under the fingers.
TEST_F(WorkspaceStory, WhatIsBeingWrittenStays) {
  ASSERT_TRUE(view_.choose(Kind::Run, 1));
  view_.panel().tags().setFocus();
  QTest::keyClicks(&view_.panel().tags(), "mine");
  Workspace(session_.workspace()->file())
      .annotations()
      .set({StoredKind::Run, 1}, {{"theirs"}, "theirs"});
  session_.look_at_workspace();
  settle();
  EXPECT_EQ(view_.panel().tags().text(), "mine");
  view_.hide();  // as when the window closes: stored at once
  settle();
  EXPECT_EQ(said(StoredKind::Run, 1).tags, std::vector<std::string>{"mine"});
}

// Another workspace is opened in the middle of a word: it goes where it was meant to go, and what
// has the same number there gets nothing.
TEST_F(WorkspaceStory, AnotherWorkspaceGetsNothingOfIt) {
  ASSERT_TRUE(view_.choose(Kind::Run, 1));
  view_.panel().tags().setFocus();
  QTest::keyClicks(&view_.panel().tags(), "mine");
  const std::filesystem::path first = session_.workspace()->file(),
                              second = folder_.filePath("second.strata").toStdString();
  {
    const Workspace from(first, true);
    Workspace to(second);
    to.add(*from.problems().model(1));
    to.add(*from.problems().cluster(1));
    StoredRun run = *from.runs().find(1);
    run.best.reset();
    ASSERT_EQ(to.add(run), 1);
  }
  QTest::keyClicks(&view_.panel().tags(), "-too");
  session_.open_workspace(second, false);
  settle();
  view_.panel().store();
  settle();
  EXPECT_EQ(Workspace(first, true).annotations().of({StoredKind::Run, 1}).tags,
            std::vector<std::string>{"mine-too"});
  EXPECT_TRUE(Workspace(second, true).annotations().of({StoredKind::Run, 1}).empty());
}

// The run goes while its note is being written: no box, no other's note.
TEST_F(WorkspaceStory, WhatIsGoneTakesItsNoteAlong) {
  ASSERT_TRUE(view_.choose(Kind::Run, 2));
  view_.panel().note().setFocus();
  QTest::keyClicks(&view_.panel().note(), "lost");
  session_.remove_run(2);
  settle();
  view_.panel().store();
  settle();
  EXPECT_FALSE(view_.choose(Kind::Run, 2));
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_TRUE(session_.workspace()->annotations().empty());
}

TEST_F(WorkspaceStory, BackspaceGoesToWhatItCameFrom) {
  session_.show_strategy(row_of("all on first GPU"));
  settle();
  session_.decide({GroupId(1)}, decision_on_device(DeviceId(1)), "second");
  settle();
  session_.decide({GroupId(2)}, decision_on_device(DeviceId(1)), "third <b>");
  settle();
  type("third");
  ASSERT_TRUE(view_.choose(Kind::Strategy, row_of("third <b>")));
  EXPECT_TRUE(view_.panel().lineage().contains("dp-allreduce-proportional #1"));
  EXPECT_TRUE(view_.panel().lineage().contains("all on first GPU"));
  view_.tree()->setFocus();
  QTest::keyClick(view_.tree(), Qt::Key_Backspace);  // also where the words hide it
  EXPECT_EQ(chosen(), "second");
  EXPECT_TRUE(view_.filter().text().isEmpty());
  QTest::keyClick(view_.tree(), Qt::Key_Backspace);
  EXPECT_EQ(chosen(), "all on first GPU");
  QTest::keyClick(view_.tree(), Qt::Key_Backspace);
  EXPECT_EQ(chosen(), "dp-allreduce-proportional #1");
  QTest::keyClick(view_.tree(), Qt::Key_Backspace);
  EXPECT_EQ(chosen(), session_.cluster_name());
  QTest::keyClick(view_.tree(), Qt::Key_Backspace);  // it came from nothing here
  EXPECT_EQ(chosen(), session_.cluster_name());
  session_.remove_run(1);  // its strategies stay, and still know each other
  settle();
  ASSERT_TRUE(view_.choose(Kind::Strategy, row_of("third <b>")));
  view_.show_origin();
  EXPECT_EQ(chosen(), "second");
}

TEST_F(WorkspaceStory, PicturesAreDrawnOnceAndKept) {
  const QSize size(24, 12);
  const StrategyRow row = row_of("all on first GPU");
  StrategyPictures& pictures = view_.pictures();
  pictures.picture(row, size, false);
  pictures.wait();
  ASSERT_TRUE(wait_until([&] { return !pictures.picture(row, size, false).isNull(); }));
  EXPECT_EQ(pictures.picture(row, size, false).size(), size);
  EXPECT_TRUE(pictures.picture(0, size, false).isNull());
  EXPECT_TRUE(pictures.picture(row, QSize(), false).isNull());
  pictures.picture(99999, size, false);
  pictures.wait();
  QCoreApplication::processEvents();
  EXPECT_TRUE(pictures.picture(99999, size, false).isNull());
  ASSERT_TRUE(view_.choose(Kind::Strategy, row));
  const WorkspaceLines lines(pictures, nullptr);
  lines.tip_html(view_.tree()->currentIndex(), false);
  pictures.wait();
  ASSERT_TRUE(wait_until([&] {
    return lines.tip_html(view_.tree()->currentIndex(), false)
        .startsWith("<img src=\"data:image/png");
  }));
}

TEST_F(WorkspaceStory, ChosenRunsOrAllThatTheWordsLeaveGoIntoOneChart) {
  EXPECT_EQ(view_.runs_to_chart(), (std::vector<RunRow>{2, 1}));
  type("single");
  EXPECT_EQ(view_.runs_to_chart(), std::vector<RunRow>{2});
  type("");
  ASSERT_TRUE(view_.choose(Kind::Run, 1));
  std::vector<RunRow> wanted;
  QObject::connect(&view_, &WorkspaceView::convergence_wanted,
                   [&](const std::vector<RunRow>& runs) { wanted = runs; });
  view_.tree()->setFocus();
  QTest::keyClick(view_.tree(), Qt::Key_C);
  EXPECT_EQ(wanted, std::vector<RunRow>{1});
}

// A run more comes into the list: all that were chosen stay so.
TEST_F(WorkspaceStory, SeveralChosenRunsStayChosenWhenTheListIsReadAgain) {
  session_.start_search("single-device", {});
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  settle();
  ASSERT_TRUE(view_.choose(Kind::Run, 1));
  const QModelIndex first = view_.tree()->currentIndex();
  ASSERT_TRUE(view_.choose(Kind::Run, 3));
  view_.tree()->selectionModel()->select(first,
                                         QItemSelectionModel::Select | QItemSelectionModel::Rows);
  ASSERT_EQ(view_.runs_to_chart(), (std::vector<RunRow>{3, 1}));
  {
    Workspace workspace(session_.workspace()->file());
    StoredRun run = *workspace.runs().find(1);
    run.best.reset();
    workspace.add(run);
  }
  session_.look_at_workspace();
  settle();
  EXPECT_EQ(view_.runs_to_chart(), (std::vector<RunRow>{3, 1}));
  EXPECT_EQ(chosen(), "single-device #3");
}

// Weeks of work by hand in one line: on one level, and quick.
TEST_F(WorkspaceStory, AThousandEditsInALine) {
  {
    Workspace workspace(session_.workspace()->file());
    StoredStrategy strategy = *workspace.strategies().find(row_of("all on first GPU"));
    strategy.run.reset();
    for (int i = 0; i < 1000; ++i) {
      strategy.parent = i == 0 ? row_of("all on first GPU") : strategy.id;
      strategy.label = "edit " + std::to_string(i);
      strategy.digest = digest_of(strategy.label);
      strategy.id = workspace.add(strategy);
    }
  }
  session_.look_at_workspace();
  settle();
  ASSERT_TRUE(view_.choose(Kind::Strategy, row_of("edit 999")));
  EXPECT_EQ(view_.tree()->currentIndex().parent().data().toString(),
            "dp-allreduce-proportional #1");
  EXPECT_TRUE(view_.panel().lineage().contains("…"));
  EXPECT_LT(view_.panel().lineage().size(), 2000);
  view_.show_origin();
  EXPECT_EQ(chosen(), "edit 998");
}

}  // namespace
}  // namespace strato
