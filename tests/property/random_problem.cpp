#include "tests/property/random_problem.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/program/value/tables.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

// Durations from a few values only, so that many things happen at the same time.
class TiedCosts : public CostModel {
 public:
  TiedCosts(std::shared_ptr<const Graph> graph, std::shared_ptr<const Cluster> cluster,
            std::uint64_t seed)
      : toy_(graph, std::move(cluster)), graph_(std::move(graph)), seed_(seed) {}
  Nanos compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override {
    return Nanos(10 *
                 (1 + static_cast<std::int64_t>((op.index() * 7 + gpu.index() * 3 + seed_) % 3)) *
                 samples);
  }
  Nanos local_move(GpuTypeId, Bytes moved) const override {
    return Nanos(10 * (moved.value / 256));
  }
  Nanos transfer(const Path& path, Bytes bytes) const override {
    return Nanos(10 * static_cast<std::int64_t>(path.links.size()) + bytes.value / 32 * 10);
  }
  CollectiveCost collective(Collective kind, std::span<const DeviceId> devices,
                            Bytes bytes) const override {
    CollectiveCost cost = toy_.collective(kind, devices, bytes);
    cost.duration = Nanos(10 * static_cast<std::int64_t>(devices.size()) + bytes.value / 32 * 10);
    return cost;
  }
  // Of every other seed: longer than some tasks take, and shorter than others.
  Nanos issue(OpId op) const override {
    return Nanos(seed_ % 2 * (static_cast<std::int64_t>((op.index() * 5 + seed_) % 4) * 6));
  }
  Nanos issue_collective() const override { return Nanos(seed_ % 2 * 15); }
  Nanos issue_local_move() const override { return Nanos(seed_ % 2 * 5); }
  bool issue_after_transfers() const override { return seed_ % 4 == 1; }
  const Digest& digest() const override { return toy_.digest(); }

 private:
  toy::Costs toy_;
  std::shared_ptr<const Graph> graph_;
  std::uint64_t seed_;
};

// Grows a forward graph op by op, then walks back through it for gradients and updates.
class GraphGrower {
 public:
  GraphGrower(Random& random, std::int64_t batch) : random_(random), batch_(batch), model_(batch) {}

  std::shared_ptr<const Graph> grow() {
    values_.push_back(model_.input("x", width()));
    if (chance(3)) values_.push_back(model_.input("x2", width()));
    const std::size_t ops = 3 + random_.below(16);
    for (std::size_t i = 0; i < ops; ++i) add_forward(std::to_string(i));
    if (!chance(5)) add_backward();
    return std::move(model_).build();
  }

 private:
  struct Forward {
    OpId op;
    std::vector<TensorId> inputs;  // those that have gradients
    TensorId output;
    enum { Layer, Sum, View } kind;
    TensorId weight;
  };

  bool chance(std::uint64_t one_in) { return random_.below(one_in) == 0; }
  std::int64_t width() { return 4 * static_cast<std::int64_t>(1 + random_.below(3)); }
  TensorId any() {  // mostly a recent one: deep graphs
    const std::size_t recent =
        chance(4) ? values_.size() : std::min<std::size_t>(3, values_.size());
    return values_[values_.size() - 1 - random_.below(recent)];
  }
  std::int64_t width_of(TensorId id) { return model_.builder().tensor(id).shape.back(); }

  void add_forward(const std::string& n) {
    const std::uint64_t choice = random_.below(10);
    if (choice < 6) return add_layer(n);
    const TensorId a = any();
    const Shape shape = model_.builder().tensor(a).shape;
    const TensorId out = model_.activation("v" + n, shape);
    if (choice < 8) {
      const OpId op = model_.op("view" + n, "Identity", {a}, out);
      forward_.push_back({op, {a}, out, Forward::View, {}});
    } else {
      TensorId b = any();
      if (model_.builder().tensor(b).shape != shape) b = a;
      const OpId op = model_.op("add" + n, choice == 8 ? "Add" : "ToyMix", {a, b}, out);
      forward_.push_back({op, {a, b}, out, choice == 8 ? Forward::Sum : Forward::Layer, {}});
    }
    values_.push_back(out);
  }

  void add_layer(const std::string& n) {
    const TensorId in = any();
    std::vector<TensorId> inputs = {in};
    TensorId weight;
    if (!chance(3)) {
      weight = !weights_.empty() && chance(4) ? weights_[random_.below(weights_.size())]
                                              : model_.parameter("w" + n, 8 * width());
      weights_.push_back(weight);
      inputs.push_back(weight);
    }
    if (chance(4)) inputs.push_back(model_.constant("c" + n, {16}));
    if (chance(6)) inputs.push_back(model_.parameter("frozen" + n, 16));
    const TensorId out = model_.layer("f" + n, inputs, width());
    forward_.push_back({model_.last(), {in}, out, Forward::Layer, weight});
    values_.push_back(out);
  }

  TensorId gradient_tensor(const std::string& name, TensorId like) {
    Tensor tensor;
    tensor.name = name;
    tensor.role = TensorRole::Gradient;
    tensor.shape = model_.builder().tensor(like).shape;
    return model_.builder().add_tensor(tensor);
  }

  TensorId summed(TensorId of) {
    std::vector<TensorId>& terms = gradients_[of.index()];
    while (terms.size() > 1) {
      const std::string n = "sum" + std::to_string(++sums_);
      const TensorId out = gradient_tensor(n, of);
      const OpId op = model_.op(n + "_op", "Add", {terms[0], terms[1]}, out);
      model_.builder().op(op).phase = Phase::Backward;
      terms.erase(terms.begin(), terms.begin() + 2);
      terms.push_back(out);
    }
    return terms.empty() ? TensorId() : terms[0];
  }

  void add_backward() {
    gradients_.resize(4096);
    gradients_[values_.back().index()].push_back(model_.seed("seed", values_.back()));
    for (std::size_t i = forward_.size(); i-- > 0;) add_gradients(forward_[i], std::to_string(i));
    std::vector<bool> updated(4096);
    for (TensorId weight : weights_) {
      const TensorId gradient = summed(weight);
      if (!gradient.valid() || updated[weight.index()]) continue;
      updated[weight.index()] = true;
      add_update(weight, gradient);
    }
  }

  void add_gradients(const Forward& forward, const std::string& n) {
    const TensorId gradient = summed(forward.output);
    if (!gradient.valid()) return;
    if (forward.kind == Forward::Sum) {
      for (TensorId input : forward.inputs) gradients_[input.index()].push_back(gradient);
    } else if (forward.kind == Forward::View) {
      const TensorId out = gradient_tensor("gview" + n, forward.output);
      model_.builder().op(model_.op("gview" + n, "Identity", {gradient}, out)).phase =
          Phase::Backward;
      gradients_[forward.inputs[0].index()].push_back(out);
    } else {
      for (std::size_t i = 0; i < forward.inputs.size(); ++i)
        gradients_[forward.inputs[i].index()].push_back(
            model_.gradient("gx" + n + "_" + std::to_string(i), forward.op,
                            static_cast<std::int64_t>(i), gradient, {forward.inputs[0]}));
      if (forward.weight.valid())
        gradients_[forward.weight.index()].push_back(model_.gradient(
            "gw" + n, forward.op, 1, gradient, {forward.inputs[0], forward.weight}));
    }
  }

  void add_update(TensorId weight, TensorId gradient) {
    std::vector<TensorId> state;
    for (std::uint64_t i = random_.below(3); i > 0; --i) {
      Tensor tensor;
      tensor.name = "state";
      tensor.role = TensorRole::OptimizerState;
      tensor.shape = model_.builder().tensor(weight).shape;
      state.push_back(model_.builder().add_tensor(tensor));
    }
    model_.update("update" + std::to_string(weight.value()), weight, gradient, state);
  }

  Random& random_;
  std::int64_t batch_;
  toy::Model model_;
  std::vector<TensorId> values_, weights_;
  std::vector<Forward> forward_;
  std::vector<std::vector<TensorId>> gradients_;  // by tensor
  int sums_ = 0;
};

std::shared_ptr<const Grouping> random_grouping(const Graph& graph, Random& random) {
  const std::uint64_t groups = 1 + random.below(5);
  std::vector<std::int32_t> group_of(graph.op_count());
  for (std::int32_t& group : group_of) group = static_cast<std::int32_t>(random.below(groups));
  const std::vector<Nanos> times(graph.op_count(), Nanos(1000));
  return std::make_shared<const Grouping>(graph, group_of, times);
}

std::shared_ptr<const Cluster> random_cluster(Random& random) {
  const char* types[] = {"GTX-1080-Ti", "V100-SXM2-32GB", "P100-PCIe-16GB"};
  std::string machines;
  const std::uint64_t count = 1 + random.below(3);
  for (std::uint64_t i = 0; i < count; ++i)
    machines += std::string(i ? "," : "") + R"({"name":"m)" + std::to_string(i) +
                R"(","gpus":[{"type":")" + types[random.below(3)] + R"(","count":)" +
                std::to_string(1 + random.below(3)) +
                R"(}],"fabric":{"kind":"pcie3x16","bandwidth_GBps":12,"latency_us":4},)" +
                R"("nic":{"kind":"100GbE","bandwidth_GBps":12.5,"latency_us":6},)" +
                R"("host_memory_bytes":100000000})";
  return std::make_shared<const Cluster>(
      parse_cluster(R"({"format":"stratoscope-cluster","version":1,"name":"random","machines":[)" +
                        machines + R"(],"network":{"latency_us":1}})",
                    "random.json", GpuCatalogue::bundled()));
}

}  // namespace

RandomProblem random_problem(Random& random) {
  RandomProblem problem;
  problem.graph = GraphGrower(random, 1 + static_cast<std::int64_t>(random.below(13))).grow();
  problem.cluster = random_cluster(random);
  problem.grouping = random_grouping(*problem.graph, random);
  problem.cost = std::make_shared<TiedCosts>(problem.graph, problem.cluster, random.next());
  return problem;
}

std::vector<OpId> random_recomputed(const Graph& graph, Random& random) {
  const std::uint64_t some = 1 + random.below(4);  // of four
  std::vector<OpId> ops;
  for (const OpId op : graph.ops().ids())
    if (graph.op(op).phase == Phase::Forward && random.below(4) < some) ops.push_back(op);
  return ops;
}

std::vector<OpId> random_offloaded(const Graph& graph, const std::vector<OpId>& recomputed,
                                   Random& random) {
  const std::uint64_t some = 1 + random.below(4);  // of four
  std::vector<OpId> ops;
  for (const OpId op : graph.ops().ids())
    if (graph.op(op).phase != Phase::Backward && random.below(4) < some &&
        !std::ranges::binary_search(recomputed, op))
      ops.push_back(op);
  return ops;
}

std::vector<OpId> random_duplicated(const RandomProblem& problem, Random& random) {
  std::vector<OpId> ops;
  const std::uint64_t one_in = random.below(3) == 0 ? 1 + random.below(6) : 0;
  for (std::size_t i = 0; one_in > 0 && i < problem.graph->op_count(); ++i)
    if (random.below(one_in) == 0) ops.push_back(OpId(i));
  return ops;
}

Strategy random_strategy(const RandomProblem& problem, Random& random) {
  Strategy strategy;
  for (std::size_t g = 0; g < problem.grouping->size(); ++g) {
    Decision decision;
    decision.mode = static_cast<Mode>(random.below(4));
    const bool even = random.below(2) == 0;
    for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
      if (random.below(2) == 0)
        decision.devices.push_back(
            {DeviceId(d), even ? 1 : 1 + static_cast<std::int32_t>(random.below(5))});
    if (decision.devices.empty())
      decision.devices.push_back({DeviceId(random.below(problem.cluster->device_count())), 1});
    strategy.groups.push_back(random.below(8) == 0 ? std::nullopt : std::optional(decision));
  }
  if (random.below(3) == 0)
    strategy.bucket = Bytes(1 + static_cast<std::int64_t>(random.below(2000)));
  strategy.duplicated = random_duplicated(problem, random);
  if (random.below(3) == 0)
    for (std::size_t i = 0; i < problem.graph->op_count(); ++i)
      strategy.priorities.push_back(static_cast<std::int32_t>(random.below(5)) - 2);
  return strategy;
}

Strategy random_data_parallel(const RandomProblem& problem, Random& random) {
  Strategy strategy = random_strategy(problem, random);
  Decision decision;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
    if (random.below(6) != 0) decision.devices.push_back({DeviceId(d), 1});
  if (decision.devices.empty()) decision = decision_on_device(DeviceId(0));
  const std::uint64_t others = random.below(2) == 0 ? 0 : 1 + random.below(3);  // of 8
  for (auto& group : strategy.groups)
    if (random.below(8) >= others) group = decision;
  return strategy;
}

std::int32_t random_divisor(std::int32_t of, Random& random) {
  std::vector<std::int32_t> divisors;
  for (std::int32_t each = 1; each <= of; ++each)
    if (of % each == 0) divisors.push_back(each);
  return divisors[random.below(divisors.size())];
}

// Of one column, too, where rows have experts or positions among them.
Decision random_mesh(const Cluster& cluster, Random& random) {
  const std::size_t devices = cluster.device_count();
  const std::size_t columns =
      random.below(4) == 0 ? 1 : 2 + random.below(std::min<std::size_t>(devices, 4) - 1);
  const std::size_t rows = 1 + random.below(devices / columns);
  Decision mesh;
  mesh.roles.tensor = static_cast<std::int32_t>(columns);
  std::size_t left = rows * columns;
  for (std::size_t d = 0; d < devices && left > 0; ++d)
    if (random.below(devices - d) < left) {
      mesh.devices.push_back({DeviceId(d), 1});
      --left;
    }
  if (random.below(2) == 0)
    mesh.roles.context = random_divisor(static_cast<std::int32_t>(rows), random);
  if (columns > 1) mesh.roles.pieces = 1 + static_cast<std::int32_t>(devices % 3);
  if (columns > 1) mesh.roles.sequence = devices % 4 != 0;
  const auto context = static_cast<std::size_t>(mesh.roles.context);
  const bool even = random.below(2) == 0;
  for (std::size_t row = 0; row < rows; row += context) {
    const auto weight = even ? 1 : 1 + static_cast<std::int32_t>(random.below(4));
    for (std::size_t i = row * columns; i < (row + context) * columns; ++i)
      mesh.devices[i].weight = weight;
  }
  if (random.below(2) == 0)
    mesh.roles.expert = random_divisor(static_cast<std::int32_t>(rows / context), random);
  return mesh;
}

Strategy with_meshes(const RandomProblem& problem, Strategy strategy, Random& random) {
  if (problem.cluster->device_count() < 2) return strategy;
  const Decision mesh = random_mesh(*problem.cluster, random);
  const Decision other = random_mesh(*problem.cluster, random);
  for (auto& group : strategy.groups) {
    const std::uint64_t which = random.below(8);
    if (which < 5) group = mesh;
    if (which == 5) group = other;
  }
  return strategy;
}

std::optional<Strategy> with_experts(const RandomProblem& problem, Strategy strategy,
                                     Random& random) {
  const std::size_t devices = problem.cluster->device_count();
  const std::size_t together = devices >= 4 && random.below(2) == 0 ? 4 : 2;
  const std::size_t sets = devices / together;
  if (sets == 0) return std::nullopt;
  const std::size_t columns = 1 + random.below(std::min<std::size_t>(sets, 2));
  const std::size_t rows = together * (1 + random.below(sets / columns));
  if (static_cast<std::int64_t>(rows) > problem.graph->batch()) return std::nullopt;
  Decision mesh;
  mesh.roles.tensor = static_cast<std::int32_t>(columns);
  mesh.roles.expert = static_cast<std::int32_t>(together);
  for (std::size_t d = 0; d < rows * columns; ++d) mesh.devices.push_back({DeviceId(d), 1});
  for (auto& group : strategy.groups)
    if (random.below(10) > 0) group = mesh;
  return strategy;
}

std::optional<MicroBatches> random_micro_batches(const Graph& graph, Random& random) {
  std::vector<std::int32_t> counts;
  for (std::int32_t count = 2; count <= graph.batch(); ++count)
    if (graph.batch() % count == 0) counts.push_back(count);
  if (counts.empty()) return std::nullopt;
  return MicroBatches{counts[random.below(counts.size())],
                      static_cast<PipelineSchedule>(random.below(kPipelineSchedules.size()))};
}

bool goes_with(const RandomProblem& problem, const MicroBatches& micro_batches) {
  try {
    Tables(problem.graph, problem.grouping, problem.cluster, problem.cost, micro_batches.count);
  } catch (const InputError&) {
    return false;
  }
  return true;
}

}  // namespace strato
