// Meshes: rows that share the batch, columns that compute each op together. What is exchanged, with
// closed forms of its bytes, and what stands where.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/error.h"
#include "core/graph/train/training_graph.h"
#include "core/program/project/rank_programs.h"
#include "core/program/value/collective.h"
#include "tests/core/graph/model_kit.h"
#include "tests/core/program/toy.h"
#include "tests/message_of.h"

namespace strato {
namespace {

constexpr std::int64_t kMeshBatch = 4, kMeshWidth = 8, kMeshInner = 4 * kMeshWidth, kBlocks = 2;

// Products take time, so that it pays to share them.
class WorkCosts final : public toy::Costs {
 public:
  using Costs::Costs;
  Nanos compute(OpId op, GpuTypeId, std::int64_t samples) const override {
    if (graph_->op(op).family != OpFamily::MatMul) return Nanos(1);
    return Nanos(static_cast<std::int64_t>(graph_->op(op).work.flops) * samples / kMeshBatch);
  }
};

// Blocks of two products with a residual connection: w0 [8, 32], w1 [32, 8], and so on.
Graph perceptron() {
  ModelKit kit(kMeshBatch);
  TensorId x = kit.input("x", {kMeshBatch, kMeshWidth});
  for (int block = 0; block < kBlocks; ++block) {
    const std::string name = "w" + std::to_string(block);
    const TensorId inner =
        kit.op("Relu", {kit.op("MatMul", {x, kit.weight(name + "up", {kMeshWidth, kMeshInner})})});
    x = kit.op("Add",
               {x, kit.op("MatMul", {inner, kit.weight(name + "down", {kMeshInner, kMeshWidth})})});
  }
  return make_training_graph(kit.build(), Optimizer::Adam);
}

class Mesh : public testing::Test {
 protected:
  Mesh()
      : graph(std::make_shared<const Graph>(perceptron())),
        cluster(toy::cluster(2, 4)),
        costs(std::make_shared<WorkCosts>(graph, cluster)),
        grouping(std::make_shared<const Grouping>(*graph,
                                                  std::vector<std::int32_t>(graph->op_count(), 0),
                                                  std::vector<Nanos>(graph->op_count(), Nanos(1)))),
        lowering(graph, grouping, cluster, costs) {}

  static Strategy on(std::vector<int> devices, std::int32_t tensor, std::vector<int> weights = {}) {
    Strategy strategy;
    Decision decision = toy::Bench::decision(Mode::ReplicateAllReduce, devices, weights);
    decision.roles.tensor = tensor;
    strategy.groups.push_back(decision);
    return strategy;
  }
  std::shared_ptr<const Program> lower(const Strategy& strategy) {
    LowerOptions options;
    options.verify = true;
    return std::make_shared<const Program>(lowering.lower(strategy, options));
  }
  bool is_gradient_of_parameter(TensorId tensor) const {
    return std::ranges::any_of(graph->consumers(tensor), [&](OpId reader) {
      return graph->op(reader).phase == Phase::Update;
    });
  }
  struct Reduced {
    std::set<std::set<DeviceId>> groups;
    Bytes bytes;  // of all of them
    std::int64_t count = 0;
  };
  // Of activations and their gradients, and of parameters' gradients.
  std::pair<Reduced, Reduced> reduced(const Program& program) const {
    std::pair<Reduced, Reduced> result;
    for (const TaskId id : program.tasks.ids()) {
      const Task& task = program.tasks[id];
      if (task.kind != TaskKind::AllReduce) continue;
      Reduced& of = is_gradient_of_parameter(task.tensor) ? result.second : result.first;
      const std::vector<DeviceId> members = members_of(program, id);
      of.groups.insert({members.begin(), members.end()});
      of.bytes += task.bytes;
      ++of.count;
    }
    return result;
  }
  static std::set<std::set<DeviceId>> groups(std::vector<std::vector<std::size_t>> lists) {
    std::set<std::set<DeviceId>> result;
    for (const auto& list : lists) {
      std::set<DeviceId> group;
      for (const std::size_t device : list) group.insert(DeviceId(device));
      result.insert(group);
    }
    return result;
  }

  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const CostModel> costs;
  std::shared_ptr<const Grouping> grouping;
  Lowering lowering;
};

constexpr Bytes kActivation(kMeshBatch* kMeshWidth * 4);  // of the whole batch
constexpr Bytes kPair(2 * kMeshWidth * kMeshInner * 4);   // of a block's two weights
constexpr std::int64_t kExchanges = 2 * kBlocks - 1;      // the input has no gradient

// Shoeybi et al. 2019, section 3: a block has one AllReduce of its result forward, and one of the
// gradient of its input backward, of the row's samples each.
TEST_F(Mesh, ARowExchangesActivationsOnceABlockEachWay) {
  const auto program = lower(on({0, 1, 2, 3}, 4));
  const auto [activations, gradients] = reduced(*program);
  EXPECT_EQ(gradients.count, 0);  // nobody else has samples
  EXPECT_EQ(activations.groups, groups({{0, 1, 2, 3}}));
  EXPECT_EQ(activations.count, kExchanges);
  EXPECT_EQ(activations.bytes, kActivation * kExchanges);
  EXPECT_EQ(toy::count(*program, TaskKind::Transfer), 0u);
  EXPECT_EQ(toy::count(*program, TaskKind::AllGather), 0u);
}

// Two products read one tensor: the partial sums of its gradient are added up before they are
// reduced, once.
TEST(MeshSumsOfSums, AreReducedOnce) {
  ModelKit kit(kMeshBatch);
  const TensorId x =
      kit.op("Mul", {kit.input("x", {kMeshBatch, kMeshWidth}), kit.weight("scale", {kMeshWidth})});
  const auto branch = [&](const char* name) {
    return kit.op("Relu", {kit.op("MatMul", {x, kit.weight(name, {kMeshWidth, kMeshInner})})});
  };
  const TensorId inner = kit.op("Mul", {branch("gate"), branch("up")});
  kit.op("MatMul", {inner, kit.weight("down", {kMeshInner, kMeshWidth})});
  const auto graph =
      std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
  const auto cluster = toy::cluster(1, 4);
  const auto costs = std::make_shared<WorkCosts>(graph, cluster);
  const auto grouping =
      std::make_shared<const Grouping>(*graph, std::vector<std::int32_t>(graph->op_count(), 0),
                                       std::vector<Nanos>(graph->op_count(), Nanos(1)));
  Strategy strategy;
  strategy.groups.push_back(toy::Bench::decision(Mode::ReplicateAllReduce, {0, 1, 2, 3}));
  strategy.groups.front()->roles.tensor = 4;
  LowerOptions options;
  options.verify = true;
  const Program program = Lowering(graph, grouping, cluster, costs).lower(strategy, options);
  std::vector<Bytes> reduced;
  for (const Task& task : program.tasks)
    if (task.kind == TaskKind::AllReduce) reduced.push_back(task.bytes);
  EXPECT_EQ(reduced, std::vector(2, kActivation));  // forward behind "down", backward of x
  std::size_t sums = 0;
  for (const Task& task : program.tasks)
    sums += task.kind == TaskKind::Compute && graph->op(task.op).type == "AddN" &&
            program.part_of(task).sums_letter();
  EXPECT_EQ(sums, 4u);
}

// Gradients of what columns keep parts of are summed over the rows, a part in each column.
TEST_F(Mesh, ColumnsSumUpGradientsOfTheirParts) {
  const auto program = lower(on({0, 1, 2, 3}, 2));
  const auto [activations, gradients] = reduced(*program);
  EXPECT_EQ(activations.groups, groups({{0, 1}, {2, 3}}));
  EXPECT_EQ(activations.bytes,
            kActivation * kExchanges);  // half in each of two rows
  EXPECT_EQ(gradients.groups, groups({{0, 2}, {1, 3}}));
  // Both columns together have every weight once.
  EXPECT_EQ(gradients.bytes, kPair * kBlocks);
}

TEST_F(Mesh, BucketsFuseTheGradientsOfAColumn) {
  Strategy strategy = on({0, 1, 2, 3}, 2);
  strategy.bucket = Bytes(1 << 20);
  const auto [activations, gradients] = reduced(*lower(strategy));
  EXPECT_EQ(gradients.count, 2);
  EXPECT_EQ(gradients.bytes, kPair * kBlocks);
}

// All-reducing the gradient of a small parameter takes as long for a half of it: it is not worth
// a message to gather what columns would cast of it.
TEST_F(Mesh, SmallParametersAreNotDivided) {
  constexpr std::int64_t kBf16 = 16;
  ModelKit kit(kMeshBatch);
  const TensorId scale = kit.shaped("Cast", {kit.weight("scale", {kMeshWidth})}, {{kMeshWidth}},
                                    {{"to", kBf16}}, DataType::BF16);
  const TensorId x = kit.op("Mul", {kit.input("x", {kMeshBatch, kMeshWidth}), scale});
  const TensorId inner =
      kit.op("Relu", {kit.op("MatMul", {x, kit.weight("up", {kMeshWidth, kMeshInner})})});
  kit.op("MatMul", {inner, kit.weight("down", {kMeshInner, kMeshWidth})});
  graph = std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
  grouping =
      std::make_shared<const Grouping>(*graph, std::vector<std::int32_t>(graph->op_count(), 0),
                                       std::vector<Nanos>(graph->op_count(), Nanos(1)));
  costs = std::make_shared<WorkCosts>(graph, cluster);
  LowerOptions options;
  options.verify = true;
  const Program program =
      Lowering(graph, grouping, cluster, costs).lower(on({0, 1, 2, 3}, 2), options);
  EXPECT_EQ(toy::count(program, TaskKind::AllGather), 0u);
  int whole = 0;
  for (const Task& task : program.tasks)
    if (task.kind == TaskKind::Compute && graph->op(task.op).type == "Cast")
      whole += program.cuts_of(task).empty() ? 1 : 0;
  EXPECT_EQ(whole, 4);
}

TEST_F(Mesh, ParametersAndTheirStateAreKeptInParts) {
  const auto program = lower(on({0, 1, 2, 3}, 4));
  std::map<std::string, std::int64_t> kept;  // by tensor: bytes on the second device
  for (const Resident& resident : program->residents)
    if (resident.device == DeviceId(1))
      kept[graph->tensor(resident.tensor).name] += resident.bytes.value;
  int states = 0;
  for (const Tensor& tensor : graph->tensors()) {
    if (tensor.name.find("up") == std::string::npos &&
        tensor.name.find("down") == std::string::npos)
      continue;
    if (tensor.role != TensorRole::Parameter && tensor.role != TensorRole::OptimizerState) continue;
    if (tensor.shape.size() < 2) continue;
    EXPECT_EQ(kept.at(tensor.name) * 4, tensor.bytes().value) << tensor.name;
    ++states;
  }
  EXPECT_EQ(states, 3 * 2 * kBlocks);  // each with two moments
}

// Every op of a row is computed by its columns together: they are four times as fast where all of
// it is divided.
TEST_F(Mesh, WorkIsShared) {
  const auto whole = lower(on({0}, 1)), parts = lower(on({0, 1, 2, 3}, 4));
  const auto work = [&](const Program& program, const std::string& op) {
    std::map<DeviceId, Nanos> times;
    for (const Task& task : program.tasks)
      if (task.op.valid() && task.kind == TaskKind::Compute && graph->op(task.op).name == op)
        times[task.device] += task.duration;
    return times;
  };
  int divided = 0;
  for (const Op& op : graph->ops()) {
    if (op.type != "MatMul") continue;
    const Nanos alone = work(*whole, op.name).begin()->second;
    const auto shared = work(*parts, op.name);
    EXPECT_EQ(shared.size(), 4u);
    for (const auto& [device, time] : shared) EXPECT_EQ(time.value, (alone.value + 3) / 4);
    ++divided;
  }
  EXPECT_EQ(divided, 2 * kBlocks);
}

// All tasks of a product together do its work once, and none is called as another.
TEST_F(Mesh, TasksSayWhichPartOfTheWorkTheyDo) {
  const auto program = lower(on({0, 1, 2, 3}, 2));
  std::map<OpId, double> work;
  std::set<std::string> names;
  for (const TaskId id : program->tasks.ids()) {
    const Task& task = program->tasks[id];
    if (task.kind != TaskKind::Compute) continue;
    EXPECT_TRUE(names.insert(program->task_name(id)).second) << program->task_name(id);
    if (graph->op(task.op).family == OpFamily::MatMul)
      work[task.op] +=
          static_cast<double>(program->samples_of(task)) / kMeshBatch * program->share_of(task);
  }
  EXPECT_EQ(work.size(), 2u * kBlocks * 3u - 1u);  // with gradients of weights and inputs
  for (const auto& [op, all] : work) EXPECT_DOUBLE_EQ(all, 1) << graph->op(op).name;
}

// Three samples and one: rows of unequal weight.
TEST_F(Mesh, RowsMayHaveUnequalShares) {
  const auto program = lower(on({0, 1, 2, 3}, 2, {3, 3, 1, 1}));
  std::map<DeviceId, std::set<std::int32_t>> samples;
  for (const Task& task : program->tasks)
    if (task.kind == TaskKind::Compute && graph->op(task.op).type == "Relu")
      samples[task.device].insert(program->part_of(task).along(kBatchAxis)->size());
  EXPECT_EQ(samples,
            (std::map<DeviceId, std::set<std::int32_t>>{
                {DeviceId(0), {3}}, {DeviceId(1), {3}}, {DeviceId(2), {1}}, {DeviceId(3), {1}}}));
}

TEST_F(Mesh, MicroBatchesExchangeActivationsEachAndGradientsOnce) {
  Strategy strategy = on({0, 1, 2, 3}, 2);
  strategy.micro_batches = {2, PipelineSchedule::Gpipe};
  const auto [activations, gradients] = reduced(*lower(strategy));
  EXPECT_EQ(activations.count, 2 * 2 * kExchanges);  // micro-batches and rows
  EXPECT_EQ(activations.bytes, kActivation * kExchanges);
  EXPECT_EQ(gradients.bytes, kPair * kBlocks);
}

// Rajbhandari et al. 2020, section 5, within each column: gradients are reduced and scattered,
// parameters and their state are kept once by all devices together, and gathered to be read.
class SharedByRows : public Mesh {
 protected:
  Strategy shared(int micro_batches, std::int32_t stage) const {
    Strategy strategy = on({0, 1, 2, 3}, 2);
    strategy.groups[GroupId(0)]->roles.states = {stage, 0, Bytes(0)};
    strategy.micro_batches = {micro_batches, PipelineSchedule::Gpipe};
    return strategy;
  }
  static Reduced all_of(const Program& program, TaskKind kind) {
    Reduced all;
    for (const TaskId id : program.tasks.ids()) {
      if (program.tasks[id].kind != kind) continue;
      const std::vector<DeviceId> members = members_of(program, id);
      all.groups.insert({members.begin(), members.end()});
      all.bytes += program.tasks[id].bytes;
      ++all.count;
    }
    return all;
  }
};

TEST_F(SharedByRows, GradientsAreScatteredAndParametersGatheredInColumns) {
  const auto program = lower(shared(1, 1));
  EXPECT_EQ(reduced(*program).second.count, 0);
  EXPECT_EQ(reduced(*program).first.bytes, kActivation * kExchanges);  // as without
  for (const TaskKind kind : {TaskKind::ReduceScatter, TaskKind::AllGather}) {
    const Reduced all = all_of(*program, kind);
    EXPECT_EQ(all.groups, groups({{0, 2}, {1, 3}}));
    EXPECT_EQ(all.count, 2 * 2 * kBlocks);  // of each weight in each column
    EXPECT_EQ(all.bytes, kPair * kBlocks);
  }
  EXPECT_EQ(toy::count(*program, TaskKind::Transfer), 0u);
  std::map<DeviceId, Bytes> kept;
  for (const Resident& resident : program->residents)
    if (graph->tensor(resident.tensor).role != TensorRole::Input &&
        graph->tensor(resident.tensor).shape.size() == 2)
      kept[resident.device] += resident.bytes;
  ASSERT_EQ(kept.size(), 4u);
  for (const auto& [device, bytes] : kept)  // and two moments
    EXPECT_EQ(bytes * 4, kPair * 3 * kBlocks) << device.value();
}

// Each micro-batch's forward pass gathers all weights, its backward pass all but the first: nobody
// asks for the gradient of the input.
TEST_F(SharedByRows, PassesGatherEachForItself) {
  const auto program = lower(shared(2, 3));
  const Reduced gathered = all_of(*program, TaskKind::AllGather);
  const Bytes of_passes = kPair * (2 * kBlocks) - Bytes(kPair.value / 2);
  EXPECT_EQ(gathered.bytes, of_passes * 2);
  EXPECT_EQ(all_of(*program, TaskKind::ReduceScatter).bytes, kPair * kBlocks * 2);
}

// Of stage 2 gradients are scattered in each micro-batch, of stage 1 once; both gather parameters
// once.
TEST_F(SharedByRows, StagesDifferInWhatEachMicroBatchMoves) {
  for (const int stage : {1, 2}) {
    const auto program = lower(shared(2, stage));
    EXPECT_EQ(all_of(*program, TaskKind::AllGather).bytes, kPair * kBlocks);
    EXPECT_EQ(all_of(*program, TaskKind::ReduceScatter).bytes, kPair * kBlocks * stage);
  }
}

// Mixed precision: what is cast travels, and each row casts just its part of the weight. Gradients
// are cast by each row in each micro-batch, and scattered once. (All tensors of the kit are
// floats.)
TEST_F(SharedByRows, CastsAreSharedAsTheUpdate) {
  ModelKit kit(kMeshBatch);
  constexpr std::int64_t kHalf = 10;
  const auto cast = [&](TensorId x) { return kit.op("Cast", {x}, {{"to", kHalf}}); };
  const TensorId w = kit.weight("w", {kMeshWidth, kMeshInner});
  kit.op("MatMul", {cast(kit.input("x", {kMeshBatch, kMeshWidth})), cast(w)});
  graph = std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
  grouping =
      std::make_shared<const Grouping>(*graph, std::vector<std::int32_t>(graph->op_count(), 0),
                                       std::vector<Nanos>(graph->op_count(), Nanos(1)));
  costs = std::make_shared<WorkCosts>(graph, cluster);
  Strategy strategy = on({0, 1}, 1);
  strategy.groups[GroupId(0)]->roles.states = {1, 0, Bytes(0)};
  strategy.micro_batches = {2, PipelineSchedule::Gpipe};
  LowerOptions options;
  options.verify = true;
  const Program program = Lowering(graph, grouping, cluster, costs).lower(strategy, options);
  for (const TaskKind kind : {TaskKind::ReduceScatter, TaskKind::AllGather}) {
    const Reduced all = all_of(program, kind);
    EXPECT_EQ(all.count, 1) << name_of(kind);
    EXPECT_EQ(all.bytes, Bytes(kMeshWidth * kMeshInner * 4)) << name_of(kind);
  }
  EXPECT_EQ(toy::count(program, TaskKind::AllReduce), 0u);
  EXPECT_EQ(toy::count(program, TaskKind::Split), 0u);
  int of_weight = 0, of_gradient = 0;
  for (const Task& task : program.tasks) {
    if (task.kind != TaskKind::Compute) continue;
    of_weight += graph->op(task.op).type == "Cast" && program.cuts_of(task).size() == 1;
    of_gradient += graph->op(task.op).type == "CastGrad" && program.cuts_of(task).empty();
  }
  EXPECT_EQ(of_weight, 2);
  EXPECT_EQ(of_gradient, 2 * 2);
}

// Of what another mesh reads pieces are sent, which differ along two axes.
TEST_F(SharedByRows, OtherMeshesGetAllPieces) {
  ModelKit kit(kMeshBatch);
  const TensorId w = kit.weight("w", {kMeshWidth, kMeshInner});
  const TensorId x = kit.op("MatMul", {kit.input("x", {kMeshBatch, kMeshWidth}), w});
  kit.op("FusedMatMul", {x, w}, {{"transB", std::int64_t{1}}});
  graph = std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
  std::vector<std::int32_t> group_of(graph->op_count(), 0);
  for (const OpId op : graph->ops().ids())
    if (graph->op(op).type.starts_with("FusedMatMul")) group_of[op.index()] = 1;
  grouping = std::make_shared<const Grouping>(*graph, group_of,
                                              std::vector<Nanos>(graph->op_count(), Nanos(1)));
  costs = std::make_shared<WorkCosts>(graph, cluster);
  Strategy strategy = shared(1, 1);
  strategy.groups.push_back(toy::Bench::decision(Mode::ReplicateAllReduce, {4, 5, 6, 7}));
  strategy.groups[GroupId(1)]->roles.tensor = 2;
  LowerOptions options;
  options.verify = true;
  const Program program = Lowering(graph, grouping, cluster, costs).lower(strategy, options);
  std::size_t sent = 0;
  for (const Task& task : program.tasks)
    sent += task.kind == TaskKind::Transfer && graph->tensor(task.tensor).name == "w";
  EXPECT_GE(sent, 4u);
}

// Transfers take ten times as long as collectives.
class FarCosts final : public toy::Costs {
 public:
  using Costs::Costs;
  Nanos transfer(const Path&, Bytes bytes) const override { return Nanos(10 * bytes.value); }
};

// Two stages: what is computed until a Softmax on four devices, the rest on the other four. No
// column has a slice of what goes between them.
class Stages : public Mesh {
 protected:
  // `across`: the batch is the second axis of what goes between them.
  void make(bool across) {
    ModelKit kit(kMeshBatch);
    const auto turned = [&](TensorId x) { return across ? kit.transpose(x, {1, 0}) : x; };
    const TensorId x = turned(kit.input("x", {kMeshBatch, kMeshWidth}));
    const Shape scale = across ? Shape{kMeshWidth, 1} : Shape{kMeshWidth};
    const TensorId sums = kit.op("Softmax", {kit.op("Mul", {x, kit.weight("scale", scale)})},
                                 {{"axis", std::int64_t{across ? 0 : 1}}});
    kit.op("MatMul", {turned(sums), kit.weight("w", {kMeshWidth, kMeshInner})});
    graph = std::make_shared<const Graph>(make_training_graph(kit.build(), Optimizer::Sgd));
    std::vector<std::int32_t> group_of(graph->op_count(), 1);
    for (const OpId op : graph->ops().ids()) {
      if (graph->op(op).phase != Phase::Forward || between.valid()) continue;
      group_of[op.index()] = 0;
      if (graph->op(op).type == "Softmax") between = graph->op(op).outputs[0];
    }
    grouping = std::make_shared<const Grouping>(*graph, group_of,
                                                std::vector<Nanos>(graph->op_count(), Nanos(1)));
  }
  template <class Costs>
  Program lower_stages(std::int32_t columns) const {
    Strategy strategy;
    strategy.groups.resize(2);
    const GroupId first = grouping->group_of(graph->tensor(between).producer);
    strategy.groups[first] = on({0, 1, 2, 3}, columns).groups.front();
    strategy.groups[GroupId(1 - first.index())] = on({4, 5, 6, 7}, columns).groups.front();
    LowerOptions options;
    options.verify = true;
    return Lowering(graph, grouping, cluster, std::make_shared<Costs>(graph, cluster))
        .lower(strategy, options);
  }
  TensorId between;
};

// Narayanan et al. 2021, section 4.1: each column sends its peer a quarter, and the row gathers it.
// Where that is slower, each sends all.
TEST_F(Stages, SendSlicesWhereThatIsFaster) {
  make(false);
  for (const bool slices : {false, true}) {
    const Program program = slices ? lower_stages<FarCosts>(4) : lower_stages<WorkCosts>(4);
    std::map<DeviceId, std::vector<Bytes>> sent;
    std::int64_t gathered = 0;
    for (const TaskId id : program.tasks.ids()) {
      const Task& task = program.tasks[id];
      if (task.tensor != between) continue;
      if (task.kind == TaskKind::Transfer) {
        EXPECT_EQ(task.target.index(), task.device.index() + 4);
        sent[task.target].push_back(task.bytes);
      } else if (task.kind == TaskKind::AllGather) {
        EXPECT_EQ(task.bytes, kActivation);
        EXPECT_EQ(members_of(program, id).front(), DeviceId(4));
        ++gathered;
      }
    }
    EXPECT_EQ(gathered, slices ? 1 : 0);
    ASSERT_EQ(sent.size(), 4u);
    for (const auto& [device, bytes] : sent) {
      if (slices)
        EXPECT_EQ(bytes, std::vector<Bytes>{kActivation / 4}) << device.value();
      else  // the backward pass reads a slice
        EXPECT_EQ(std::ranges::count(bytes, kActivation), 1) << device.value();
    }
  }
}

// Rows have samples of their own: slices are along another axis, wherever the batch is.
TEST_F(Stages, SendNoSlicesOfTheBatch) {
  make(true);
  ASSERT_EQ(graph->tensor(between).batch.axis, 1);
  const Program program = lower_stages<FarCosts>(2);
  std::size_t slices = 0;
  for (const Task& task : program.tasks) {
    if (task.tensor != between || task.kind != TaskKind::Transfer) continue;
    const Part part = program.part_of(task);
    for (const AxisRange& cut : part.cuts()) {
      EXPECT_EQ(cut.axis, 0);
      ++slices;
    }
  }
  EXPECT_GE(slices, 4u);
}

TEST_F(Mesh, RowsThatCannotBeAreRefused) {
  const auto refused = [&](Strategy strategy) {
    return message_of([&] { validate(strategy, *grouping, *cluster); });
  };
  EXPECT_NE(refused(on({0, 1, 2}, 2)).find("is tensor 2 on 3 devices, which are no whole rows"),
            std::string::npos);
  EXPECT_NE(refused(on({0, 1, 2, 3}, 2, {1, 2, 1, 1})).find("unequal weights"), std::string::npos);
  Strategy served = on({0, 1}, 2);
  served.groups[GroupId(0)]->mode = Mode::ReplicatePs;
  EXPECT_NE(refused(served).find("is tensor 2 in mode replicate-ps"), std::string::npos);
  EXPECT_NO_THROW(validate(on({0, 1, 2, 3}, 2), *grouping, *cluster));
  EXPECT_NE(on({0, 1, 2, 3}, 2).digest(), on({0, 1, 2, 3}, 4).digest());
  EXPECT_EQ(describe(*on({0, 1, 2, 3}, 2).groups[GroupId(0)], *cluster),
            "AllReduce, tensor 2, on m0");
}

}  // namespace
}  // namespace strato
