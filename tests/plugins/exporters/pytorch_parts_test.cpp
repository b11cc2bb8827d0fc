// Exported folders of plans in which ranks hold parts of tensors along several axes: meshes,
// variables in parts, parameters that are gathered in each pass; and what is computed again.
#ifdef STRATO_TORCH
#include "core/strategy/value/variable_check.h"
#include "tests/plugins/engines/rank/small_nets.h"
#include "tests/plugins/exporters/pytorch_kit.h"
#include "tests/property/random_model.h"

namespace strato {
namespace {

constexpr int kRanks = 4;
constexpr std::int64_t kBatch = 12;

SmallNet net_named(const std::string& name) {
  for (SmallNet& net : small_nets(kBatch, Optimizer::Sgd))
    if (net.name == name) return std::move(net);
  ADD_FAILURE() << "no net " << name;
  return {};
}

Decision mesh(std::vector<std::size_t> devices, std::int32_t columns) {
  Decision decision;
  for (const std::size_t device : devices) decision.devices.push_back({DeviceId(device), 1});
  decision.roles.tensor = columns;
  return decision;
}

// The front half of the forward pass and its gradients, and the rest.
RandomProblem in_two_groups(std::shared_ptr<const Graph> graph) {
  Random random(1);
  RandomProblem problem = on_toy_cluster(std::move(graph), kRanks, 0, random);
  const Graph& ops = *problem.graph;
  std::vector<OpId> forward;
  for (const OpId op : ops.ops().ids())
    if (ops.op(op).phase == Phase::Forward) forward.push_back(op);
  const OpId half = forward[forward.size() / 2];
  std::vector<std::int32_t> groups;
  for (const OpId op : ops.ops().ids()) {
    const OpId of = ops.op(op).forward.valid() ? ops.op(op).forward : op;
    groups.push_back(of < half ? 0 : 1);
  }
  problem.grouping = std::make_shared<const Grouping>(
      ops, groups, std::vector<Nanos>(ops.op_count(), Nanos(1000)));
  return problem;
}

struct MeshPlan {
  std::string name;
  std::vector<Decision> groups;
  std::int32_t micro_batches = 1;
};

std::vector<MeshPlan> mesh_plans() {
  const Decision square = mesh({0, 1, 2, 3}, 2), row = mesh({0, 1, 2, 3}, 4);
  const Decision front = mesh({0, 1}, 2), back = mesh({2, 3}, 2);
  return {{"2x2", {square, square}, 1},     {"2x2 in micro-batches", {square, square}, 2},
          {"1x4", {row, row}, 1},           {"1x4 in micro-batches", {row, row}, 2},
          {"two stages", {front, back}, 1}, {"two stages in micro-batches", {front, back}, 2}};
}

// What there is in the values of a folder's ranks, by kind of piece.
struct Pieces {
  int slices = 0, slices_of_samples = 0, boxes = 0, sums_over_letters = 0;
};

Json program_of(const std::filesystem::path& folder, int rank) {
  return Json::parse(read_file(folder / ("rank-" + std::to_string(rank) + ".json")));
}

Pieces pieces_of(const std::filesystem::path& folder) {
  Pieces pieces;
  for (int rank = 0; rank < kRanks; ++rank) {
    const Json program = program_of(folder, rank);
    for (const Json& value : program["values"]) {
      bool samples = false, sum = false;
      int cuts = 0;
      for (const Json& range : value[1]) {
        const int axis = range[0];
        samples = samples || axis == kBatchAxis;
        cuts += axis > kBatchAxis && axis < kSummedAxis;
        sum = sum || axis >= kSummedAxis;
      }
      pieces.slices += cuts > 0;
      pieces.slices_of_samples += cuts > 0 && samples;
      pieces.boxes += cuts > 1;
      pieces.sums_over_letters += sum;
    }
  }
  return pieces;
}

// How often a rank makes all of a parameter in a step after it has had all of it before.
int gathered_again(const Trained& run) {
  int again = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    const Json program = program_of(run.folder, rank);
    std::map<std::size_t, int> made;
    for (const Json& value : program["values"]) {
      const std::size_t tensor = value[0];
      const bool is_parameter = run.graph->tensor(TensorId(tensor)).role == TensorRole::Parameter;
      if (is_parameter && value[1].empty() && value[2] == 0) again += made[tensor]++ > 0;
    }
  }
  return again;
}

class PytorchParts : public Pytorch {
 protected:
  void add_meshes(const SmallNet& net) {
    const RandomProblem problem = in_two_groups(net.graph);
    for (const MeshPlan& plan : mesh_plans()) {
      Strategy strategy;
      strategy.groups = {plan.groups[0], plan.groups[1]};
      strategy.micro_batches = {plan.micro_batches, PipelineSchedule::OneFOneB};
      ASSERT_TRUE(add(problem, strategy, kRanks, net.name + ", " + plan.name));
      const Pieces pieces = pieces_of(runs_.back().folder);
      EXPECT_GT(pieces.slices, 0) << runs_.back().name;
      EXPECT_GT(pieces.sums_over_letters, 0) << runs_.back().name;
      if (plan.micro_batches > 1) {
        EXPECT_GT(pieces.slices_of_samples, 0) << runs_.back().name;
      }
    }
  }

  // Plans of all small nets, so many of each: `make` is given a problem, and the number of the
  // plan. Every other one is in micro-batches.
  template <class Make>
  void train_all(int plans, Make make) {
    Random random(7);
    for (int i = 0; i < plans; ++i) {
      for (const SmallNet& net : small_nets(kBatch, static_cast<Optimizer>(i % 3))) {
        add_some(kRanks, net.name + ", plan " + std::to_string(i), [&] {
          RandomProblem problem = on_toy_cluster(net.graph, 2, kRanks - 2, random);
          Strategy strategy = make(problem, i, random);
          duplicate_batch_norm(*net.graph, strategy);
          if (i % 2 == 1 && !has_batch_norm(*net.graph))
            strategy = in_micro_batches(problem, strategy, random);
          return std::pair(std::move(problem), std::move(strategy));
        });
      }
    }
    train_and_compare(kRanks);
  }
};

// A transformer's layer; a vocabulary; grouped queries and gated products, as Llama's; experts.
TEST_F(PytorchParts, TheColumnsOfMeshesTrainAsOneDeviceDoes) {
  for (const std::string name : {"transformer", "gpt", "llama", "mixture"})
    add_meshes(net_named(name));
  train_and_compare(kRanks);
}

// The test above has teeth: where two columns get each other's half of one parameter, the result is
// another one.
TEST_F(PytorchParts, AWrongPartIsFound) {
  const SmallNet net = net_named("llama");
  const RandomProblem problem = in_two_groups(net.graph);
  Strategy strategy;
  strategy.groups = {mesh({0, 1}, 2), mesh({0, 1}, 2)};
  ASSERT_TRUE(add(problem, strategy, 2, net.name));
  std::map<int, Json> programs;
  for (const int rank : {0, 1}) programs[rank] = program_of(runs_[0].folder, rank);
  Json graph = Json::parse(read_file(runs_[0].folder / "graph.json"));
  Json* parameter = nullptr;
  for (Json& each : graph["parameters"])
    if (each[1].size() == 2) parameter = &each;
  ASSERT_NE(parameter, nullptr) << "no parameter is kept in parts";
  Json owners = (*parameter)[1];
  for (const std::size_t i : {0u, 1u}) {
    const int rank = owners[i][0], value = owners[i][1];
    programs[rank]["values"][value][1] = owners[1 - i][2];
    for (Json& what : programs[rank]["instructions"])
      if (what["do"] == "update" && what["reads"][0] == value) what["piece"] = owners[1 - i][2];
    (*parameter)[1][i][2] = owners[1 - i][2];
  }
  for (const int rank : {0, 1})
    write_file(runs_[0].folder / ("rank-" + std::to_string(rank) + ".json"), programs[rank].dump());
  write_file(runs_[0].folder / "graph.json", graph.dump());
  train(2);
  if (HasFailure()) return;
  double largest = 0;
  for (const auto& [parameter, difference] : differences(runs_[0]))
    largest = std::max(largest, difference);
  EXPECT_GT(largest, 1e5);
}

TEST_F(PytorchParts, AnyMeshesTrainAsOneDeviceDoes) {
  train_all(4, [](const RandomProblem& problem, int, Random& random) {
    return with_meshes(problem, random_strategy(problem, random), random);
  });
}

TEST_F(PytorchParts, WhatIsComputedAgainIsWhatItWas) {
  train_all(3, [](const RandomProblem& problem, int i, Random& random) {
    Strategy strategy = random_strategy(problem, random);
    if (i > 0) strategy = with_meshes(problem, strategy, random);
    strategy.recomputed = random_recomputed(*problem.graph, random);
    return strategy;
  });
  std::ptrdiff_t again = 0;
  for (const Trained& run : runs_) again += run.again;
  EXPECT_GT(again, 300);
}

TEST_F(PytorchParts, WhatComesBackFromHostsIsWhatWentThere) {
  train_all(3, [](const RandomProblem& problem, int i, Random& random) {
    Strategy strategy = random_strategy(problem, random);
    if (i > 0) strategy = with_meshes(problem, strategy, random);
    if (i % 2 == 1) strategy.recomputed = random_recomputed(*problem.graph, random);
    strategy.offloaded = random_offloaded(*problem.graph, strategy.recomputed, random);
    return strategy;
  });
}

TEST_F(PytorchParts, ParametersAreGatheredInEachPass) {
  train_all(2, [](const RandomProblem& problem, int, Random& random) {
    return with_shared_states(problem, random_data_parallel(problem, random), random, 3);
  });
  int again = 0;
  for (const Trained& run : runs_) again += gathered_again(run);
  EXPECT_GT(again, 20);
}

TEST_F(PytorchParts, VariablesAreSynchronisedInParts) {
  train_all(3, [](const RandomProblem& problem, int, Random& random) {
    Strategy strategy = any_synchronisation(problem, random);
    for (VariableSync& variable : strategy.variables)
      for (SyncPart& part : variable.parts) part.encoding = Encoding::None;
    return strategy;
  });
  int boxes = 0;
  for (const Trained& run : runs_) boxes += pieces_of(run.folder).boxes;
  EXPECT_GT(boxes, 20);
}

}  // namespace
}  // namespace strato
#endif
