// The human expert: layers whole, blocks in order and balanced, recurrent layers round robin.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/cost/analytic/analytic_cost_model.h"
#include "core/graph/group/metis_grouping.h"
#include "core/schedule/dag/layers.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

const std::vector<const char*> kModels = {"lenet",       "alexnet",    "vgg19", "inception_v3",
                                          "transformer", "bert_small", "rnnlm", "gnmt"};

PlanResult expert(const Problem& problem) {
  Observer quiet;
  return run_planner(*registry().planner("expert"), problem, {}, quiet, {});
}

// Work of each device, in parts of what it can do.
std::map<DeviceId, double> loads(const Problem& problem) {
  std::map<DeviceId, double> load;
  const std::vector<DeviceId> device = expert_devices(problem);
  const auto times = graph_times(problem);
  for (std::size_t i = 0; i < device.size(); ++i) {
    const GpuTypeId type = problem.cluster->device(device[i]).type;
    load[device[i]] += problem.cost->compute(OpId(i), type, problem.graph->batch()) / times[type];
  }
  return load;
}

TEST(Layers, every_op_is_with_its_forward_op_and_parameters_stay_together) {
  for (const char* model : kModels) {
    SCOPED_TRACE(model);
    const Problem problem = sample(model, 16, "celeritas");
    const Graph& graph = *problem.graph;
    const Layers layers = layers_of(graph);
    ASSERT_EQ(layers.of_op.size(), graph.op_count());
    std::map<TensorId, std::int32_t> of_parameter;
    std::int32_t seen = 0;
    for (std::size_t i = 0; i < graph.op_count(); ++i) {
      const Op& op = graph.op(OpId(i));
      EXPECT_LE(layers.of_op[i], seen) << "numbered by first ops";
      seen = std::max(seen, layers.of_op[i] + 1);
      if (op.forward.valid()) {
        EXPECT_EQ(layers.of_op[i], layers.of_op[op.forward.index()]) << op.name;
      }
      if (op.phase != Phase::Forward) continue;
      for (const TensorId input : op.inputs)
        if (input.valid() && graph.tensor(input).role == TensorRole::Parameter) {
          EXPECT_EQ(of_parameter.emplace(input, layers.of_op[i]).first->second, layers.of_op[i]);
        }
    }
    EXPECT_EQ(seen, layers.count);
  }
}

TEST(Expert, all_models_on_all_devices_with_whole_layers) {
  for (const char* model : kModels)
    for (const char* cluster : {"gdp", "tag-testbed"}) {
      SCOPED_TRACE(std::string(model) + " on " + cluster);
      const Problem problem = sample(model, 16, cluster);
      const PlanResult result = expert(problem);
      const Problem own = problem_for(problem, result.strategy);
      EXPECT_NO_THROW(validate(result.strategy, *own.grouping, *own.cluster));
      EXPECT_EQ(result.score.step_time,
                simulate_strategy(problem, result.strategy).score.step_time);
      const std::vector<DeviceId> device = expert_devices(problem);
      for (std::size_t i = 0; i < device.size(); ++i) {
        const Decision& decision = *result.strategy.groups[own.grouping->group_of(OpId(i))];
        EXPECT_EQ(decision, decision_on_device(device[i]));
      }
    }
}

TEST(Expert, blocks_ascend_along_the_model) {
  for (const char* model : {"vgg19", "inception_v3", "bert_small"}) {
    const Problem problem = sample(model, 16, "tag-testbed");
    const Layers layers = layers_of(*problem.graph);
    const std::vector<DeviceId> device = expert_devices(problem);
    std::vector<DeviceId> of_layer(static_cast<std::size_t>(layers.count));
    for (std::size_t i = 0; i < device.size(); ++i)
      of_layer[static_cast<std::size_t>(layers.of_op[i])] = device[i];
    EXPECT_TRUE(std::ranges::is_sorted(of_layer)) << model;
  }
}

TEST(Expert, equal_devices_get_about_equal_work) {
  for (const char* model : {"resnet101", "inception_v3"}) {
    const Problem problem = sample(model, 32, "celeritas");
    const auto load = loads(problem);
    EXPECT_EQ(load.size(), problem.cluster->device_count());
    for (const auto& [device, part] : load)
      EXPECT_NEAR(part * static_cast<double>(load.size()), 1, 0.5) << model;
  }
}

TEST(Expert, faster_devices_get_more_work) {
  // Two V100 and two GTX 1080 Ti, and a chain whose layers are all equal.
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 60, 64, 2048);
  const auto load = loads(problem);
  ASSERT_EQ(load.size(), 4U);
  const auto times = graph_times(problem);
  const double fast = 1 / to_seconds(times[problem.cluster->device(DeviceId(0)).type]);
  const double slow = 1 / to_seconds(times[problem.cluster->device(DeviceId(2)).type]);
  ASSERT_GT(fast, slow);
  for (const auto& [device, part] : load) {
    const double speed = device.value() < 2 ? fast : slow;
    EXPECT_NEAR(part / (speed / (2 * fast + 2 * slow)), 1, 0.25) << device.value();
  }
}

TEST(Expert, cuts_where_few_bytes_cross) {
  // The middle of four layers has a narrow place one layer away from the balanced cut.
  Problem problem = toy::chain_problem(toy::small_cluster(2, 0), 2);
  std::vector<std::int64_t> widths(41, 512);
  widths[22] = 64;
  problem.graph = std::make_shared<const Graph>(toy::chain(widths, 256));
  problem.cost = make_analytic_cost_model(problem.graph, problem.cluster);
  const auto times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  problem.grouping =
      std::make_shared<const Grouping>(group_by_metis(*problem.graph, times, MetisOptions{}));
  const std::vector<DeviceId> device = expert_devices(problem);
  EXPECT_EQ(device[problem.graph->find_op("relu21").index()], DeviceId(0));
  EXPECT_EQ(device[problem.graph->find_op("product22").index()], DeviceId(1));
}

TEST(Expert, recurrent_models_go_round_robin) {
  const Problem problem = sample("rnnlm", 16, "gdp");
  EXPECT_TRUE(is_recurrent(problem));
  EXPECT_TRUE(is_recurrent(sample("gnmt", 16, "gdp")));
  for (const char* model : {"vgg19", "bert_small", "transformer", "inception_v3"})
    EXPECT_FALSE(is_recurrent(sample(model, 16, "gdp"))) << model;
  const std::vector<DeviceId> device = expert_devices(problem);
  std::vector<DeviceId> stages;  // embedding, LSTM, LSTM, softmax
  for (std::size_t i = 0; i < device.size(); ++i) {
    const Op& op = problem.graph->op(OpId(i));
    if (op.type == "Gather" || op.type == "LSTM" || op.type == "MatMul")
      stages.push_back(device[i]);
  }
  EXPECT_EQ(stages, (std::vector<DeviceId>{DeviceId(0), DeviceId(1), DeviceId(2), DeviceId(3)}));
}

TEST(Expert, fewer_layers_than_devices_and_one_device) {
  for (int layers : {1, 2, 3}) {
    const Problem problem = toy::chain_problem(toy::sample_cluster("autodist-a1"), layers);
    EXPECT_TRUE(expert(problem).strategy.is_complete());
    const auto device = expert_devices(problem);
    EXPECT_LE(std::set(device.begin(), device.end()).size(), static_cast<std::size_t>(layers));
  }
  const Problem one = toy::chain_problem(toy::small_cluster(1, 0), 4);
  EXPECT_EQ(expert(one).score.step_time,
            simulate_strategy(one, on_one_device(one, DeviceId(0))).score.step_time);
}

}  // namespace
}  // namespace strato
