// Plan files: self-contained, exact, and honest about another model.
#include "core/strategy/file/plan_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/strategy/file/named_strategy.h"
#include "tests/core/strategy/fixture.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

Strategy detailed_strategy(const toy::Problem& p) {
  Strategy strategy;
  strategy.groups.resize(p.grouping.size());
  strategy.groups[GroupId(0)] = p.on({"v100:0", "p100-1:1"}, Mode::ReplicatePs);
  strategy.groups[GroupId(2)] = p.on({"v100:2"});
  strategy.bucket = Bytes(25'000'000);
  strategy.duplicated = {OpId(1), OpId(4)};
  strategy.recomputed = {OpId(0), OpId(2)};
  strategy.offloaded = {OpId(1)};
  strategy.splits = {{OpId(0), 1, {{DeviceId(0), 1}, {DeviceId(3), 2}}}};
  strategy.priorities.assign(p.graph->op_count(), 0);
  strategy.priorities[1] = -7;
  return strategy;
}

PlanFile some_plan(const toy::Problem& p) {
  PlanFile plan;
  plan.graph_file = "models/chain.onnx";
  plan.graph_name = p.graph->name();
  plan.graph_digest = p.graph->digest();
  plan.batch = p.graph->batch();
  plan.optimizer = "adam";
  plan.cluster_json = p.cluster->json();
  plan.strategy = name_strategy(detailed_strategy(p), *p.graph, p.grouping, *p.cluster);
  plan.result_json = R"({"step_time_s":0.25,"feasible":true,"planner":"mcts","seed":1})";
  return plan;
}

TEST(Plan, RoundTrip) {
  const toy::Problem p;
  const PlanFile plan = some_plan(p);
  const std::string text = plan_json(plan);
  const PlanFile read = parse_plan(text, "p.json");
  EXPECT_EQ(read.graph_file, plan.graph_file);
  EXPECT_EQ(read.graph_digest, plan.graph_digest);
  EXPECT_EQ(read.batch, 64);
  EXPECT_EQ(read.optimizer, "adam");
  EXPECT_EQ(read.strategy, plan.strategy);
  EXPECT_EQ(read.result_json, plan.result_json);
  EXPECT_EQ(plan_json(read), text);
}

TEST(Plan, NamesTheProgramsOfItsRanks) {
  const toy::Problem p;
  PlanFile plan = some_plan(p);
  EXPECT_FALSE(parse_plan(plan_json(plan), "p.json").ranks);
  plan.ranks = PlanRanks{2, 8, Digest{7, 9}};
  const std::string text = plan_json(plan);
  EXPECT_EQ(parse_plan(text, "p.json").ranks, plan.ranks);
  plan.ranks = PlanRanks{2, 0, Digest{7, 9}};  // of a model of views alone
  EXPECT_EQ(parse_plan(plan_json(plan), "p.json").ranks, plan.ranks);
  EXPECT_EQ(plan_json(parse_plan(text, "p.json")), text);
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Json>>{
           {"count", -1}, {"version", 0}, {"digest", "short"}, {"digest", 5}, {"more", 1}}) {
    Json json = Json::parse(text);
    json["ranks"][key] = value;
    EXPECT_THROW(parse_plan(json.dump(), "p.json"), InputError) << key;
  }
}

TEST(Plan, ClusterNeedsNoCatalogue) {
  const toy::Problem p;
  const Cluster cluster = plan_cluster(parse_plan(plan_json(some_plan(p)), "p.json"), "p.json");
  EXPECT_EQ(cluster.digest(), p.cluster->digest());
}

TEST(Plan, BindsToItsGraphExactly) {
  const toy::Problem p;
  const PlanFile plan = parse_plan(plan_json(some_plan(p)), "p.json");
  const BoundPlan bound = bind_plan(plan, *p.graph, *p.cluster, p.times);
  EXPECT_TRUE(bound.same_graph);
  EXPECT_EQ(bound.grouping.digest(), p.grouping.digest());
  EXPECT_EQ(bound.strategy, detailed_strategy(p));
  EXPECT_TRUE(bound.unmatched.empty());
}

TEST(Plan, ForAnotherModelIsAReportNotACrash) {
  const toy::Problem p, other(6, 5);
  const BoundPlan bound = bind_plan(some_plan(p), *other.graph, *other.cluster, other.times);
  EXPECT_FALSE(bound.same_graph);
  EXPECT_FALSE(bound.unmatched.empty());
  validate(bound.strategy, bound.grouping, *other.cluster);
}

TEST(Plan, OfOtherOpsIsRefused) {
  const toy::Problem p;
  PlanFile plan = some_plan(p);
  EXPECT_NO_THROW(check_same_model(plan, "p.json", *p.graph));
  std::size_t named = 0;
  for (const NamedGroup& group : plan.strategy.groups) named += group.ops.size();
  std::size_t renamed = 0;
  for (NamedGroup& group : plan.strategy.groups)
    for (std::string& op : group.ops)
      if (2 * renamed <= named) op += "/of another model", ++renamed;
  try {
    check_same_model(plan, "p.json", *p.graph);
    ADD_FAILURE() << "was not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(error.file(), "p.json");
    EXPECT_NE(error.problem().find("is a plan for another model"), std::string::npos);
  }
}

TEST(Plan, WithoutOpsStillBinds) {
  const toy::Problem p;
  PlanFile plan = some_plan(p);
  for (NamedGroup& group : plan.strategy.groups) group.ops.clear();
  const BoundPlan bound = bind_plan(plan, *p.graph, *p.cluster, p.times);
  EXPECT_EQ(bound.strategy.groups.size(), bound.grouping.size());
}

std::string message_after(const std::function<void(Json&)>& change) {
  const toy::Problem p;
  Json json = Json::parse(plan_json(some_plan(p)));
  change(json);
  try {
    plan_cluster(parse_plan(json.dump(), "p.json"), "p.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(BadPlan, NamesThePlace) {
  const auto starts = [](const std::function<void(Json&)>& change, const std::string& beginning) {
    EXPECT_EQ(message_after(change).substr(0, beginning.size()), beginning);
  };
  starts([](Json&) {}, "no error");
  starts([](Json& j) { j["version"] = 7; }, "p.json: version: is 7, newer than this program reads");
  starts([](Json& j) { j["format"] = "stratoscope-cluster"; },
         "p.json: format: is \"stratoscope-cluster\"; give a file of format \"stratoscope-plan\"");
  starts([](Json& j) { j.erase("graph"); }, "p.json: has no \"graph\"");
  starts([](Json& j) { j["graph"]["digest"] = "12"; },
         "p.json: graph.digest: \"12\" is not a digest");
  starts([](Json& j) { j["graph"]["digest"] = 12; }, "p.json: graph.digest: is not a text");
  starts([](Json& j) { j["graph"]["batch"] = 0; }, "p.json: graph.batch: is 0");
  starts([](Json& j) { j["result"] = 3; }, "p.json: result: is not an object");
  starts([](Json& j) { j["extra"] = 3; }, "p.json: extra: is not a known key");
  starts([](Json& j) { j["cluster"]["machines"][1]["nic"]["bandwidth_GBps"] = 0; },
         "p.json: cluster: machines[1].nic.bandwidth_GBps: is 0");
  starts([](Json& j) { j["groups"][0]["mode"] = "x"; },
         "p.json: groups[0].mode: \"x\" is not a mode");
  starts([](Json& j) { j["cluster"].erase("gpu_types"); },
         "p.json: cluster: machines[0].gpus[0].type: \"V100-SXM2-32GB\" is not a known GPU");
}

TEST(Plan, FindsTheModelBesideThePlan) {
  const fs::path folder = fs::temp_directory_path() / ("strato-plan-" + std::to_string(::getpid()));
  fs::create_directories(folder / "models");
  const toy::Problem p;
  const PlanFile plan = some_plan(p);
  const fs::path file = folder / "plan.json";
  write_plan(file, plan);
  EXPECT_EQ(read_plan(file).strategy, plan.strategy);
  EXPECT_THROW(find_model(plan, file), InputError);
  write_file(folder / "chain.onnx", "x");
  EXPECT_EQ(find_model(plan, file), folder / "chain.onnx");
  write_file(folder / "models" / "chain.onnx", "x");
  EXPECT_EQ(find_model(plan, file), folder / "models" / "chain.onnx");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace strato
