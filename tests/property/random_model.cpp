#include "tests/property/random_model.h"

#include <string>

#include "core/cost/analytic/analytic_cost_model.h"
#include "core/graph/axes/split_axes.h"
#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

class ModelGrower {
 public:
  ModelGrower(Random& random, std::int64_t batch) : random_(random), batch_(batch), kit_(batch) {}

  Graph grow() {
    TensorId x = start();
    for (std::uint64_t i = 1 + random_.below(6); i > 0; --i) x = layer(x);
    head(x);
    const Optimizer optimizer = static_cast<Optimizer>(random_.below(3));
    const Graph forward = kit_.build();
    if (random_.below(6) == 0) return forward;
    return make_training_graph(forward, optimizer);
  }

 private:
  enum class Kind { Rows, Sequences, Images };

  std::int64_t size() { return 1 + static_cast<std::int64_t>(random_.below(8)); }
  const Shape& shape(TensorId id) { return kit_.builder.tensor(id).shape; }
  TensorId weight(Shape shape) {
    return kit_.weight("w" + std::to_string(weights_++), std::move(shape));
  }

  TensorId start() {
    switch (random_.below(4)) {
      case 0:
        kind_ = Kind::Rows;
        return kit_.input("x", {batch_, size()});
      case 1:
        kind_ = Kind::Images;
        return kit_.input("x", {batch_, size(), 4, 4});
      case 2:
        kind_ = Kind::Sequences;
        return kit_.input("x", {batch_, 3, size()});
      default:
        kind_ = Kind::Sequences;
        return kit_.op("Gather",
                       {weight({7, size()}), kit_.input("ids", {batch_, 3}, DataType::I64)});
    }
  }

  TensorId layer(TensorId x) {
    switch (kind_) {
      case Kind::Rows:
        return row_layer(x);
      case Kind::Images:
        return image_layer(x);
      case Kind::Sequences:
        return sequence_layer(x);
    }
    return x;
  }

  TensorId row_layer(TensorId x) {
    const std::int64_t width = shape(x)[1];
    switch (random_.below(7)) {
      case 0:
        return kit_.op("Relu", {x});
      case 1:
        return kit_.op("Identity", {x});
      case 2:
        return kit_.op("Add", {x, kit_.op("Relu", {x})});
      case 3:
        return kit_.op("Concat", {x, kit_.op("Tanh", {x})}, {{"axis", std::int64_t{1}}});
      case 4:
        return kit_.shaped("LayerNormalization", {x, weight({width}), weight({width})},
                           {{batch_, width}, {batch_, 1}, {batch_, 1}});
      default:
        return kit_.op(
            "Add", {kit_.op("MatMul", {x, weight({width, next_width()})}), weight({next_width_})});
    }
  }

  TensorId image_layer(TensorId x) {
    const std::int64_t channels = shape(x)[1];
    switch (random_.below(7)) {
      case 0:
        return kit_.op("Relu", {x});
      case 1: {
        const Shape one = {channels};
        return kit_.op("BatchNormalization",
                       {x, weight(one), weight(one), weight(one), weight(one)});
      }
      case 2:
        return kit_.op("Add", {x, kit_.op("Relu", {x})});
      case 3:
        return kit_.shaped("Dropout", {x}, {shape(x), shape(x)});
      case 4:  // there and back
        return kit_.reshape(kit_.op("Flatten", {x}), {batch_, channels, shape(x)[2], shape(x)[3]});
      default:
        return kit_.op("Conv", {x, weight({size(), channels, 1, 1})});
    }
  }

  TensorId sequence_layer(TensorId x) {
    const Shape of = shape(x);
    switch (random_.below(9)) {
      case 0:
        return kit_.op("Gelu", {x});
      case 1:
        return kit_.op("LayerNormalization", {x, weight({of[2]}), weight({of[2]})});
      case 2:
        return kit_.op("Softmax", {x});
      case 3:
        return kit_.op("MatMul", {x, kit_.op("MatMul", {kit_.transpose(x, {0, 2, 1}), x})});
      case 4:
        return kit_.op("Add", {x, weight({of[2]})});
      case 5: {  // samples and time merge
        const TensorId rows = kit_.reshape(x, {of[0] * of[1], of[2]});
        const TensorId made = kit_.op("MatMul", {rows, weight({of[2], next_width()})});
        return kit_.reshape(made, {of[0], of[1], next_width_});
      }
      case 6: {  // time outermost
        const TensorId turned = kit_.transpose(x, {1, 0, 2});
        const TensorId rows = kit_.reshape(turned, {of[1] * of[0], of[2]});
        const TensorId made = kit_.op("MatMul", {rows, weight({of[2], next_width()})});
        return kit_.transpose(kit_.reshape(made, {of[1], of[0], next_width_}), {1, 0, 2});
      }
      default:
        return kit_.op("MatMul", {x, weight({of[2], next_width()})});
    }
  }

  void head(TensorId x) {
    if (kind_ == Kind::Images) x = kit_.op("GlobalAveragePool", {x});
    if (shape(x).size() > 2) {
      std::int64_t width = 1;
      for (std::size_t i = 1; i < shape(x).size(); ++i) width *= shape(x)[i];
      x = kit_.reshape(x, {batch_, width});
    }
    x = kit_.op("MatMul", {x, weight({shape(x).back(), next_width()})});
    if (random_.below(2) == 0)
      kit_.op("SoftmaxCrossEntropyLoss", {x, kit_.input("labels", {batch_}, DataType::I64)});
  }

  std::int64_t next_width() { return next_width_ = size(); }

  Random& random_;
  std::int64_t batch_, next_width_ = 1;
  ModelKit kit_;
  Kind kind_ = Kind::Rows;
  int weights_ = 0;
};

}  // namespace

RandomProblem random_model_problem(Random& random) {
  RandomProblem problem = random_problem(random);  // its cluster
  const auto batch = 1 + static_cast<std::int64_t>(random.below(9));
  problem.graph = std::make_shared<const Graph>(ModelGrower(random, batch).grow());
  std::vector<std::int32_t> group_of(problem.graph->op_count());
  for (std::int32_t& group : group_of) group = static_cast<std::int32_t>(random.below(4));
  const std::vector<Nanos> times(problem.graph->op_count(), Nanos(1000));
  problem.grouping = std::make_shared<const Grouping>(*problem.graph, group_of, times);
  problem.cost = make_analytic_cost_model(problem.graph, problem.cluster);
  return problem;
}

RandomProblem problem_of(std::shared_ptr<const Graph> graph, Random& random,
                         std::shared_ptr<const Cluster> cluster) {
  RandomProblem problem;
  problem.cluster = cluster ? std::move(cluster) : random_model_problem(random).cluster;
  problem.graph = std::move(graph);
  std::vector<std::int32_t> group_of(problem.graph->op_count());
  const std::uint64_t groups = 1 + random.below(5);
  for (std::int32_t& group : group_of) group = static_cast<std::int32_t>(random.below(groups));
  const std::vector<Nanos> times(problem.graph->op_count(), Nanos(1000));
  problem.grouping = std::make_shared<const Grouping>(*problem.graph, group_of, times);
  problem.cost = make_analytic_cost_model(problem.graph, problem.cluster);
  return problem;
}

std::vector<OpSplit> random_splits(const RandomProblem& problem, const Strategy& strategy,
                                   Random& random) {
  std::vector<OpSplit> splits;
  if (random.below(3) == 0) return splits;
  const std::uint64_t one_in = 1 + random.below(5);
  const bool updates = random.below(3) == 0;
  const bool alike = updates || random.below(2) == 0;  // on the same devices: slices fit each other
  std::vector<DeviceShare> parts;
  if (updates && strategy.groups.front()) parts = strategy.groups.front()->devices;
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i) {
    const bool is_update = problem.graph->op(OpId(i)).phase == Phase::Update;
    if (updates && !is_update) continue;
    const std::vector<SplitAxis> axes = split_axes(*problem.graph, OpId(i));
    if (axes.empty() || (!updates && random.below(one_in) != 0)) continue;
    if (!alike || parts.size() < 2) {
      parts.clear();
      for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
        if (random.below(3) != 0)
          parts.push_back({DeviceId(d), 1 + static_cast<std::int32_t>(random.below(3))});
    }
    if (parts.size() >= 2) splits.push_back({OpId(i), axes[random.below(axes.size())].axis, parts});
  }
  return splits;
}

Strategy with_shared_states(const RandomProblem& problem, const Strategy& strategy, Random& random,
                            std::int32_t stage) {
  Strategy shared = complete(strategy, *problem.cluster);
  shared.splits.clear();
  shared.variables.clear();
  for (std::optional<Decision>& decision : shared.groups) {
    if (decision->mode != Mode::ReplicateAllReduce || random.below(6) == 0) continue;
    StateSharding& states = decision->roles.states;
    states.stage = stage > 0 ? stage : 1 + static_cast<std::int32_t>(random.below(3));
    states.smallest = Bytes(random.below(3) == 0 ? 256 : 0);
    const auto rows = static_cast<std::int32_t>(decision->devices.size() / columns_of(*decision));
    if (random.below(2) == 0) states.rows = random_divisor(rows, random);
    drop_meaningless_roles(*decision);
  }
  return shared;
}

}  // namespace strato
