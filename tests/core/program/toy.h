// Small graphs, clusters and a cost model with closed forms, for tests of lowering and simulation.
//
// Costs: every op takes 10 ns a sample (updates 7 ns), whatever the GPU; a local reshuffle 1 ns for
// each 16 bytes moved; a transfer 1 ns a byte; a collective 100 ns and 1 ns a byte of the whole
// tensor.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"
#include "core/cost/value/cost_model.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/group/grouping.h"
#include "core/graph/value/graph.h"
#include "core/program/lower/lower.h"
#include "core/sim/engine/simulate.h"
#include "core/strategy/value/strategy.h"

namespace strato::toy {

class Costs : public CostModel {
 public:
  Costs(std::shared_ptr<const Graph> graph, std::shared_ptr<const Cluster> cluster)
      : graph_(std::move(graph)), cluster_(std::move(cluster)) {}
  Nanos compute(OpId op, GpuTypeId, std::int64_t samples) const override {
    return graph_->op(op).phase == Phase::Update ? Nanos(7) : Nanos(10 * samples);
  }
  Nanos local_move(GpuTypeId, Bytes moved) const override { return Nanos(moved.value / 16); }
  Nanos transfer(const Path&, Bytes bytes) const override { return Nanos(bytes.value); }
  CollectiveCost collective(Collective, std::span<const DeviceId> devices,
                            Bytes bytes) const override {
    CollectiveCost cost;
    cost.duration = Nanos(100 + bytes.value);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const Path& path = cluster_->path(devices[i], devices[(i + 1) % devices.size()]);
      cost.links.insert(cost.links.end(), path.links.begin(), path.links.end());
    }
    std::sort(cost.links.begin(), cost.links.end());
    cost.links.erase(std::unique(cost.links.begin(), cost.links.end()), cost.links.end());
    return cost;
  }
  const Digest& digest() const override { return digest_; }

 protected:
  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<const Cluster> cluster_;
  Digest digest_;
};

// `machines` machines of `gpus` GPUs each, with one port a direction for every GPU; with so many
// bytes of host memory, or none.
inline std::shared_ptr<const Cluster> cluster(int machines, int gpus, std::int64_t host = 0) {
  std::string list;
  for (int i = 0; i < machines; ++i) {
    if (i > 0) list += ",";
    list += R"({"name":"m)" + std::to_string(i) + R"(","gpus":[{"type":"GTX-1080-Ti","count":)" +
            std::to_string(gpus) +
            R"(}],"fabric":{"kind":"pcie3x16","bandwidth_GBps":12,"latency_us":4},)"
            R"("nic":{"kind":"100GbE","bandwidth_GBps":12.5,"latency_us":6})";
    if (host > 0) list += R"(,"host_memory_bytes":)" + std::to_string(host);
    list += "}";
  }
  const std::string json =
      R"({"format":"stratoscope-cluster","version":1,"name":"toy","machines":[)" + list +
      R"(],"network":{"latency_us":1}})";
  return std::make_shared<const Cluster>(parse_cluster(json, "toy.json", GpuCatalogue::bundled()));
}

// Ops of types that the catalogue does not know: they keep the batch axis of their first input.
class Model {
 public:
  explicit Model(std::int64_t batch) : batch_(batch), builder_("toy", batch) {}

  TensorId input(const std::string& name, std::int64_t width) {
    return add(name, TensorRole::Input, {batch_, width});
  }
  TensorId parameter(const std::string& name, std::int64_t width) {
    return add(name, TensorRole::Parameter, {width});
  }
  TensorId constant(const std::string& name, Shape shape) {
    return add(name, TensorRole::Constant, std::move(shape));
  }
  TensorId activation(const std::string& name, Shape shape) {
    return add(name, TensorRole::Activation, std::move(shape));
  }

  // name: the op; its output is "name:0".
  OpId op(const std::string& name, std::string type, std::vector<TensorId> inputs,
          TensorId output) {
    Op op;
    op.name = name;
    op.type = std::move(type);
    op.inputs = std::move(inputs);
    op.outputs = {output};
    return builder_.add_op(std::move(op));
  }
  TensorId layer(const std::string& name, std::vector<TensorId> inputs, std::int64_t width) {
    const TensorId out = add(name + ":0", TensorRole::Activation, {batch_, width});
    last_ = op(name, "ToyLayer", std::move(inputs), out);
    return out;
  }
  OpId last() const { return last_; }
  // The gradient of the loss with respect to `output`.
  TensorId seed(const std::string& name, TensorId output) {
    const TensorId out = add(name + ":0", TensorRole::Gradient, builder_.tensor(output).shape);
    builder_.op(op(name, "ToySeed", {output}, out)).phase = Phase::Backward;
    return out;
  }
  // The gradient of `forward`'s input number `wrt`, from its output's gradient and what it saved.
  TensorId gradient(const std::string& name, OpId forward, std::int64_t wrt, TensorId gradient,
                    std::vector<TensorId> saved) {
    const TensorId of = builder_.op(forward).inputs[static_cast<std::size_t>(wrt)];
    const TensorId out = add(name + ":0", TensorRole::Gradient, builder_.tensor(of).shape);
    saved.insert(saved.begin(), gradient);
    Op& made = builder_.op(op(name, "ToyLayerGrad", std::move(saved), out));
    made.phase = Phase::Backward;
    made.forward = forward;
    made.attributes = {{"wrt", std::vector<std::int64_t>{wrt}}};
    return out;
  }
  OpId update(const std::string& name, TensorId parameter, TensorId gradient,
              std::vector<TensorId> state = {}) {
    state.insert(state.begin(), {parameter, gradient});
    Op op;
    op.name = name;
    op.type = "ApplyToy";
    op.phase = Phase::Update;
    op.inputs = std::move(state);
    return builder_.add_op(std::move(op));
  }
  GraphBuilder& builder() { return builder_; }
  std::shared_ptr<const Graph> build() && {
    return std::make_shared<const Graph>(std::move(builder_).build());
  }

 private:
  TensorId add(const std::string& name, TensorRole role, Shape shape) {
    Tensor tensor;
    tensor.name = name;
    tensor.role = role;
    tensor.shape = std::move(shape);
    return builder_.add_tensor(std::move(tensor));
  }
  std::int64_t batch_;
  GraphBuilder builder_;
  OpId last_;
};

// A chain of `layers` layers with one parameter each ("w1", ...), its backward pass and its
// updates. Ops: f1 f2 ... seed, then for the last layer first: gw, gx (not of the first layer);
// then u1 u2 ...
inline std::shared_ptr<const Graph> training_chain(std::int64_t batch, int layers,
                                                   std::int64_t width) {
  Model model(batch);
  std::vector<TensorId> x = {model.input("x", width)}, w, grads;
  std::vector<OpId> forward;
  for (int i = 1; i <= layers; ++i) {
    w.push_back(model.parameter("w" + std::to_string(i), width));
    x.push_back(model.layer("f" + std::to_string(i), {x.back(), w.back()}, width));
    forward.push_back(model.last());
  }
  TensorId gradient = model.seed("seed", x.back());
  grads.resize(static_cast<std::size_t>(layers));
  for (int i = layers; i >= 1; --i) {
    const auto at = static_cast<std::size_t>(i - 1);
    grads[at] = model.gradient("gw" + std::to_string(i), forward[at], 1, gradient, {x[at]});
    if (i > 1)
      gradient = model.gradient("gx" + std::to_string(i), forward[at], 0, gradient, {w[at]});
  }
  for (int i = 1; i <= layers; ++i)
    model.update("u" + std::to_string(i), w[static_cast<std::size_t>(i - 1)],
                 grads[static_cast<std::size_t>(i - 1)]);
  return std::move(model).build();
}

// The groups of its ops: the first layers, `together` of them, are of group 0, each of the others
// has the next one, and the loss's gradient is of the last.
inline std::vector<std::pair<std::string, int>> layer_groups(int layers, int together = 1) {
  std::vector<std::pair<std::string, int>> result = {{"seed", layers - together}};
  for (int layer = 1; layer <= layers; ++layer)
    for (const char* op : {"f", "gw", "gx", "u"})
      if (layer > 1 || std::string(op) != "gx")
        result.emplace_back(op + std::to_string(layer), std::max(0, layer - together));
  return result;
}

// A problem with its lowering and simulator. group_of: by op name; ops not named go to group 0.
class Bench {
 public:
  Bench(std::shared_ptr<const Graph> graph_, std::shared_ptr<const Cluster> cluster_,
        const std::vector<std::pair<std::string, int>>& group_of = {})
      : graph(std::move(graph_)),
        cluster(std::move(cluster_)),
        costs(std::make_shared<Costs>(graph, cluster)) {
    std::vector<std::int32_t> groups(graph->op_count(), 0);
    // The grouping sorts by time: descending times keep the numbers of the groups.
    std::vector<Nanos> times(graph->op_count(), Nanos(1));
    for (const auto& [name, group] : group_of) groups[graph->find_op(name).index()] = group;
    std::int64_t weight = 1'000'000'000;
    for (std::size_t i = 0; i < times.size(); ++i)
      times[i] = Nanos(weight >> std::min(4 * groups[i], 62));
    grouping = std::make_shared<const Grouping>(*graph, groups, times);
    lowering = std::make_unique<Lowering>(graph, grouping, cluster, costs);
  }

  GroupId group(const std::string& op) const { return grouping->group_of(graph->find_op(op)); }

  // All groups alike.
  Strategy everywhere(Mode mode, std::vector<int> devices, std::vector<int> weights = {}) const {
    Strategy strategy;
    strategy.groups.assign(grouping->size(), decision(mode, devices, weights));
    return strategy;
  }
  static Decision decision(Mode mode, const std::vector<int>& devices,
                           const std::vector<int>& weights = {}) {
    Decision decision;
    decision.mode = mode;
    for (std::size_t i = 0; i < devices.size(); ++i)
      decision.devices.push_back(
          {DeviceId(static_cast<std::size_t>(devices[i])), weights.empty() ? 1 : weights[i]});
    return decision;
  }

  CompleteStrategy complete(const Strategy& strategy) const {
    return CompleteStrategy(strategy, *cluster);
  }
  std::shared_ptr<const Program> lower(const Strategy& strategy) {
    LowerOptions options;
    options.verify = true;
    auto program = std::make_shared<const Program>(lowering->lower(strategy, options));
    return program;
  }
  Timeline run(const Strategy& strategy) { return simulator.simulate(lower(strategy)); }

  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const CostModel> costs;
  std::shared_ptr<const Grouping> grouping;
  std::unique_ptr<Lowering> lowering;
  Simulator simulator;
};

inline std::size_t count(const Program& program, TaskKind kind) {
  return static_cast<std::size_t>(
      std::count_if(program.tasks.begin(), program.tasks.end(),
                    [&](const Task& task) { return task.kind == kind; }));
}

// The n-th task with this name's beginning; an invalid id when there is none.
inline TaskId find(const Program& program, const std::string& name, int n = 0) {
  for (std::size_t i = 0; i < program.tasks.size(); ++i)
    if (program.task_name(TaskId(i)).starts_with(name) && n-- == 0) return TaskId(i);
  return {};
}

}  // namespace strato::toy
