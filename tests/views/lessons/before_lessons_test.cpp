// What was shown before lessons is shown again after them.
#include "views/lessons/before_lessons.h"

#include "core/io/file.h"
#include "core/search/evaluate/baselines.h"
#include "tests/views/models/fixture.h"

namespace strato {
namespace {

class BeforeLessonsTest : public SessionTest {
 protected:
  void play_something() {
    ImportOptions import;
    import.batch = 8;
    session_.close_costs();
    session_.set_simulation({});
    session_.open_cluster(sample("clusters/tag-testbed.json"));
    session_.open_model(sample("models/lenet.onnx"), import, {});
    session_.settle();
  }
  BeforeLessons before_;
};

TEST_F(BeforeLessonsTest, NothingIsNothing) {
  before_.remember(session_);
  EXPECT_FALSE(before_.known());
  EXPECT_FALSE(before_.give_back(session_));
}

TEST_F(BeforeLessonsTest, TheStrategyItsCostsAndTheWayOfSimulatingComeBack) {
  const std::string calibration = folder_.filePath("slow.json").toStdString();
  write_file(calibration, R"({"format": "stratoscope-calibration", "version": 1, "name": "slow",
                              "source": "a test", "transfer_scale": 0.25})");
  open_lenet();
  session_.open_calibration(calibration);
  session_.set_simulation({TaskOrder::Fifo, true});
  session_.settle();
  session_.decide({GroupId(2)}, decision_on_device(DeviceId(1)), QStringLiteral("by hand"));
  session_.settle();
  const Snapshot was = session_.snapshot();
  before_.remember(session_);
  play_something();
  before_.remember(session_);  // of the lesson before: what counts is the first
  ASSERT_NE(step_time(), was.outcome->timeline->step_time);
  ASSERT_TRUE(before_.give_back(session_));
  session_.settle();
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_EQ(step_time(), was.outcome->timeline->step_time);
  EXPECT_EQ(session_.snapshot().label, was.label);
  EXPECT_EQ(problem().grouping->digest(), was.problem->grouping->digest());
  EXPECT_EQ(session_.snapshot().cost_files.calibration, calibration);
  EXPECT_TRUE(session_.simulation().fair_links);
  EXPECT_FALSE(before_.known());
}

// Costs that are gone meanwhile are told; the strategy is there all the same.
TEST_F(BeforeLessonsTest, CostsThatAreGoneAreTold) {
  const std::string calibration = folder_.filePath("slow.json").toStdString();
  write_file(calibration, R"({"format": "stratoscope-calibration", "version": 1, "name": "slow",
                              "source": "a test"})");
  open_lenet();
  session_.open_calibration(calibration);
  session_.settle();
  before_.remember(session_);
  play_something();
  std::filesystem::remove(calibration);
  before_.give_back(session_);
  session_.settle();
  EXPECT_EQ(failures_.size(), 1);
  EXPECT_EQ(problem().graph->batch(), 16);
}

// Lessons that begin while it is on its way back.
TEST_F(BeforeLessonsTest, WhatIsOnItsWayBackIsNotLost) {
  open_lenet();
  const Digest graph = problem().graph->digest();
  before_.remember(session_);
  play_something();
  ASSERT_FALSE(problem().graph->digest() == graph);
  ASSERT_TRUE(before_.give_back(session_));
  before_.remember(session_);
  play_something();
  ASSERT_TRUE(before_.give_back(session_));
  session_.settle();
  EXPECT_EQ(problem().graph->digest(), graph);
}

// A run comes back with its history.
TEST_F(BeforeLessonsTest, TheRunComesBackWithItsTree) {
  open_workspace();
  open_lenet();
  PlannerOptions options;
  options.iterations = 40;
  session_.start_search(QStringLiteral("mcts"), options);
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  const QString run = session_.search().run;
  const Nanos time = step_time();
  ASSERT_TRUE(session_.tree());
  before_.remember(session_);
  play_something();
  ASSERT_FALSE(session_.tree());
  before_.give_back(session_);
  session_.settle();
  EXPECT_EQ(step_time(), time);
  EXPECT_EQ(session_.search().run, run);
  EXPECT_TRUE(session_.tree());
}

}  // namespace
}  // namespace strato
