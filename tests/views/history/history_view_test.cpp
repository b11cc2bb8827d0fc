// The tree of edits: grows with each, keeps branches, comes back with the workspace.
#include "views/history/history_view.h"

#include <QAbstractItemModelTester>
#include <QTableView>
#include <QTest>

#include "tests/views/models/fixture.h"
#include "tests/views/models/tiny_planners.h"
#include "views/models/strategy_edits.h"

namespace strato {
namespace {

class History : public SessionTest {
 protected:
  void SetUp() override {
    view_.resize(240, 400);
    view_.show();
  }
  void edit(std::size_t group, Mode mode) {
    const std::vector<GroupId> groups = {GroupId(group)};
    session_.edit(with_mode(session_.snapshot().strategy, groups, mode),
                  QStringLiteral("%1 to %2").arg(group).arg(static_cast<int>(mode)));
    session_.settle();
  }
  // "1 to 2" beside "2 to 2", in a workspace.
  void store_a_branch() {
    open_workspace();
    open_lenet();
    edit(0, Mode::ModelParallel);
    edit(1, Mode::Duplicate);
    session_.undo_stack().undo();
    edit(2, Mode::Duplicate);
  }
  EditHistory& model() { return view_.model(); }
  QString name(int row) { return model().index(row, EditHistory::Name).data().toString(); }
  int level(int row) {
    return model().index(row, EditHistory::Name).data(EditHistory::LevelRole).toInt();
  }
  // Lines that leave a row upwards and downwards, by level.
  std::pair<unsigned, unsigned> lines(int row) {
    const QModelIndex index = model().index(row, EditHistory::Name);
    return {index.data(EditHistory::AboveRole).toUInt(),
            index.data(EditHistory::BelowRole).toUInt()};
  }
  int row_of(const QString& name) {
    for (int row = 0; row < model().rowCount(); ++row)
      if (this->name(row) == name) return row;
    return -1;
  }

  HistoryView view_{session_};
};

TEST_F(History, IsAListUntilItBranches) {
  const QAbstractItemModelTester tester(&model(),
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  EXPECT_EQ(model().rowCount(), 0);
  open_lenet();
  EXPECT_EQ(model().rowCount(), 1);
  const Strategy start = session_.snapshot().strategy;
  edit(0, Mode::ModelParallel);
  edit(1, Mode::Duplicate);
  ASSERT_EQ(model().rowCount(), 3);
  EXPECT_EQ(name(1), "0 to 3");
  EXPECT_EQ(name(2), "1 to 2");
  for (int row = 0; row < 3; ++row) EXPECT_EQ(level(row), 0) << row;
  EXPECT_EQ(model().current_row(), 2);
  EXPECT_FALSE(model().index(2, EditHistory::Step).data().toString().isEmpty());
  // Undone, then edited otherwise: what was undone stays, as a branch.
  session_.undo_stack().undo();
  session_.settle();
  EXPECT_EQ(model().rowCount(), 3);
  EXPECT_EQ(model().current_row(), 1);
  edit(2, Mode::Duplicate);
  ASSERT_EQ(model().rowCount(), 4);
  EXPECT_EQ(level(row_of(QStringLiteral("1 to 2"))), 1);
  EXPECT_EQ(level(row_of(QStringLiteral("2 to 2"))), 0);
  EXPECT_EQ(model().current_row(), row_of(QStringLiteral("2 to 2")));
  // The line goes past the branch, which goes on nowhere.
  using Lines = std::pair<unsigned, unsigned>;
  EXPECT_EQ(lines(0), Lines(0, 1));
  EXPECT_EQ(lines(1), Lines(1, 1));
  EXPECT_EQ(lines(2), Lines(1, 1));
  EXPECT_EQ(lines(3), Lines(1, 0));
  // Back to the branch by a click, and from there by undo: no state is lost on the way.
  const QModelIndex lost = model().index(row_of(QStringLiteral("1 to 2")), 0);
  QTest::mouseClick(view_.table()->viewport(), Qt::LeftButton, {},
                    view_.table()->visualRect(lost).center());
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy.groups[GroupId(1)]->mode, Mode::Duplicate);
  EXPECT_EQ(session_.snapshot().strategy.groups[GroupId(2)]->mode, start.groups[GroupId(2)]->mode);
  EXPECT_EQ(model().current_row(), row_of(QStringLiteral("1 to 2")));
  session_.undo_stack().undo();
  session_.settle();
  EXPECT_EQ(model().current_row(), row_of(QStringLiteral("2 to 2")));
  EXPECT_EQ(model().rowCount(), 4);
}

TEST_F(History, IsWalkedAndRenamedByKeyboard) {
  open_lenet();
  edit(0, Mode::ModelParallel);
  edit(0, Mode::Duplicate);
  view_.table()->setCurrentIndex(model().index(0, EditHistory::Name));
  QTest::keyClick(view_.table(), Qt::Key_Return);
  session_.settle();
  EXPECT_EQ(model().current_row(), 0);
  EXPECT_TRUE(model().setData(model().index(1, 0), QStringLiteral("my try"), Qt::EditRole));
  EXPECT_EQ(name(1), "my try");
  EXPECT_FALSE(model().setData(model().index(1, 0), QStringLiteral("  "), Qt::EditRole));
  EXPECT_FALSE(model().setData(model().index(1, EditHistory::Step), 3, Qt::EditRole));
  model().go_to(-1);
  model().go_to(99);
  view_.grab();
}

// Both are shown, and no line says that one was made of the other.
TEST_F(History, NothingIsBetweenStatesThatHaveNothingToDoWithEachOther) {
  open_lenet();
  edit(0, Mode::ModelParallel);
  session_.show_found(all_on(problem(), 0), QStringLiteral("elsewhere"));
  session_.settle();
  ASSERT_EQ(model().rowCount(), 3);
  EXPECT_EQ(name(2), "elsewhere");
  EXPECT_EQ(level(2), 0);
  using Lines = std::pair<unsigned, unsigned>;
  EXPECT_EQ(lines(1), Lines(1, 0));
  EXPECT_EQ(lines(2), Lines(0, 0));
}

// Fusion buckets are of no group: changing them is an edit all the same.
TEST_F(History, WhatChangesNoGroupIsAnEdit) {
  open_lenet();
  Strategy strategy = session_.snapshot().strategy;
  strategy.bucket = Bytes(1234567);
  session_.edit(strategy, QStringLiteral("smaller buckets"));
  session_.settle();
  EXPECT_TRUE(session_.snapshot().edited.empty());
  ASSERT_EQ(model().rowCount(), 2);
  EXPECT_EQ(name(1), "smaller buckets");
  EXPECT_EQ(lines(1).first, 1u);
}

// An edit is stored in its own time: a name that it has by then is its name there.
TEST_F(History, ANameGivenBeforeItIsStoredIsKept) {
  open_workspace();
  open_lenet();
  const std::vector<GroupId> groups = {GroupId(0)};
  session_.edit(with_mode(session_.snapshot().strategy, groups, Mode::ModelParallel),
                QStringLiteral("as it was called"));
  const Digest digest = session_.snapshot().strategy.digest();
  const auto row = [&] {
    const auto& all = session_.workspace()->strategies();
    return std::ranges::find(all, digest, &StoredStrategy::digest);
  };
  ASSERT_EQ(row(), session_.workspace()->strategies().end());  // else it tests nothing
  ASSERT_TRUE(model().setData(model().index(model().current_row(), EditHistory::Name),
                              QStringLiteral("as a person calls it"), Qt::EditRole));
  session_.settle();
  ASSERT_TRUE(wait_until([&] {
    return row() != session_.workspace()->strategies().end() &&
           row()->label == "as a person calls it";
  }));
  EXPECT_EQ(name(model().current_row()), "as a person calls it");
}

TEST_F(History, OfTwentyUndoStepsDuringASimulation) {
  open_lenet();
  for (std::size_t i = 0; i < 20; ++i) {
    const auto mode = static_cast<Mode>(1 + i % 3);
    session_.edit(with_mode(session_.snapshot().strategy, std::vector{GroupId(i % 8)}, mode),
                  QStringLiteral("step %1").arg(i));
  }
  const int rows = model().rowCount();
  for (int i = 0; i < 20; ++i) session_.undo_stack().undo();
  for (int i = 0; i < 20; ++i) session_.undo_stack().redo();
  session_.settle();
  EXPECT_EQ(model().rowCount(), rows);
  EXPECT_GE(rows, 20);
  EXPECT_GE(model().current_row(), 0);
}

TEST_F(History, ComesBackWithTheWorkspace) {
  store_a_branch();
  ASSERT_TRUE(wait_until([&] { return model().rowCount() == 4; }));
  model().setData(model().index(row_of(QStringLiteral("1 to 2")), 0), QStringLiteral("branch"),
                  Qt::EditRole);
  session_.settle();
  Session other;
  HistoryView view(other);
  other.open_workspace(folder_.filePath("test.strata").toStdString(), true);
  other.settle();
  EditHistory& again = view.model();
  ASSERT_TRUE(wait_until([&] { return again.rowCount() == 4; }));
  int branch = -1;
  for (int row = 0; row < 4; ++row)
    if (again.index(row, 0).data().toString() == QStringLiteral("branch")) branch = row;
  ASSERT_GE(branch, 0);
  EXPECT_EQ(again.index(branch, 0).data(EditHistory::LevelRole).toInt(), 1);
  again.go_to(branch);
  other.settle();
  EXPECT_EQ(other.snapshot().strategy.groups[GroupId(1)]->mode, Mode::Duplicate);
  EXPECT_EQ(again.current_row(), branch);
  EXPECT_EQ(again.rowCount(), 4);
}

// The workspace is read in its own time: what is shown may stand there first, or be made once more
// by other ways.
TEST_F(History, IsTheSameWhicheverIsKnownFirst) {
  store_a_branch();
  Session other;
  HistoryView view(other);
  open_on_two(other, "models/lenet.onnx", 16, 8);
  ASSERT_TRUE(other.snapshot().problem);
  EditHistory& again = view.model();
  other.edit(session_.snapshot().strategy, QStringLiteral("by another way"));
  other.settle();
  other.open_workspace(folder_.filePath("test.strata").toStdString(), false);
  ASSERT_TRUE(wait_until([&] { return again.rowCount() >= 4; }));
  const auto row_of = [&](const QString& name) {
    for (int row = 0; row < again.rowCount(); ++row)
      if (again.index(row, EditHistory::Name).data().toString() == name) return row;
    return -1;
  };
  EXPECT_EQ(again.rowCount(), 4);
  EXPECT_EQ(again.current_row(), row_of(QStringLiteral("2 to 2")));
  EXPECT_EQ(again.index(row_of(QStringLiteral("1 to 2")), 0).data(EditHistory::LevelRole), 1);
  EXPECT_EQ(again.index(again.current_row(), 0).data(EditHistory::LevelRole), 0);
}

// A search had it on its way to its best: what is made by hand has its own name and its own place.
TEST_F(History, AnEditThatASearchHadPassedIsAnEdit) {
  open_workspace();
  open_lenet();
  edit(0, Mode::ModelParallel);
  const Strategy start = session_.snapshot().strategy;
  const Strategy wanted = with_mode(start, std::vector{GroupId(1)}, Mode::Duplicate);
  const StoredStrategy like = session_.workspace()->strategies().back();
  session_.in_workspace([like, wanted](Workspace& workspace) {
    StoredRun run;
    run.model = like.model;
    run.cluster = like.cluster;
    run.planner = "mcts";
    run.id = workspace.add(run);
    StoredStrategy passed = like;
    passed.parent.reset();
    passed.run = run.id;
    passed.label = "passed";
    passed.digest = wanted.digest();
    workspace.add(passed);
    passed.digest = Digest();
    run.best = workspace.add(passed);
    workspace.update(run);
  });
  session_.settle();
  edit(1, Mode::Duplicate);
  session_.settle();
  ASSERT_EQ(model().rowCount(), 3);
  EXPECT_EQ(name(2), "1 to 2");
  EXPECT_EQ(model().current_row(), 2);
  for (const StoredStrategy& stored : session_.workspace()->strategies())
    EXPECT_TRUE(stored.digest != wanted.digest() || !stored.run);
}

TEST_F(History, ForgetsWhatIsOfAnotherProblem) {
  open_lenet();
  edit(0, Mode::ModelParallel);
  session_.open_cluster(sample("clusters/fastt-8xv100.json"));
  session_.settle();
  EXPECT_EQ(model().rowCount(), 1);
}

// Rows of one workspace are other strategies in another: nothing there is renamed or shown by them.
TEST_F(History, KnowsNoRowsOfAnotherWorkspace) {
  open_workspace();
  open_lenet();
  edit(0, Mode::ModelParallel);
  const Digest edited = session_.snapshot().strategy.digest();
  session_.open_workspace(folder_.filePath("second.strata").toStdString(), false);
  session_.settle();
  edit(1, Mode::Duplicate);
  session_.settle();
  const Strategy shown = session_.snapshot().strategy;
  ASSERT_EQ(model().rowCount(), 3);
  ASSERT_EQ(model().current_row(), 2);
  model().setData(model().index(1, EditHistory::Name), "mine", Qt::EditRole);
  session_.settle();
  for (const StoredStrategy& stored : session_.workspace()->strategies())
    EXPECT_TRUE(stored.label != "mine" || stored.digest == edited);
  model().go_to(row_of("mine"));
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy.groups[GroupId(0)]->mode, Mode::ModelParallel);
  EXPECT_FALSE(session_.snapshot().strategy == shown);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

}  // namespace
}  // namespace strato
