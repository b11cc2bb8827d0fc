// A plan's result is one device's: parameters and optimizer state after three steps, for random
// strategies, in any order of instructions that the rank programs allow.
//
// Everything is computed in doubles, so that 1e-9 tells a wrong sum from another order of its
// terms. Batch normalisation takes the statistics of the samples at hand, so that shards differ
// from one device by design: its ops (and their gradients) are computed on the whole batch here, by
// duplication.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/graph/axes/split_axes.h"
#include "core/program/lower/lower.h"
#include "tests/plugins/engines/rank/compared_run.h"
#include "tests/plugins/engines/rank/small_nets.h"
#include "tests/plugins/engines/rank/staged_run.h"
#include "tests/plugins/engines/torch/small_model.h"
#include "tests/property/random_model.h"

namespace strato {
namespace {

std::unique_ptr<InProcessRun> synchronised_run(const RandomProblem& problem, Random& random,
                                               Messages messages) {
  return staged_run(problem, any_synchronisation(problem, random, messages), random, kSteps);
}

// Values of variables that are divided along several axes.
std::size_t boxes_of(const InProcessRun& run) {
  std::size_t boxes = 0;
  for (const RankProgram& rank : run.programs().ranks)
    for (const Value& value : rank.values) boxes += value.part.cuts().size() > 1;
  return boxes;
}

class Synchronised : public testing::TestWithParam<int> {};

TEST_P(Synchronised, VariablesAreTrainedAsOnOneDevice) {
  Random random(static_cast<std::uint64_t>(GetParam()) + 100);
  std::size_t boxes = 0;
  for (const SmallNet& net : small_nets(7, static_cast<Optimizer>(GetParam() % 3))) {
    const Reference reference(net.graph);
    for (int i = 0; i < 6; ++i) {
      SCOPED_TRACE(net.name + ", strategy " + std::to_string(i));
      const auto run = synchronised_run(problem_of(net.graph, random), random, Messages::Exact);
      expect_trained_alike(*run, reference);
      expect_same_loss(*run, reference);
      if (testing::Test::HasFailure()) return;
      boxes += boxes_of(*run);
    }
  }
  EXPECT_GT(boxes, 100u);
}

// Strategies of random small nets, as `make` makes them: nothing where the net is not for it.
// Returns how many tasks compute something again.
template <class Make>
std::ptrdiff_t expect_as_on_one_device(int seed, int strategies, Random random, Make make) {
  std::ptrdiff_t again = 0;
  for (const SmallNet& net : small_nets(12, static_cast<Optimizer>(seed % 3))) {
    const Reference reference(net.graph);
    for (int i = 0; i < strategies; ++i) {
      SCOPED_TRACE(net.name + ", strategy " + std::to_string(i));
      const RandomProblem problem = problem_of(net.graph, random);
      const std::optional<Strategy> strategy = make(problem, i, random);
      if (!strategy) break;
      again += run_and_compare(problem, *strategy, reference, random);
      if (testing::Test::HasFailure()) return again;
    }
  }
  return again;
}
Random random_of(int seed, int test) {
  return Random(static_cast<std::uint64_t>(seed) + static_cast<std::uint64_t>(test));
}

// But for batch normalisation, which takes the statistics of each micro-batch.
Strategy in_micro_batches_if(bool wanted, const RandomProblem& problem, Strategy strategy,
                             Random& random) {
  if (!wanted || has_batch_norm(*problem.graph)) return strategy;
  return in_micro_batches(problem, strategy, random);
}

class InMicroBatches : public testing::TestWithParam<int> {};

// Stages of any strategy, and pipelines: the groups one behind the other.
TEST_P(InMicroBatches, GradientsAddUpToThoseOfTheBatch) {
  int strategies = 0;
  const auto make = [&](const RandomProblem& problem, int i,
                        Random& random) -> std::optional<Strategy> {
    if (has_batch_norm(*problem.graph)) return std::nullopt;
    ++strategies;
    const Strategy strategy =
        i % 3 == 0 ? any_synchronisation(problem, random) : any_strategy(problem, random);
    return in_micro_batches(problem, strategy, random);
  };
  expect_as_on_one_device(GetParam(), 6, random_of(GetParam(), 400), make);
  EXPECT_GE(strategies, 4 * 6);
}

INSTANTIATE_TEST_SUITE_P(Seeds, InMicroBatches, testing::Range(0, 4));

class OnMeshes : public testing::TestWithParam<int> {};

// Rows that share the batch, columns that compute each op together, in one step or micro-batches.
TEST_P(OnMeshes, ColumnsComputeWhatOneDeviceDoes) {
  const auto make = [](const RandomProblem& problem, int i, Random& random) {
    return std::optional(
        in_micro_batches_if(i % 2 == 1, problem, on_meshes(problem, random), random));
  };
  expect_as_on_one_device(GetParam(), 6, random_of(GetParam(), 500), make);
}

INSTANTIATE_TEST_SUITE_P(Seeds, OnMeshes, testing::Range(0, 4));

// Two meshes that are alike, of which each has some of the groups.
std::optional<Strategy> on_like_meshes(const RandomProblem& problem, Random& random) {
  const std::size_t devices = problem.cluster->device_count() / 2;
  if (devices < 2) return std::nullopt;
  const std::size_t columns = 2 + random.below(devices - 1), rows = devices / columns;
  Strategy strategy;
  for (std::size_t g = 0; g < problem.grouping->size(); ++g) {
    Decision mesh;
    mesh.roles.tensor = static_cast<std::int32_t>(columns);
    const std::size_t first = random.below(2) == 0 ? 0 : devices;
    for (std::size_t i = 0; i < rows * columns; ++i)
      mesh.devices.push_back({DeviceId(first + i), 1});
    strategy.groups.push_back(mesh);
  }
  duplicate_batch_norm(*problem.graph, strategy);
  return strategy;
}

// What goes from one to the other goes from peer to peer, in slices or not.
TEST_P(OnMeshes, PeersSendWhatTheirRowsGather) {
  int alike = 0;
  const auto make = [&](const RandomProblem& problem, int i, Random& random) {
    const std::optional<Strategy> strategy = on_like_meshes(problem, random);
    alike += strategy.has_value();
    return std::optional(in_micro_batches_if(
        i % 2 == 1, problem, strategy ? *strategy : on_meshes(problem, random), random));
  };
  expect_as_on_one_device(GetParam(), 6, random_of(GetParam(), 800), make);
  EXPECT_GE(alike, 12);
}

// Rows have the experts of a mixture among them, and exchange tokens; updates may be shared by
// those with the same ones, and experts computed again.
TEST_P(OnMeshes, RowsHaveExpertsAmongThem) {
  Random random = random_of(GetParam(), 900);
  const auto nets = small_nets(8, static_cast<Optimizer>(GetParam() % 3));
  const SmallNet& net = *std::ranges::find(nets, "mixture", &SmallNet::name);
  const Reference reference(net.graph);
  std::ptrdiff_t exchanges = 0;
  for (int i = 0; i < 16; ++i) {
    SCOPED_TRACE("strategy " + std::to_string(i));
    const RandomProblem problem = problem_of(net.graph, random);
    auto strategy = with_experts(problem, random_strategy(problem, random), random);
    if (!strategy) continue;
    if (i % 4 == 1) strategy = with_shared_states(problem, *strategy, random);
    if (i % 4 == 2) strategy->recomputed = random_recomputed(*net.graph, random);
    if (i % 2 == 1) strategy->micro_batches = {2, PipelineSchedule::OneFOneB};
    run_and_compare(problem, *strategy, reference, random);
    if (HasFailure()) return;
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    exchanges +=
        std::ranges::count(lowering.lower(*strategy).tasks, TaskKind::AllToAll, &Task::kind);
  }
  EXPECT_GT(exchanges, 20);
}

class Recomputed : public testing::TestWithParam<int> {};

// What is computed again is what it was, in any strategy, on meshes, in micro-batches.
TEST_P(Recomputed, OpsMakeWhatTheyMadeBefore) {
  const auto make = [](const RandomProblem& problem, int i, Random& random) {
    Strategy strategy = i % 3 == 0   ? any_synchronisation(problem, random)
                        : i % 3 == 1 ? on_meshes(problem, random)
                                     : any_strategy(problem, random);
    if (i == 5) strategy = with_shared_states(problem, strategy, random);
    strategy.recomputed = random_recomputed(*problem.graph, random);
    return std::optional(in_micro_batches_if(i % 2 == 1, problem, std::move(strategy), random));
  };
  EXPECT_GT(expect_as_on_one_device(GetParam(), 6, random_of(GetParam(), 600), make), 300);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Recomputed, testing::Range(0, 3));

class Offloaded : public testing::TestWithParam<int> {};

// What comes back from hosts is what went there, in any strategy, on meshes, in micro-batches; so
// are optimizer states, and with ops that are computed again.
TEST_P(Offloaded, WhatComesBackIsWhatWentOut) {
  std::ptrdiff_t copies = 0;
  const auto make = [&](const RandomProblem& problem, int i, Random& random) {
    Strategy strategy = i % 3 == 0   ? any_synchronisation(problem, random)
                        : i % 3 == 1 ? on_meshes(problem, random)
                                     : any_strategy(problem, random);
    if (i == 5) strategy = with_shared_states(problem, strategy, random);
    if (i % 4 == 3) strategy.recomputed = random_recomputed(*problem.graph, random);
    strategy.offloaded = random_offloaded(*problem.graph, strategy.recomputed, random);
    strategy = in_micro_batches_if(i % 2 == 1, problem, std::move(strategy), random);
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    copies += std::ranges::count_if(lowering.lower(strategy).tasks,
                                    [](const Task& task) { return is_host_copy(task.kind); });
    return std::optional(std::move(strategy));
  };
  expect_as_on_one_device(GetParam(), 6, random_of(GetParam(), 1000), make);
  EXPECT_GT(copies, 1000);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Offloaded, testing::Range(0, 3));

class Sharded : public testing::TestWithParam<int> {};

// Parameters that are kept in parts, gathered for the step or for each pass; on meshes the rows
// share them.
TEST_P(Sharded, ReplicasTrainTheirParts) {
  const auto make = [](const RandomProblem& problem, int i, Random& random) {
    Strategy strategy = i < 4 ? random_data_parallel(problem, random) : on_meshes(problem, random);
    duplicate_batch_norm(*problem.graph, strategy);
    strategy = with_shared_states(problem, strategy, random, 1 + i % 3);
    return std::optional(in_micro_batches_if(i % 3 > 0, problem, std::move(strategy), random));
  };
  expect_as_on_one_device(GetParam(), 6, random_of(GetParam(), 700), make);
}

// What is cast of a parameter, and of its gradient, rows share as the update: the gradient is
// scattered before it is cast, and the parameter gathered behind that.
TEST_P(Sharded, CastsAreShared) {
  Random random = random_of(GetParam(), 1000);
  const SmallNet net = casting_net(12, static_cast<Optimizer>(GetParam() % 3));
  const Reference reference(net.graph);
  int gathered = 0;
  for (int i = 0; i < 24; ++i) {
    SCOPED_TRACE("strategy " + std::to_string(i));
    const RandomProblem problem = problem_of(net.graph, random);
    Strategy strategy =
        i % 2 == 0 ? random_data_parallel(problem, random) : on_meshes(problem, random);
    strategy = with_shared_states(problem, strategy, random, 1 + i % 3);
    strategy = in_micro_batches_if(i % 4 > 1, problem, std::move(strategy), random);
    run_and_compare(problem, strategy, reference, random);
    if (HasFailure()) return;
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    for (const Task& task : lowering.lower(strategy).tasks) {
      if (!task.tensor.valid()) continue;
      const OpId producer = net.graph->tensor(task.tensor).producer;
      const std::string type = producer.valid() ? net.graph->op(producer).type : "";
      gathered += task.kind == TaskKind::AllGather && type == "Cast";
    }
  }
  // Columns gather some of what they divide: at most so many where casts are not shared.
  EXPECT_GT(gathered, 10);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Sharded, testing::Range(0, 3));

// Adam makes steps of any size from the rounding of small gradients: not for halves.
TEST_P(Synchronised, ByHalvesNearlySo) {
  Random random(static_cast<std::uint64_t>(GetParam()) + 200);
  const auto optimizer = GetParam() % 2 == 0 ? Optimizer::Sgd : Optimizer::Momentum;
  for (const SmallNet& net : small_nets(7, optimizer)) {
    const Reference reference(net.graph);
    for (int i = 0; i < 2; ++i) {
      SCOPED_TRACE(net.name + ", strategy " + std::to_string(i));
      const auto run = synchronised_run(problem_of(net.graph, random), random, Messages::Half);
      expect_trained_alike(*run, reference, 1e-2);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Whatever is lost on the way, all replicas lose the same.
// A lone record of 12 bytes, too: a number and a 32-bit element.
TEST_P(Synchronised, ReplicasStayAlike) {
  Random random(static_cast<std::uint64_t>(GetParam()) + 300);
  const DataType type = GetParam() % 2 == 0 ? DataType::F64 : DataType::F32;
  const double limit = type == DataType::F64 ? 1e-12 : 1e-6;
  for (const SmallNet& net : small_nets(7, Optimizer::Momentum, type)) {
    SCOPED_TRACE(net.name);
    const auto run = synchronised_run(problem_of(net.graph, random), random, Messages::Lossy);
    std::map<TensorId, std::vector<double>> seen;
    for (std::size_t r = 0; r < run->programs().ranks.size(); ++r) {
      const RankProgram& program = run->programs().ranks[r];
      for (std::size_t i = 0; i < program.values.size(); ++i) {
        const Value& value = program.values[ValueId(i)];
        const Tensor& tensor = net.graph->tensor(value.tensor);
        if (!value.resident || tensor.role != TensorRole::Parameter || !value.part.is_whole())
          continue;
        const auto [at, fresh] =
            seen.try_emplace(value.tensor, values_of(run->rank(r).read(ValueId(i)), type));
        if (!fresh)
          expect_same(values_of(run->rank(r).read(ValueId(i)), type), at->second, tensor.name,
                      limit);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Synchronised, testing::Range(0, 4));

class SmallNets : public testing::TestWithParam<int> {};

TEST_P(SmallNets, TrainAsOnOneDeviceUnderAnyStrategy) {
  const auto optimizer = static_cast<Optimizer>(GetParam() % 3);
  Random random(static_cast<std::uint64_t>(GetParam()) + 1);
  for (const SmallNet& net : small_nets(7, optimizer)) {
    const Reference reference(net.graph);
    for (int i = 0; i < 5; ++i) {
      SCOPED_TRACE(net.name + ", strategy " + std::to_string(i));
      const RandomProblem problem = problem_of(net.graph, random);
      run_and_compare(problem, any_strategy(problem, random), reference, random);
      if (testing::Test::HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SmallNets, testing::Range(0, 5));

// Tensor and expert parallelism of single ops: heads of an attention, experts of a mixture, and all
// other axes along which these ops can be split, in two parts of different sizes where they can be.
TEST(SplitOps, HeadsAndExpertsAreComputedInParts) {
  std::map<std::string, int> tried;
  for (const SmallNet& net : small_nets(7, Optimizer::Sgd)) {
    if (net.name != "llama" && net.name != "mixture") continue;  // the first looks at no later key
    const Reference reference(net.graph);
    for (const OpId op : net.graph->ops().ids()) {
      const std::string& type = net.graph->op(op).type;
      const auto is_of = [&](std::string_view family) { return type.starts_with(family); };
      if (!is_of("Attention") && !is_of("Rotary") && !is_of("Dispatch") && !is_of("Combine"))
        continue;
      for (const SplitAxis& split : split_axes(*net.graph, op)) {
        SCOPED_TRACE(net.name + ", " + type + ", axis " + std::to_string(split.axis));
        Random random(op.index());
        RandomProblem problem = problem_of(net.graph, random);
        while (problem.cluster->device_count() < 2) problem = problem_of(net.graph, random);
        Strategy strategy;
        strategy.groups.assign(problem.grouping->size(), decision_on_device(DeviceId(0)));
        strategy.splits = {{op, split.axis, {{DeviceId(0), 1}, {DeviceId(1), 3}}}};
        run_and_compare(problem, strategy, reference, random);
        if (testing::Test::HasFailure()) return;
        ++tried[type];
      }
    }
  }
  const std::map<std::string, int> expected = {
      {"Attention", 3},       {"AttentionGrad", 1},
      {"CombineTokens", 1},   {"CombineTokensGradResults", 2},
      {"DispatchTokens", 2},  {"DispatchTokensGrad", 1},
      {"RotaryEmbedding", 6}, {"RotaryEmbeddingGrad", 6}};
  EXPECT_EQ(tried, expected);
}

TEST(RandomModels, TrainAsOnOneDevice) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    RandomProblem problem = random_model_problem(random);
    problem = problem_of(std::make_shared<const Graph>(in_double(*problem.graph)), random);
    const Reference reference(problem.graph);
    if (!std::isfinite(reference.loss)) continue;  // a model that cannot be trained
    run_and_compare(problem, any_strategy(problem, random), reference, random);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace strato
