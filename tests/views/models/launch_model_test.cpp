// A launch from the window: it finishes, fails, is cancelled, or the window closes while it runs.
#include "views/models/launch_model.h"

#include <QAbstractItemModelTester>
#include <QFileInfo>
#include <QSignalSpy>

#include "core/launch/job/job_result.h"
#include "core/store/workspace.h"
#include "tests/views/models/fake_launcher.h"
#include "tests/views/models/fixture.h"
#include "views/models/difference_model.h"
#include "views/models/strategy_edits.h"

namespace strato {
namespace {

using State = LaunchModel::State;

class Launching : public SessionTest {
 protected:
  void SetUp() override {
    model_ = std::make_unique<LaunchModel>(session_, fake_factory(cluster_));
  }

  const Timeline& predicted() { return *session_.snapshot().outcome->timeline; }
  void launch(int steps = 3, const char* engine = "replay") {
    const int before = cluster_.launched();
    LaunchChoice choice = fake_choice(steps);
    choice.options.engine = engine;
    model_->start(choice);
    ASSERT_TRUE(wait_until([&] { return cluster_.launched() > before || !model_->running(); }))
        << model_->problem().toStdString();
  }
  void finish(double factor, int steps = 3) {
    const auto ranks = static_cast<std::size_t>(model_->ranks());
    cluster_.finish(stretched(predicted(), factor, steps, ranks));
    ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
  }
  std::string problem_text() { return model_->problem().toStdString(); }

  FakeCluster cluster_;
  std::unique_ptr<LaunchModel> model_;
};

TEST_F(Launching, NothingWithoutAnOutcome) {
  model_->start(fake_choice());
  EXPECT_EQ(model_->state(), State::Idle);
  EXPECT_EQ(cluster_.launched(), 0);
  model_->cancel();
  model_->learn();
  EXPECT_EQ(model_->state(), State::Idle);
}

TEST_F(Launching, FollowsAJobToItsEnd) {
  open_lenet();
  launch();
  EXPECT_TRUE(model_->running());
  EXPECT_EQ(model_->ranks(), 2);
  EXPECT_EQ(cluster_.request().ranks, 2);
  EXPECT_EQ(cluster_.request().machines.size(), 2u);
  EXPECT_TRUE(std::filesystem::exists(cluster_.folder() / "job.json"));
  cluster_.say("a library greets");
  cluster_.log(1, "rank 1 is here\n");
  cluster_.step(1, Nanos(20'000'000), 2.5);
  ASSERT_TRUE(wait_until([&] { return model_->steps().size() == 1; }));
  EXPECT_EQ(model_->state(), State::Running);
  EXPECT_EQ(model_->steps()[0].time, Nanos(20'000'000));
  EXPECT_EQ(model_->steps()[0].loss, 2.5);
  cluster_.step(2, Nanos(19'000'000), std::nullopt);
  cluster_.step(3, Nanos(19'500'000), 2.0);
  finish(1.25);
  EXPECT_EQ(model_->state(), State::Finished) << problem_text();
  EXPECT_EQ(model_->steps().size(), 3u);
  EXPECT_TRUE(model_->log(0).contains(QStringLiteral("a library greets")));
  EXPECT_EQ(model_->log(1), QStringLiteral("rank 1 is here\n"));
  EXPECT_EQ(model_->log(2), QString());
  ASSERT_TRUE(model_->measured());
  EXPECT_NEAR(model_->measured()->comparison.error(), 0.25, 1e-6);
  EXPECT_EQ(session_.measured(), model_->measured());
  EXPECT_EQ(cluster_.alive(), 0);
  EXPECT_TRUE(failures_.isEmpty());
}

TEST_F(Launching, AFailureNamesTheRank) {
  open_lenet();
  launch();
  cluster_.log(1, "boom\n");
  cluster_.end(JobState::Failed, "rank 1: out of memory in Conv_3");
  ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
  EXPECT_EQ(model_->state(), State::Failed);
  EXPECT_EQ(model_->failed_rank(), 1);
  EXPECT_TRUE(model_->problem().contains(QStringLiteral("out of memory in Conv_3")));
  EXPECT_EQ(model_->log(1), QStringLiteral("boom\n"));  // the last words, too
  EXPECT_FALSE(session_.measured());
  EXPECT_EQ(cluster_.alive(), 0);
}

TEST_F(Launching, AFailureThatOnlyRankZeroTellsIsOne) {
  open_lenet();
  launch();
  JobEvent event;
  event.kind = JobEvent::Kind::Failed;
  event.rank = 1;
  event.text = "the loss is not a number";
  cluster_.say(event);
  cluster_.end(JobState::Finished, "");
  ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
  EXPECT_EQ(model_->state(), State::Failed);
  EXPECT_EQ(model_->failed_rank(), 1);
  EXPECT_TRUE(model_->problem().contains(QStringLiteral("not a number")));
}

TEST_F(Launching, ARefusedLaunchSaysWhy) {
  open_lenet();
  cluster_.refuse("there is no partition gpu");
  launch();
  ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
  EXPECT_EQ(model_->state(), State::Failed);
  EXPECT_TRUE(model_->problem().contains(QStringLiteral("no partition gpu")));
  EXPECT_EQ(model_->failed_rank(), -1);
}

TEST_F(Launching, AJobWithoutAResultFails) {
  open_lenet();
  launch();
  cluster_.end(JobState::Finished, "");
  ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
  EXPECT_EQ(model_->state(), State::Failed);
  EXPECT_TRUE(model_->problem().contains(QStringLiteral("result"))) << problem_text();
}

TEST_F(Launching, AFolderThatCannotBeMadeFails) {
  open_lenet();
  LaunchChoice choice = fake_choice();
  choice.folder = "/proc/no-such-place";
  model_->start(choice);
  EXPECT_EQ(model_->state(), State::Failed);
  EXPECT_TRUE(model_->problem().contains(QStringLiteral("/proc/no-such-place")));
  EXPECT_EQ(cluster_.launched(), 0);
}

TEST_F(Launching, CancellingEndsTheJob) {
  open_lenet();
  launch();
  cluster_.step(1, Nanos(20'000'000), 2.5);
  ASSERT_TRUE(wait_until([&] { return model_->steps().size() == 1; }));
  model_->cancel();
  EXPECT_TRUE(model_->cancelling());
  ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
  EXPECT_EQ(model_->state(), State::Cancelled);
  EXPECT_TRUE(cluster_.cancelled());
  EXPECT_EQ(cluster_.alive(), 0);
  EXPECT_TRUE(model_->problem().isEmpty());
  EXPECT_FALSE(model_->measured());
}

TEST_F(Launching, LaunchesAgainAfterwards) {
  open_lenet();
  launch();
  model_->start(fake_choice());  // one at a time
  EXPECT_EQ(cluster_.launched(), 1);
  const std::filesystem::path first = cluster_.folder();
  model_->cancel();
  ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
  launch(2);
  EXPECT_NE(cluster_.folder(), first);
  EXPECT_FALSE(std::filesystem::exists(first));  // a temporary one
  EXPECT_EQ(model_->steps_asked(), 2);
  finish(1, 2);
  EXPECT_EQ(model_->state(), State::Finished) << problem_text();
}

TEST_F(Launching, ClosingTheWindowCancels) {
  open_lenet();
  launch();
  const std::filesystem::path folder = cluster_.folder();
  cluster_.step(1, Nanos(1'000'000), std::nullopt);  // perhaps still on its way
  model_.reset();
  EXPECT_TRUE(cluster_.cancelled());
  EXPECT_EQ(cluster_.alive(), 0);
  EXPECT_FALSE(std::filesystem::exists(folder));
  QCoreApplication::processEvents();
}

TEST_F(Launching, AnotherProblemIsOpenedMeanwhile) {
  open_lenet();
  launch();
  const JobResult result = stretched(predicted(), 1.5, 3, 2);
  session_.open_cluster(sample("clusters/tag-testbed.json"));
  session_.settle();
  cluster_.finish(result);
  ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
  EXPECT_EQ(model_->state(), State::Finished) << problem_text();
  EXPECT_FALSE(session_.measured());  // is of something else
  session_.open_cluster(sample("clusters/tag-2x1080ti.json"));
  session_.settle();
  ASSERT_TRUE(session_.measured());
  EXPECT_NEAR(session_.measured()->comparison.error(), 0.5, 1e-6);
}

TEST_F(Launching, AnEditHidesTheMeasuredStepAndUndoBringsItBack) {
  open_lenet();
  launch();
  finish(1.1);
  ASSERT_TRUE(session_.measured());
  QSignalSpy spy(&session_, &Session::measured_changed);
  const std::vector<GroupId> first = {GroupId(0)};
  session_.edit(with_decision(session_.snapshot().strategy, first, decision_on_device(DeviceId(0))),
                QStringLiteral("edit"));
  session_.settle();
  EXPECT_FALSE(session_.measured());
  EXPECT_EQ(spy.count(), 1);
  session_.undo_stack().undo();
  session_.settle();
  ASSERT_TRUE(session_.measured());
  EXPECT_EQ(session_.measured()->predicted, session_.snapshot().outcome->timeline);
  // Simulated otherwise, it is beside that.
  session_.set_simulation({TaskOrder::Fifo, true});
  session_.settle();
  ASSERT_TRUE(session_.measured());
  EXPECT_EQ(session_.measured()->predicted, session_.snapshot().outcome->timeline);
}

TEST_F(Launching, LearnsCostsThatMeetWhatWasMeasured) {
  open_lenet();
  launch(3, "torch");
  finish(3);
  model_->learn();
  EXPECT_TRUE(model_->learning());
  ASSERT_TRUE(wait_until([&] { return !model_->learning(); }));
  ASSERT_TRUE(model_->learned()) << failures_.join('\n').toStdString();
  const LaunchModel::Learned learned = *model_->learned();
  EXPECT_NEAR(learned.error_before, 2, 1e-6);
  EXPECT_LT(std::abs(learned.error_after), 0.5);
  EXPECT_GT(learned.kinds, 5u);
  ASSERT_TRUE(std::filesystem::exists(learned.file));
  const Nanos before = step_time();
  model_->use_learned();
  session_.settle();
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_GT(step_time(), before);
  ASSERT_TRUE(session_.measured());  // beside the new prediction
  EXPECT_NEAR(session_.measured()->comparison.error(), learned.error_after, 1e-6);
  EXPECT_TRUE(model_->learned()->used);
  std::filesystem::remove(learned.file);
}

TEST_F(Launching, IsKeptInTheWorkspace) {
  open_workspace();
  open_lenet();
  launch();
  finish(1.25);
  launch();
  cluster_.end(JobState::Failed, "rank 0: a cause");
  ASSERT_TRUE(wait_until([&] { return !model_->running(); }));
  session_.settle();
  const std::vector<StoredLaunch> launches = session_.workspace()->launches();
  ASSERT_EQ(launches.size(), 2u);
  const auto finished = stored().launches().find(std::min(launches[0].id, launches[1].id));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->state, LaunchState::Finished);
  EXPECT_EQ(finished->predicted_ns, step_time().value);
  EXPECT_NEAR(static_cast<double>(finished->measured_ns),
              1.25 * static_cast<double>(step_time().value), 1);
  EXPECT_EQ(parse_result(finished->result, "stored").tasks.size(), predicted().tasks.size());
  const auto failed = stored().launches().find(std::max(launches[0].id, launches[1].id));
  EXPECT_EQ(failed->state, LaunchState::Failed);
  EXPECT_EQ(failed->note, "rank 0: a cause");
  EXPECT_EQ(failed->strategy, finished->strategy);
}

TEST_F(Launching, ANamedFolderStays) {
  open_lenet();
  ASSERT_TRUE(folder_.isValid());
  LaunchChoice choice = fake_choice();
  choice.folder = folder_.path().toStdString();
  choice.settings = {{"partition", "gpu"}};
  model_->start(choice);
  ASSERT_TRUE(wait_until([&] { return cluster_.launched() == 1; }));
  EXPECT_EQ(cluster_.request().settings, choice.settings);
  finish(1);
  const QString folder = model_->folder();
  EXPECT_TRUE(QFileInfo(folder).absolutePath() == QFileInfo(folder_.path()).absoluteFilePath());
  model_.reset();
  EXPECT_TRUE(QFileInfo::exists(folder + QStringLiteral("/job.json")));
}

// --- what will run where

TEST_F(Launching, ThePreviewCountsAndWarns) {
  open_lenet();
  LaunchChoice choice = fake_choice();
  const ThisMachine roomy{64, Bytes(std::int64_t{1} << 40), false};
  LaunchPreview preview = preview_launch(predicted(), choice, roomy);
  ASSERT_EQ(preview.ranks.size(), 2u);
  EXPECT_TRUE(preview.warnings.isEmpty()) << preview.warnings.join('\n').toStdString();
  for (const RankPreview& rank : preview.ranks) {
    EXPECT_GT(rank.tasks, 10);
    EXPECT_GT(rank.peak, Bytes(0));
    EXPECT_TRUE(rank.fits());
  }
  preview = preview_launch(predicted(), choice, {1, Bytes(1000), false});
  EXPECT_EQ(preview.warnings.size(), 2) << preview.warnings.join('\n').toStdString();
  choice.launcher = "slurm";  // this machine does not matter
  EXPECT_TRUE(preview_launch(predicted(), choice, {1, Bytes(1000), false}).warnings.isEmpty());
  choice.options.engine = "torch";
  EXPECT_EQ(preview_launch(predicted(), choice, roomy).warnings.size(), 1);
  choice.options.transport = "nccl";
  EXPECT_EQ(preview_launch(predicted(), choice, roomy).warnings.size(), 2);
  choice.options.device = "cuda";
  EXPECT_TRUE(preview_launch(predicted(), choice, roomy).warnings.isEmpty());
  choice.launcher = "local";
  EXPECT_EQ(preview_launch(predicted(), choice, roomy).warnings.size(), 1);
}

// --- differences

TEST_F(Launching, DifferencesAreATableAndSelect) {
  open_lenet();
  launch();
  finish(2);
  for (const auto of :
       {DifferenceModel::Of::Ops, DifferenceModel::Of::Links, DifferenceModel::Of::Devices}) {
    DifferenceModel table(of);
    QAbstractItemModelTester tester(&table, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const Comparison& comparison = session_.measured()->comparison;
    table.show(of == DifferenceModel::Of::Ops     ? comparison.ops
               : of == DifferenceModel::Of::Links ? comparison.links
                                                  : comparison.devices);
    ASSERT_GT(table.rowCount(), 0);
    EXPECT_EQ(table.index(0, DifferenceModel::Relative).data().toString(),
              QStringLiteral("+100 %"));
    EXPECT_TRUE(
        table.index(0, DifferenceModel::Effect).data().toString().startsWith(QLatin1Char('+')));
    table.select(-1, session_);
    table.select(table.rowCount(), session_);
    session_.selection().clear();
    table.select(0, session_);
    const Selection& selection = session_.selection();
    if (of == DifferenceModel::Of::Ops) {
      ASSERT_TRUE(selection.op());
      EXPECT_EQ(problem().graph->op(*selection.op()).name, table.at(0).name);
    } else if (of == DifferenceModel::Of::Devices) {
      ASSERT_TRUE(selection.device());
    }
  }
}

}  // namespace
}  // namespace strato
