// What the window and the command line keep of the same search is the same.
#include <gtest/gtest.h>

#include <QProcess>
#include <QTemporaryDir>

#include "core/io/file.h"
#include "core/io/json.h"
#include "tests/views/models/fixture.h"
#include "views/models/problem_source.h"

namespace strato {
namespace {

class PlanTwins : public SessionTest {
 protected:
  std::string file(const char* name) { return folder_.filePath(name).toStdString(); }
  std::string model() { return sample("models/lenet.onnx").string(); }
  std::string cluster() { return sample("clusters/tag-2x1080ti.json").string(); }

  QByteArray run_cli(const std::vector<std::string>& arguments) {
    QStringList list;
    for (const std::string& each : arguments) list << QString::fromStdString(each);
    QProcess process;
    process.start(QStringLiteral(STRATO_CLI), list);
    EXPECT_TRUE(process.waitForFinished());
    EXPECT_EQ(process.exitCode(), 0) << process.readAllStandardError().toStdString();
    return process.readAllStandardOutput();
  }
  void plan(const std::string& planner, const std::string& output,
            const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "plan",  "--graph",      model(), "--cluster", cluster(), "--batch", "16",  "--planner",
        planner, "--iterations", "40",    "--seed",    "5",       "-o",      output};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run_cli(arguments);
  }
  void search(const char* planner) {
    PlannerOptions options;
    options.iterations = 40;
    options.seed = 5;
    session_.start_search(QString::fromUtf8(planner), options);
    ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
    session_.settle();
    ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  }
  Json saved_by_the_window() {
    session_.export_plan(file("window.plan.json"));
    session_.settle();
    EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
    return Json::parse(read_file(file("window.plan.json")));
  }
};

TEST_F(PlanTwins, PlansAreTheSameFile) {
  open("models/lenet.onnx", 16, 60);
  for (const char* planner : {"mcts", "heft", "dp-ps"}) {
    plan(planner, file("cli.plan.json"));
    session_.set_simulation({});  // an order that a planner gave stays on
    search(planner);
    const Json here = saved_by_the_window(), there = Json::parse(read_file(file("cli.plan.json")));
    EXPECT_EQ(here["result"], there["result"]) << planner;
    EXPECT_TRUE(here == there) << planner;  // the rest is long
  }
}

// With what it was found with, but not of an edit.
TEST_F(PlanTwins, PlansNameTheirCostsAndConstraints) {
  open("models/lenet.onnx", 16, 60);
  session_.open_calibration(std::string(kSourceFolder) + "/resources/calibrations/nccl.json");
  session_.settle();
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  search("heft");
  const Json found = saved_by_the_window()["result"];
  EXPECT_EQ(found["planner"], "heft");
  EXPECT_EQ(found["seed"], 5);
  EXPECT_FALSE(found["costs"].get<std::string>().empty());
  Strategy strategy = session_.snapshot().strategy;
  strategy.bucket = Bytes(12345);
  session_.edit(strategy, QStringLiteral("by hand"));
  session_.settle();
  const Json plan = saved_by_the_window();
  EXPECT_FALSE(plan["result"].contains("planner"));
  EXPECT_TRUE(plan["result"].contains("costs"));
  EXPECT_TRUE(plan.contains("ranks"));
}

TEST_F(PlanTwins, AnotherModelsPlanIsRefused) {
  plan("dp-ps", file("a.plan.json"));
  Json other = Json::parse(read_file(file("a.plan.json")));
  for (Json& group : other["groups"])
    for (Json& op : group["ops"]) op = op.get<std::string>() + " of another model";
  write_file(file("b.plan.json"), other.dump());
  session_.open_plan(file("b.plan.json"));
  session_.settle();
  ASSERT_EQ(failures_.size(), 1);
  EXPECT_TRUE(failures_[0].contains(QStringLiteral("is a plan for another model")))
      << failures_[0].toStdString();
  EXPECT_EQ(session_.snapshot().strategy.groups.size(), 0u);
}

// As many groups as the command line takes.
TEST_F(PlanTwins, StoredModelsAreReadAsTheyWereWritten) {
  open("models/lenet.onnx", 16, 60);
  ModelSource model = *session_.model_source();
  model.options.grouping.max_groups = kMostGroups;
  model.options.optimizer = Optimizer::Momentum;
  model.grouping = GroupingMethod::Fusion;
  const StoredModel row = row_of(model, problem());
  const ModelSource read = model_from(row, "a.strata");
  EXPECT_EQ(read.options.grouping.max_groups, kMostGroups);
  EXPECT_EQ(read.options.optimizer, Optimizer::Momentum);
  EXPECT_EQ(read.grouping, GroupingMethod::Fusion);
  EXPECT_EQ(read.import, model.import);
  EXPECT_EQ(read.graph->digest(), model.graph->digest());
  EXPECT_EQ(row_of(read, problem()).options, row.options);
}

TEST_F(PlanTwins, TreesInTheGroupsOfAPlanOpenInBoth) {
  plan("dp-ps", file("a.plan.json"), {"--groups", "5"});
  open_workspace();
  session_.open_plan(file("a.plan.json"));
  session_.settle();
  ASSERT_EQ(problem().grouping->size(), 5u);
  search("mcts");
  ASSERT_TRUE(session_.store_all(std::chrono::seconds(20)));
  const std::string workspace = session_.workspace()->file().string();
  const Json tree = Json::parse(
      run_cli({"tree", "--workspace", workspace, "--run", "1", "show", "--json"}).toStdString());
  EXPECT_EQ(tree["run"], 1);
  run_cli({"tree", "--workspace", workspace, "--run", "1", "continue", "--iterations", "5"});
}

}  // namespace
}  // namespace strato
