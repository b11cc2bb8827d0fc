#include "core/graph/axes/split_axes.h"
#include "core/io/json.h"
#include "tests/plugins/exporters/export_kit.h"

namespace strato {
namespace {

const std::string kFast0 = "/job:worker/replica:0/task:0/device:GPU:0";
const std::string kFast1 = "/job:worker/replica:0/task:0/device:GPU:1";
const std::string kSlow1 = "/job:worker/replica:0/task:2/device:GPU:0";

Json placement(const Exportable& plan) {
  return Json::parse(registry().exporter("tensorflow")->write(plan.input()));
}

const Op& first_of(const Exportable& plan, const std::string& type) {
  for (const Op& op : plan.problem.graph->ops()) {
    if (op.type == type) return op;
  }
  throw std::logic_error("no " + type);
}

TEST(Tensorflow, NamesDevicesByMachineAndPlaceInIt) {
  const Json json = placement(lenet(Mode::ModelParallel, {{DeviceId(0), 1}, {DeviceId(3), 1}}));
  ASSERT_EQ(json["devices"].size(), 4u);
  std::vector<std::string> names;
  for (const auto& [device, name] : json["devices"].items()) names.push_back(name);
  EXPECT_EQ(names[0], kFast0);
  EXPECT_EQ(names[1], kFast1);
  EXPECT_EQ(names[3], kSlow1);
}

TEST(Tensorflow, EveryNodeIsPlacedAndOrderedOnItsDevices) {
  for (const Mode mode :
       {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate, Mode::ModelParallel}) {
    const Exportable plan = lenet(mode, {{DeviceId(0), 1}, {DeviceId(1), 1}, {DeviceId(3), 1}});
    const Json json = placement(plan);
    std::size_t placed = 0, ordered = 0;
    for (const Op& op : plan.problem.graph->ops()) {
      ASSERT_TRUE(json["nodes"].contains(op.name)) << op.name;
      const Json& node = json["nodes"][op.name];
      EXPECT_EQ(node["mode"].get<std::string>(), name_of(mode));
      EXPECT_FALSE(node["devices"].empty()) << op.name;
      if (!op.view) placed += node["devices"].size();
    }
    for (const auto& [device, ops] : json["order"].items()) {
      ordered += ops.size();
      for (const Json& name : ops) {
        const Json& devices = json["nodes"][name.get<std::string>()]["devices"];
        EXPECT_NE(devices.dump().find(device), std::string::npos) << name.dump();
      }
    }
    EXPECT_EQ(ordered, placed) << name_of(mode);
  }
}

TEST(Tensorflow, SharesSplitsAndPriorities) {
  Exportable plan = lenet(Mode::ReplicateAllReduce, {{DeviceId(0), 3}, {DeviceId(1), 1}});
  const Op& conv = first_of(plan, "Conv");
  EXPECT_EQ(placement(plan)["nodes"][conv.name]["samples"].dump(), "[[0,6],[6,8]]");
  EXPECT_FALSE(placement(plan)["nodes"][conv.name].contains("priority"));

  const OpId id = plan.problem.graph->find_op(conv.name);
  const SplitAxis axis = split_axes(*plan.problem.graph, id).at(0);
  Strategy split = plan.strategy;
  split.splits = {{id, axis.axis, {{DeviceId(0), 1}, {DeviceId(3), 1}}}};
  split.priorities.assign(plan.problem.graph->op_count(), 7);
  split.duplicated = {plan.problem.graph->find_op(first_of(plan, "Relu").name)};
  const Json json = placement({plan.problem, split});
  const Json& node = json["nodes"][conv.name];
  EXPECT_EQ(node["priority"].get<int>(), 7);
  EXPECT_FALSE(node.contains("mode"));
  EXPECT_EQ(node["devices"].dump(), "[\"" + kFast0 + "\",\"" + kSlow1 + "\"]");
  EXPECT_EQ(node["split"]["axis"].get<int>(), axis.axis);
  const std::int64_t channels = plan.problem.graph->tensor(conv.outputs[0]).shape[1];
  EXPECT_EQ(node["split"]["slices"][1][1].get<std::int64_t>(), channels);
  EXPECT_EQ(node["split"]["slices"][0][1].get<int>(), node["split"]["slices"][1][0].get<int>());
  EXPECT_EQ(json["nodes"][first_of(plan, "Relu").name]["mode"].get<std::string>(), "duplicate");
}

}  // namespace
}  // namespace strato
