// Launches that the workspace keeps: the list, showing one again, and a job that goes on without
// the window.
#include <QAbstractItemModelTester>
#include <QUndoStack>

#include "core/strategy/file/named_strategy.h"
#include "tests/views/models/fake_launcher.h"
#include "tests/views/models/fixture.h"
#include "tests/views/models/model_tester.h"
#include "tests/views/models/tiny_planners.h"
#include "views/models/launch_model.h"
#include "views/models/stored_launches_model.h"

namespace strato {
namespace {

using State = LaunchModel::State;
using Column = StoredLaunchesModel::Column;

class StoredLaunches : public SessionTest {
 protected:
  void SetUp() override { make_model(); }
  void make_model() { model_ = std::make_unique<LaunchModel>(session_, fake_factory(cluster_)); }

  void launch(const char* job) {
    const int before = cluster_.launched();
    LaunchChoice choice = cluster_job(cluster_, job, folder_.path());
    choice.options.engine = "torch";  // nothing can be learned from a replay
    model_->start(choice);
    ASSERT_TRUE(wait_until([&] { return cluster_.launched() > before; }));
  }
  void finish(double factor) {
    cluster_.finish(stretched(*session_.snapshot().outcome->timeline, factor, 3, 2));
    ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
    session_.settle();
  }
  QString cell(int row, Column column) { return list_.data(list_.index(row, column)).toString(); }

  FakeCluster cluster_;
  StoredLaunchesModel list_{session_};
  QAbstractItemModelTester tester_{&list_, kFatal};
  std::unique_ptr<LaunchModel> model_;
};

TEST_F(StoredLaunches, AreListedTheLatestFirst) {
  EXPECT_EQ(list_.rowCount(), 0);
  open_workspace();
  open_lenet();
  launch("fake:1");
  finish(1.5);
  launch("fake:2");
  cluster_.end(JobState::Failed, "rank 1: no memory");
  ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
  ASSERT_TRUE(wait_until([&] { return list_.rowCount() == 2; }));
  EXPECT_EQ(cell(0, Column::State), "failed");
  EXPECT_EQ(list_.data(list_.index(0, Column::State), Qt::ToolTipRole), "rank 1: no memory");
  EXPECT_EQ(cell(0, Column::Measured), "");
  EXPECT_EQ(cell(0, Column::Error), "");
  EXPECT_EQ(cell(1, Column::State), "finished");
  EXPECT_EQ(cell(1, Column::Launcher), "slurm");
  EXPECT_EQ(cell(1, Column::Plan), session_.snapshot().label);
  EXPECT_TRUE(cell(1, Column::Error).contains(QStringLiteral("50")))
      << cell(1, Column::Error).toStdString();
  EXPECT_FALSE(cell(1, Column::When).isEmpty());
}

TEST_F(StoredLaunches, OneIsShownAgainWithWhatItTook) {
  open_workspace();
  open_lenet();
  const Digest launched = session_.snapshot().strategy.digest();
  launch("fake:1");
  finish(1.5);
  ASSERT_TRUE(wait_until([&] { return list_.rowCount() == 1; }));
  const LaunchRow row = list_.launch(0).id;
  session_.show_found(all_on(problem(), 0), QStringLiteral("one"));
  session_.settle();
  EXPECT_EQ(session_.measured(), nullptr);
  make_model();  // of another window
  model_->show_stored(row);
  ASSERT_TRUE(wait_until([&] { return model_->state() == State::Finished; }));
  EXPECT_EQ(session_.snapshot().strategy.digest(), launched);
  EXPECT_EQ(model_->stored_row(), row);
  EXPECT_TRUE(model_->from_workspace());
  ASSERT_EQ(model_->steps().size(), 3u);
  EXPECT_EQ(model_->steps()[2].step, 3);
  EXPECT_NEAR(*model_->steps()[2].loss, 2.0, 1e-9);
  ASSERT_TRUE(session_.measured());
  EXPECT_NEAR(session_.measured()->comparison.error(), 0.5, 0.01);
  EXPECT_EQ(session_.measured()->result.peaks.size(), 2u);
  model_->learn();
  ASSERT_TRUE(wait_until([&] { return model_->learned().has_value(); }));
  EXPECT_NEAR(model_->learned()->error_after, 0, 0.2);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_EQ(list_.rowCount(), 1);  // nothing was stored again
}

TEST_F(StoredLaunches, DeletingIsUndone) {
  open_workspace();
  open_lenet();
  launch("fake:1");
  finish(1);
  ASSERT_TRUE(wait_until([&] { return list_.rowCount() == 1; }));
  const LaunchRow row = list_.launch(0).id;
  session_.remove_launch(row);
  ASSERT_TRUE(wait_until([&] { return list_.rowCount() == 0; }));
  session_.undo_stack().undo();
  ASSERT_TRUE(wait_until([&] { return list_.rowCount() == 1; }));
  EXPECT_EQ(list_.launch(0).id, row);
  EXPECT_FALSE(stored().launches().find(row)->result.empty());
  session_.undo_stack().redo();
  ASSERT_TRUE(wait_until([&] { return list_.rowCount() == 0; }));
  session_.remove_launch(99);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(StoredLaunches, AJobThatOutlivesTheWindowIsLeftAndFollowedAgain) {
  open_workspace();
  open_lenet();
  launch("slurm:7");
  ASSERT_TRUE(wait_until([&] { return list_.rowCount() == 1; }));
  EXPECT_EQ(cell(0, Column::State), "running");
  EXPECT_EQ(list_.left_running(), 0);
  EXPECT_EQ(list_.launch(0).job, "slurm:7");
  ASSERT_TRUE(model_->can_be_left());
  model_->leave();
  model_.reset();
  session_.settle();
  EXPECT_FALSE(cluster_.cancelled());
  EXPECT_EQ(cluster_.alive(), 0);
  EXPECT_EQ(session_.workspace()->launches().at(0).state, LaunchState::Running);

  make_model();
  model_->follow_stored(list_.launch(0).id);
  ASSERT_TRUE(wait_until([&] { return cluster_.attached() == 1; }))
      << model_->problem().toStdString();
  EXPECT_TRUE(model_->running());
  cluster_.step(1, Nanos(20'000'000), 2.5);
  ASSERT_TRUE(wait_until([&] { return model_->steps().size() == 1; }));
  finish(2);
  ASSERT_TRUE(wait_until([&] { return cell(0, Column::State) == "finished"; }));
  EXPECT_EQ(list_.rowCount(), 1);
  EXPECT_EQ(list_.left_running(), -1);
  EXPECT_FALSE(session_.workspace()->launches().at(0).measured_ns == 0);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(StoredLaunches, AJobThatEndsAtOnceIsStoredOnce) {
  open_workspace();
  open_lenet();
  for (int i = 0; i < 3; ++i) {
    launch("slurm:8");
    cluster_.end(JobState::Cancelled, "");
    ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
    ASSERT_TRUE(wait_until(
        [&] { return list_.rowCount() == i + 1 && cell(0, Column::State) == "cancelled"; }));
  }
}

TEST_F(StoredLaunches, WhatCannotBeFollowedStaysAsItIs) {
  open_workspace();
  open_lenet();
  launch("slurm:9");
  ASSERT_TRUE(wait_until([&] { return list_.rowCount() == 1; }));
  model_->leave();
  ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
  cluster_.name("slurm:10");  // the controller knows no other
  model_->follow_stored(list_.launch(0).id);
  ASSERT_TRUE(wait_until([&] { return model_->state() == State::Failed; }));
  EXPECT_TRUE(model_->problem().contains(QStringLiteral("not known")));
  session_.settle();
  EXPECT_EQ(session_.workspace()->launches().at(0).state, LaunchState::Running);
  model_->show_stored(list_.launch(0).id);
  ASSERT_TRUE(wait_until([&] { return model_->problem().contains(QStringLiteral("slurm:9")); }));
}

// Nobody would offer to follow a job that has been cancelled.
TEST_F(StoredLaunches, AJobThatClosingCancelsIsStoredAsCancelled) {
  open_workspace();
  open_lenet();
  launch("slurm:11");
  ASSERT_TRUE(wait_until([&] { return model_->stored_row() != 0; }));
  model_.reset();
  EXPECT_TRUE(cluster_.cancelled());
  session_.settle();
  ASSERT_EQ(session_.workspace()->launches().size(), 1u);
  EXPECT_EQ(session_.workspace()->launches()[0].state, LaunchState::Cancelled);
  ASSERT_TRUE(wait_until([&] { return list_.left_running() == -1; }));
}

// It is never shown with another strategy than its own.
TEST_F(StoredLaunches, OneWhoseStrategyIsNotShownIsNotShown) {
  open_workspace();
  open_lenet();
  launch("fake:1");
  finish(1);
  ASSERT_TRUE(wait_until([&] { return list_.rowCount() == 1; }));
  make_model();
  model_->show_stored(list_.launch(0).id);
  session_.regroup(7);  // at the same time
  session_.settle();
  EXPECT_EQ(model_->stored_row(), 0);
  EXPECT_EQ(model_->state(), State::Idle);
}

// Two chosen one right after the other.
TEST_F(StoredLaunches, TheLatestChoiceIsShown) {
  open_workspace();
  open_lenet();
  for (const char* name : {"fake:1", "fake:2"}) {
    const int before = list_.rowCount();
    launch(name);
    finish(1);
    ASSERT_TRUE(wait_until([&] { return list_.rowCount() == before + 1; }));
  }
  make_model();
  const LaunchRow first = list_.launch(1).id, second = list_.launch(0).id;
  model_->show_stored(first);
  model_->show_stored(second);
  ASSERT_TRUE(wait_until([&] { return model_->state() == State::Finished; }, 10));
  session_.settle();
  EXPECT_EQ(model_->stored_row(), second);
}

// What was begun to be opened after it was chosen, while something else was being opened already.
TEST_F(StoredLaunches, WhatIsOpenedAfterItIsShownInstead) {
  open_workspace();
  open_lenet();
  launch("fake:1");
  finish(1);
  ASSERT_TRUE(wait_until([&] { return list_.rowCount() == 1; }));
  make_model();
  ImportOptions import;
  import.batch = 16;
  session_.open_model(sample("models/vgg19.onnx"), import, {});
  model_->show_stored(list_.launch(0).id);
  session_.open_model(sample("models/alexnet.onnx"), import, {});
  session_.settle();
  EXPECT_EQ(session_.model_name(), "alexnet");
  EXPECT_EQ(model_->stored_row(), 0);
}

// The choice came after what was being opened.
TEST_F(StoredLaunches, ItIsShownAfterWhatWasBeingOpened) {
  open_workspace();
  open_lenet();
  launch("fake:1");
  finish(1);
  ASSERT_TRUE(wait_until([&] { return list_.rowCount() == 1; }));
  make_model();
  session_.regroup(5);
  model_->show_stored(list_.launch(0).id);
  ASSERT_TRUE(wait_until([&] { return model_->state() == State::Finished; }, 10));
  EXPECT_EQ(model_->stored_row(), list_.launch(0).id);
}

// Its end is kept where it was begun.
TEST_F(StoredLaunches, AJobThatEndsOnceAnotherWorkspaceIsOpenIsStoredInItsOwn) {
  open_workspace();
  open_lenet();
  const std::filesystem::path file = session_.workspace()->file();
  launch("slurm:12");
  ASSERT_TRUE(wait_until([&] { return model_->stored_row() != 0; }));
  session_.open_workspace(folder_.filePath("other.strata").toStdString(), false);
  session_.settle();
  cluster_.end(JobState::Failed, "rank 1: no memory");
  ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
  session_.settle();
  EXPECT_EQ(Workspace(file, true).launches().all().at(0).state, LaunchState::Failed);
  EXPECT_TRUE(stored().launches().all().empty());
}

TEST_F(StoredLaunches, ALocalJobIsNotLeft) {
  open_workspace();
  open_lenet();
  launch("local:1");
  ASSERT_TRUE(wait_until([&] { return model_->job() == "local:1"; }));
  EXPECT_FALSE(model_->can_be_left());
  model_->leave();
  model_.reset();
  EXPECT_TRUE(cluster_.cancelled());
}

// A result of another plan under this one.
TEST_F(StoredLaunches, ADamagedResultIsToldAndShownWithoutIt) {
  open_workspace();
  open_lenet();
  launch("fake:1");
  finish(1);
  ASSERT_TRUE(wait_until([&] { return list_.rowCount() == 1; }));
  StoredLaunch damaged = *stored().launches().find(list_.launch(0).id);
  for (const std::string& result : {std::string("nonsense"), std::string("{}")}) {
    damaged.result = result;
    session_.update_launch(damaged);
    session_.settle();
    failures_.clear();
    make_model();
    model_->show_stored(damaged.id);
    ASSERT_TRUE(wait_until([&] { return !failures_.isEmpty(); }));
    ASSERT_TRUE(wait_until([&] { return model_->state() == State::Finished; }));
    EXPECT_EQ(model_->measured(), nullptr);
  }
}

}  // namespace
}  // namespace strato
