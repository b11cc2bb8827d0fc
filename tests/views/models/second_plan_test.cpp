// A second plan beside the one that is shown.
#include "views/models/second_plan.h"

#include <fstream>

#include "core/io/file.h"
#include "core/search/evaluate/baselines.h"
#include "tests/views/models/fixture.h"
#include "views/models/explanation.h"
#include "views/models/strategy_edits.h"

namespace strato {
namespace {

using What = SecondChoice::What;

class SecondPlanTest : public SessionTest {
 protected:
  void settle(SecondPlan& second) {
    session_.settle();
    second.settle();
  }
  void put_first_group_on(DeviceId device) {
    session_.decide({GroupId(0)}, decision_on_device(device), QStringLiteral("one device"));
  }
  QObject user_;

  std::filesystem::path saved_plan() {
    const std::filesystem::path file = folder_.filePath("saved.json").toStdString();
    session_.export_plan(file);
    session_.settle();
    return file;
  }
};

TEST_F(SecondPlanTest, WorksOnlyForWhoUsesIt) {
  SecondPlan second(session_);
  EXPECT_FALSE(second.plan());
  open_lenet();
  settle(second);
  EXPECT_FALSE(second.plan());
  EXPECT_FALSE(second.busy());
  second.use(&user_, true);
  EXPECT_TRUE(second.busy());
  second.settle();
  ASSERT_TRUE(second.plan());
  EXPECT_EQ(second.plan()->label, "Data parallel");
  EXPECT_EQ(second.plan()->problem, session_.snapshot().opened);
  EXPECT_EQ(second.plan()->outcome, session_.snapshot().baseline);
  ASSERT_TRUE(second.plan()->explanation);
  EXPECT_FALSE(second.plan()->explanation->reasons->path.empty());
  EXPECT_TRUE(second.same_graph());
  EXPECT_TRUE(second.same_cluster());
}

TEST_F(SecondPlanTest, NothingIsOpen) {
  SecondPlan second(session_);
  second.use(&user_, true);
  second.settle();
  EXPECT_FALSE(second.plan());
  EXPECT_TRUE(second.problem().isEmpty());
  second.choose({What::BeforeChange, 0, {}});
  second.choose({What::Strategy, 3, {}});
  second.settle();
  EXPECT_FALSE(second.plan());
  EXPECT_EQ(second.offers().size(), 1u);
}

TEST_F(SecondPlanTest, BeforeTheLastChange) {
  open_lenet();
  SecondPlan second(session_);
  second.use(&user_, true);
  second.choose({What::BeforeChange, 0, {}});
  settle(second);
  EXPECT_FALSE(second.plan());
  EXPECT_FALSE(second.problem().isEmpty());
  const Strategy at_first = session_.snapshot().strategy;
  put_first_group_on(DeviceId(0));
  const Strategy once = session_.snapshot().strategy;
  settle(second);
  ASSERT_TRUE(second.plan());
  EXPECT_TRUE(second.problem().isEmpty());
  EXPECT_EQ(second.plan()->strategy, at_first);
  put_first_group_on(DeviceId(1));
  settle(second);
  EXPECT_EQ(second.plan()->strategy, once);
  session_.undo_stack().undo();
  settle(second);
  EXPECT_NE(second.plan()->strategy, once);
  EXPECT_EQ(
      second.plan()->outcome->timeline->step_time,
      simulate_as(problem(), second.plan()->strategy, session_.simulation()).timeline->step_time);
}

TEST_F(SecondPlanTest, FollowsTheWayOfSimulating) {
  open_lenet();
  SecondPlan second(session_);
  second.use(&user_, true);
  settle(second);
  session_.set_simulation({TaskOrder::Priority, true});
  settle(second);
  EXPECT_TRUE(second.plan()->outcome->timeline->options.fair_links);
  EXPECT_TRUE(second.plan()->outcome->timeline->options.priorities);
  EXPECT_EQ(second.plan()->outcome->timeline->step_time,
            session_.snapshot().baseline->timeline->step_time);
}

TEST_F(SecondPlanTest, OfAFileForTheSameProblem) {
  open_lenet();
  put_first_group_on(DeviceId(0));
  session_.settle();
  const Strategy kept = session_.snapshot().strategy;
  const std::filesystem::path file = saved_plan();
  session_.undo_stack().undo();
  SecondPlan second(session_);
  second.use(&user_, true);
  second.choose({What::File, 0, file});
  settle(second);
  ASSERT_TRUE(second.plan()) << second.problem().toStdString();
  EXPECT_TRUE(second.same_graph());
  EXPECT_TRUE(second.same_cluster());
  EXPECT_EQ(second.plan()->strategy.groups, kept.groups);
  EXPECT_TRUE(second.plan()->remarks.isEmpty()) << second.plan()->remarks.join('\n').toStdString();
  EXPECT_EQ(second.plan()->label, "saved");
}

// The model's file is needed for another graph only.
TEST_F(SecondPlanTest, OfAFileWhoseModelIsGone) {
  open_lenet();
  const std::filesystem::path file = saved_plan();
  std::string text = read_file(file);
  const std::string name = "lenet.onnx";
  text.replace(text.find(name), name.size(), "gone.onnx");
  write_file(file, text);
  SecondPlan second(session_);
  second.use(&user_, true);
  second.choose({What::File, 0, file});
  settle(second);
  EXPECT_TRUE(second.plan()) << second.problem().toStdString();
  ImportOptions import;
  import.batch = 8;
  session_.open_model(sample("models/vgg19.onnx"), import, {});
  settle(second);
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_FALSE(second.plan());
  EXPECT_TRUE(second.problem().contains("gone.onnx")) << second.problem().toStdString();
}

TEST_F(SecondPlanTest, OfAFileForAnotherClusterAndModel) {
  open_lenet();
  const std::filesystem::path file = saved_plan();
  session_.open_cluster(sample("clusters/fastt-8xv100.json"));
  SecondPlan second(session_);
  second.use(&user_, true);
  second.choose({What::File, 0, file});
  settle(second);
  ASSERT_TRUE(second.plan()) << second.problem().toStdString();
  EXPECT_TRUE(second.same_graph());
  EXPECT_FALSE(second.same_cluster());
  EXPECT_EQ(second.plan()->problem->cluster->device_count(), 2u);
  ImportOptions import;
  import.batch = 8;
  session_.open_model(sample("models/lenet.onnx"), import, {});
  settle(second);
  ASSERT_TRUE(second.plan()) << second.problem().toStdString();
  EXPECT_FALSE(second.same_graph());
  EXPECT_EQ(second.plan()->problem->graph->batch(), 16);
}

TEST_F(SecondPlanTest, BadFilesSayWhy) {
  open_lenet();
  SecondPlan second(session_);
  second.use(&user_, true);
  settle(second);
  const std::filesystem::path file = folder_.filePath("bad.json").toStdString();
  for (const char* text : {"", "[]", "{\"format\": \"stratoscope-plan\"}", "\xff\xfe"}) {
    std::ofstream(file) << text;
    second.choose({What::File, 0, file});
    settle(second);
    EXPECT_FALSE(second.plan()) << text;
    EXPECT_TRUE(second.problem().contains("bad.json")) << second.problem().toStdString();
  }
  second.choose({});
  settle(second);
  EXPECT_TRUE(second.plan());
  EXPECT_TRUE(second.problem().isEmpty());
  EXPECT_TRUE(failures_.isEmpty());
}

TEST_F(SecondPlanTest, OfTheWorkspace) {
  open_lenet();
  open_workspace();
  put_first_group_on(DeviceId(0));
  session_.settle();
  const Strategy kept = session_.snapshot().strategy;
  put_first_group_on(DeviceId(1));
  SecondPlan second(session_);
  second.use(&user_, true);
  session_.settle();
  bool found = false;
  for (const SecondPlan::Offer& offer : second.offers()) {
    if (offer.choice.what != What::Strategy) continue;
    second.choose(offer.choice);
    settle(second);
    ASSERT_TRUE(second.plan()) << second.problem().toStdString();
    found |= second.plan()->strategy.groups == kept.groups;
  }
  EXPECT_TRUE(found);
  second.choose({What::Strategy, 4711, {}});
  settle(second);
  EXPECT_FALSE(second.plan());
  EXPECT_TRUE(second.problem().contains("4711"));
  session_.open_workspace(folder_.filePath("other.strata").toStdString(), false);
  settle(second);
  EXPECT_EQ(second.choice(), SecondChoice());
  EXPECT_TRUE(second.plan());
}

// It is offered above all others, whoever has stored it, too.
TEST_F(SecondPlanTest, DataParallelIsOfferedOnce) {
  open_lenet();
  open_workspace();
  put_first_group_on(DeviceId(0));
  session_.settle();
  session_.show_found(data_parallel(problem()), QStringLiteral("Data parallel"));
  put_first_group_on(DeviceId(1));
  session_.settle();
  const auto& stored = session_.workspace()->strategies();
  ASSERT_TRUE(std::ranges::any_of(
      stored, [](const StoredStrategy& each) { return each.label == "Data parallel"; }));
  SecondPlan second(session_);
  second.use(&user_, true);
  settle(second);
  QStringList names;
  for (const SecondPlan::Offer& offer : second.offers()) names << offer.text;
  EXPECT_EQ(names.count(QStringLiteral("Data parallel")), 1) << names.join('\n').toStdString();
  EXPECT_GE(names.size(), 3);
}

TEST_F(SecondPlanTest, StaleResultsAreDropped) {
  open_lenet();
  const std::filesystem::path file = saved_plan();
  SecondPlan second(session_);
  second.use(&user_, true);
  for (int i = 0; i < 20; ++i) {
    second.choose({What::File, 0, file});
    second.choose({What::File, 0, folder_.filePath("none.json").toStdString()});
    second.choose({});
  }
  settle(second);
  ASSERT_TRUE(second.plan());
  EXPECT_EQ(second.plan()->label, "Data parallel");
  EXPECT_TRUE(second.problem().isEmpty());
}

TEST_F(SecondPlanTest, ClosesDuringItsWork) {
  open_lenet();
  const std::filesystem::path file = saved_plan();
  for (int i = 0; i < 5; ++i) {
    SecondPlan second(session_);
    second.use(&user_, true);
    second.choose({What::File, 0, file});
  }
  session_.settle();
}

}  // namespace
}  // namespace strato
