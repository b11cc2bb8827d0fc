// Of meshes, devices that do the same are lowered and simulated once: scores are those of the whole
// program, to the last bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "core/graph/train/training_graph.h"
#include "core/program/lower/lower.h"
#include "core/program/place/symmetry.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/sim/explain/error_bar.h"
#include "core/sim/timeline/feedback.h"
#include "tests/core/graph/model_kit.h"
#include "tests/plugins/engines/rank/small_nets.h"
#include "tests/property/random_model.h"
#include "tests/property/random_problem.h"

namespace strato {
namespace {

// Machines whose devices share a network card, or have one each.
std::shared_ptr<const Cluster> machines(int count, int gpus, bool rails) {
  return std::make_shared<const Cluster>(
      parse_cluster(fmt::format(
                        R"({{"format": "stratoscope-cluster", "version": 1, "name": "machines",
              "machines": [{{"name": "m", "count": {}, "gpus": [{{"type": "V100-SXM2-32GB", "count": {}}}],
                "fabric": {{"kind": "nvlink", "bandwidth_GBps": 100, "latency_us": 2}},
                "host_link": {{"kind": "pcie", "bandwidth_GBps": 12.5, "latency_us": 3}},
                "nic": {{"kind": "ib", "bandwidth_GBps": {}, "latency_us": 4}}}}],
              "network": {{"latency_us": 1}}}})",
                        count, gpus, rails ? 12.5 * gpus : 12.5),
                    "machines.json", GpuCatalogue::bundled()));
}

Decision mesh_from(std::size_t first, std::size_t rows, std::size_t columns) {
  Decision mesh;
  mesh.roles.tensor = static_cast<std::int32_t>(columns);
  for (std::size_t i = 0; i < rows * columns; ++i) mesh.devices.push_back({DeviceId(first + i), 1});
  return mesh;
}

// The groups one behind the other on stages that are alike, or nearly so.
struct Meshes {
  RandomProblem problem;
  Strategy strategy;
};
Meshes random_meshes(const SmallNet& net, Random& random) {
  Meshes made;
  RandomProblem& problem = made.problem;
  problem.graph = net.graph;
  problem.cluster = machines(1 + static_cast<int>(random.below(4)), random.below(3) == 0 ? 6 : 4,
                             random.below(4) != 0);
  problem.cost = make_analytic_cost_model(problem.graph, problem.cluster);
  const std::size_t ops = problem.graph->op_count(), stages = 1 + random.below(3);
  std::vector<std::int32_t> group_of(ops);
  for (std::size_t i = 0; i < ops; ++i) {
    // The backward pass goes through the stages of the forward pass again.
    const bool forward = problem.graph->op(OpId(i)).phase == Phase::Forward;
    const std::size_t along = forward ? i * 2 : (ops - 1 - i) * 2;
    group_of[i] = static_cast<std::int32_t>(std::min(stages - 1, along * stages / ops));
  }
  const std::vector<Nanos> times(ops, Nanos(1000));
  problem.grouping = std::make_shared<const Grouping>(*problem.graph, group_of, times);

  const std::size_t groups = problem.grouping->size();
  const std::size_t devices = problem.cluster->device_count() / groups;
  const std::size_t columns = std::min<std::size_t>(devices, std::size_t{1} << random.below(3));
  const std::size_t rows =
      random.below(3) == 0 ? 1 + random.below(devices / columns) : devices / columns;
  const bool uneven = random.below(5) == 0;
  const std::int32_t context =
      random.below(2) == 0 ? 1 : random_divisor(static_cast<std::int32_t>(rows), random);
  const std::int32_t experts =
      random.below(2) == 0 ? 1 : random_divisor(static_cast<std::int32_t>(rows) / context, random);
  for (std::size_t g = 0; g < groups; ++g) {
    Decision mesh = mesh_from(g * devices, rows, columns);
    if (random.below(12) == 0) mesh.roles.tensor = 1;
    mesh.roles.expert = experts;
    mesh.roles.context = context;
    if (mesh.roles.tensor > 1) mesh.roles.pieces = 1 + static_cast<std::int32_t>(rows % 3);
    if (mesh.roles.tensor > 1) mesh.roles.sequence = rows % 4 != 1;
    if (uneven)
      for (std::size_t i = 0; i < mesh.devices.size(); ++i)
        mesh.devices[i].weight =
            1 + static_cast<std::int32_t>(i / columns / static_cast<std::size_t>(context) % 2);
    made.strategy.groups.push_back(mesh);
  }
  if (random.below(3) == 0) made.strategy.bucket = Bytes(4096);
  if (random.below(2) == 0) made.strategy = with_shared_states(problem, made.strategy, random);
  if (random.below(3) == 0) made.strategy.recomputed = random_recomputed(*net.graph, random);
  if (const auto several = random_micro_batches(*net.graph, random);
      random.below(2) == 0 && several && goes_with(problem, *several)) {
    made.strategy.micro_batches = *several;
  }
  return made;
}

void expect_equal_scores(const Score& folded, const Score& full) {
  EXPECT_EQ(folded.step_time, full.step_time);
  EXPECT_EQ(folded.feasible, full.feasible);
  EXPECT_EQ(folded.overflow, full.overflow);
  ASSERT_TRUE(folded.feedback && full.feedback);
  for (std::size_t g = 0; g < full.feedback->groups.size(); ++g)
    EXPECT_EQ(folded.feedback->groups[GroupId(g)].makespan,
              full.feedback->groups[GroupId(g)].makespan);
  EXPECT_EQ(folded.feedback->link_idle, full.feedback->link_idle);
}

// Everything that a device does is what its representative does.
void expect_twins(const Timeline& folded, const Timeline& full, const Fold& fold) {
  EXPECT_EQ(folded.step_time, full.step_time);
  for (const DeviceId device : full.devices.ids()) {
    const DeviceUse &mine = full.devices[device], &kept = full.devices[fold.representative[device]],
                    &alone = folded.devices[fold.representative[device]];
    EXPECT_EQ(mine.compute_busy, kept.compute_busy);
    EXPECT_EQ(mine.communication_busy, kept.communication_busy);
    EXPECT_EQ(mine.peak, kept.peak);
    EXPECT_EQ(mine.peak_at, kept.peak_at);
    EXPECT_EQ(mine.peak, alone.peak);
    EXPECT_EQ(mine.peak_at, alone.peak_at);
    EXPECT_EQ(mine.compute_busy, alone.compute_busy);
    EXPECT_EQ(mine.communication_busy, alone.communication_busy);
  }
}

TEST(MeshTwins, AreSimulatedOnce) {
  std::size_t meshes = 0, folded_runs = 0, both = 0, with_micro_batches = 0, shared = 0,
              with_context = 0, tasks_folded = 0, tasks_full = 0;
  const std::vector<SmallNet> nets = small_nets(12, Optimizer::Adam, DataType::F32);
  for (std::uint64_t seed = 0; seed < 1200 && !testing::Test::HasFailure(); ++seed) {
    const SmallNet& net = nets[seed % nets.size()];
    SCOPED_TRACE(fmt::format("seed {} {}", seed, net.name));
    Random random(seed);
    const Meshes made = random_meshes(net, random);
    const RandomProblem& problem = made.problem;
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    Simulator simulator;
    Fold fold;
    LowerOptions options;
    options.fold = &fold;
    options.mesh_twins = true;
    const Timeline folded =
        simulator.simulate(std::make_shared<const Program>(lowering.lower(made.strategy, options)));
    const Timeline full =
        simulator.simulate(std::make_shared<const Program>(lowering.lower(made.strategy)));
    expect_twins(folded, full, fold);
    const Problem whole{problem.graph, problem.grouping, problem.cluster, problem.cost};
    const auto evaluator = make_simulating_evaluator(whole, 1, true);
    for (int i = 0; i < 2; ++i)  // nothing is left over from a fold
      expect_equal_scores(evaluator->evaluate(made.strategy),
                          simulate_strategy(whole, made.strategy).score);
    const bool has_meshes = made.strategy.groups.front()->roles.tensor > 1;
    meshes += has_meshes;
    if (!has_meshes || fold.stands_for[made.strategy.groups.front()->devices.front().device] < 2)
      continue;
    ++folded_runs;
    const Decision& mesh = *made.strategy.groups.front();
    both += fold.stands_for[mesh.devices.front().device] == mesh.devices.size() &&
            mesh.devices.size() > static_cast<std::size_t>(mesh.roles.tensor);
    with_micro_batches += made.strategy.micro_batches.count > 1;
    shared += state_rows_of(mesh) > 1;
    with_context += context_rows_of(mesh) > 1;
    tasks_folded += folded.program->tasks.size();
    tasks_full += full.program->tasks.size();
  }
  EXPECT_GT(folded_runs, meshes / 3);
  EXPECT_GT(both, 25u) << "rows and columns at once are hardly tested";
  EXPECT_GT(with_micro_batches, 50u);
  EXPECT_GT(shared, 10u) << "shared states are hardly tested";
  EXPECT_GT(with_context, 25u) << "rows that share positions are hardly tested";
  EXPECT_LT(tasks_folded * 2, tasks_full);
}

// One mesh on all devices.
Problem on_all(const SmallNet& net, const std::shared_ptr<const Cluster>& cluster) {
  const std::vector<Nanos> times(net.graph->op_count(), Nanos(1000));
  return {net.graph,
          std::make_shared<const Grouping>(
              *net.graph, std::vector<std::int32_t>(net.graph->op_count(), 0), times),
          cluster, make_analytic_cost_model(net.graph, cluster)};
}

// What is left out of the strategy does what the devices that stand for it do.
Fold folded_as_the_whole(const Problem& problem, const Strategy& strategy) {
  Fold fold;
  LowerOptions options;
  options.fold = &fold;
  options.mesh_twins = true;
  Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
  const Timeline folded =
      Simulator().simulate(std::make_shared<const Program>(lowering.lower(strategy, options)));
  const Timeline full =
      Simulator().simulate(std::make_shared<const Program>(lowering.lower(strategy)));
  expect_twins(folded, full, fold);
  return fold;
}

// Three rows cannot share 64 rows or columns of a weight evenly: those with as many are twins.
TEST(MeshTwins, OfUnevenSharesAreLoweredOnce) {
  ModelKit kit(12);
  const TensorId x = kit.op("MatMul", {kit.input("x", {12, 64}), kit.weight("w", {64, 64})});
  kit.op("MatMul", {x, kit.weight("v", {64, 64})});
  const SmallNet net = {
      "products", std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Adam))};
  const Problem problem = on_all(net, machines(3, 2, true));
  for (std::int32_t stage = 1; stage <= StateSharding::kMostStage; ++stage) {
    SCOPED_TRACE(stage);
    Strategy strategy;
    strategy.groups.push_back(mesh_from(0, 3, 2));
    strategy.groups.front()->roles.states = {.stage = stage, .smallest = Bytes(0)};
    const std::size_t left_out = folded_as_the_whole(problem, strategy).left_out;
    EXPECT_GT(left_out, 0u);
    EXPECT_LT(left_out, 5u) << "the rows are taken for equal";
  }
}

// Four rows cannot share the five classes of a last layer evenly, but the other axis of its weight:
// all are twins.
TEST(MeshTwins, ShareTheAxisThatDividesEvenly) {
  std::size_t alike = 0;
  for (const SmallNet& net : small_nets(12, Optimizer::Adam, DataType::F32)) {
    SCOPED_TRACE(net.name);
    Strategy strategy;
    strategy.groups.push_back(mesh_from(0, 4, 2));
    strategy.groups.front()->roles.states = {.stage = 1, .smallest = Bytes(0)};
    alike += folded_as_the_whole(on_all(net, machines(4, 2, true)), strategy).left_out == 7;
  }
  EXPECT_GT(alike, 0u) << "rows are taken for uneven by an axis that they do not share";
}

// Nothing that lowering keeps grows with the square of the devices, or with all of them for each
// tensor and micro-batch: of 16,384 devices one is left.
TEST(MeshTwins, OfThousandsOfDevicesAreLoweredOnce) {
  const std::vector<SmallNet> nets = small_nets(2048, Optimizer::Adam, DataType::F32);
  for (const SmallNet& net : std::span(nets).first(2)) {
    SCOPED_TRACE(net.name);
    const Problem problem = on_all(net, machines(2048, 8, true));
    Strategy strategy;
    strategy.groups.push_back(mesh_from(0, 2048, 8));
    Fold fold;
    LowerOptions options;
    options.fold = &fold;
    options.mesh_twins = true;
    Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
    const auto program = std::make_shared<const Program>(lowering.lower(strategy, options));
    EXPECT_EQ(fold.left_out, 16'383u);
    EXPECT_LT(program->tasks.size(), 10 * net.graph->op_count());
    EXPECT_GT(Simulator().simulate(program).step_time, Nanos(0));
  }
}

// Rows have experts among them over several machines, by AllToAll; and of all rows two such sets.
TEST(MeshTwins, OfExpertsOverMachinesAreLoweredOnce) {
  const std::vector<SmallNet> nets = small_nets(256, Optimizer::Adam, DataType::F32);
  const SmallNet& net = *std::ranges::find(nets, "mixture", &SmallNet::name);
  const Problem problem = on_all(net, machines(16, 8, true));
  for (const std::int32_t experts : {4, 128}) {
    Strategy strategy;
    strategy.groups.push_back(mesh_from(0, 128, 1));
    strategy.groups.front()->roles.expert = experts;
    EXPECT_EQ(folded_as_the_whole(problem, strategy).left_out, 127u) << experts;
  }
}

// Of more devices than people look at an outline tells the figures of the whole.
TEST(MeshTwins, OutlinesHaveTheFiguresOfTheWhole) {
  const std::vector<SmallNet> nets = small_nets(132, Optimizer::Adam, DataType::F32);
  for (const SmallNet& net : std::span(nets).first(4)) {
    SCOPED_TRACE(net.name);
    const Problem problem = on_all(net, machines(132, 8, true));
    Strategy strategy;
    strategy.groups.push_back(mesh_from(0, 132, 8));
    const Outcome outline = simulate_outline(problem, strategy);
    const Outcome whole = simulate_strategy(problem, strategy);
    ASSERT_TRUE(outline.timeline->is_outline());
    EXPECT_LT(outline.program->tasks.size(), whole.program->tasks.size() / 100);
    expect_equal_scores(outline.score, whole.score);
    for (const DeviceId device : whole.timeline->devices.ids()) {
      const DeviceUse &one = outline.timeline->devices[device],
                      &other = whole.timeline->devices[device];
      ASSERT_EQ(one.peak, other.peak);
      ASSERT_EQ(one.compute_busy, other.compute_busy);
      ASSERT_EQ(outline.timeline->alive_at(device, one.peak_at).size(),
                whole.timeline->alive_at(device, other.peak_at).size());
      if (device.index() > 16) break;
    }
    EXPECT_EQ(outline.timeline->link_busy, whole.timeline->link_busy);
    const ErrorBar error = error_bar(*outline.timeline, *problem.cost),
                   of_whole = error_bar(*whole.timeline, *problem.cost);
    EXPECT_EQ(error.low, of_whole.low);
    EXPECT_EQ(error.high, of_whole.high);
  }
}

}  // namespace
}  // namespace strato
