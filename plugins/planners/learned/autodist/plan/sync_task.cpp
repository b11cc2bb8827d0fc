#include "plugins/planners/learned/autodist/plan/sync_task.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"

namespace strato::autodist {
namespace {

constexpr std::int64_t kIndexBytes = 8;

// The one lookup whose gradient this is; an invalid id where there is none.
OpId lookup_of(const Graph& graph, TensorId gradient) {
  const OpId producer = graph.tensor(gradient).producer;
  if (!producer.valid() || graph.op(producer).phase != Phase::Backward) return {};
  const OpId forward = graph.op(producer).forward;
  if (!forward.valid() || graph.op(forward).type != "Gather") return {};
  return graph.op(forward).integer("axis", 0) == 0 ? forward : OpId();
}

Variable variable_of(const Graph& graph, OpId update) {
  const Op& op = graph.op(update);
  Variable variable;
  variable.update = update;
  variable.parameter = op.inputs.at(0);
  variable.gradient = op.inputs.at(1);
  const Tensor& tensor = graph.tensor(variable.parameter);
  variable.shape = tensor.shape;
  variable.type = tensor.type;
  variable.bytes = tensor.bytes();
  const OpId lookup = lookup_of(graph, variable.gradient);
  if (!lookup.valid() || tensor.shape.empty() || tensor.shape[0] < 2) return variable;
  variable.sparse = true;
  const std::int64_t row = variable.bytes.value / tensor.shape[0];
  const std::int64_t indices = graph.tensor(graph.op(lookup).inputs.at(1)).elements();
  variable.rows_bytes = Bytes(indices * (row + kIndexBytes));
  return variable;
}

// Runs the step's ops but updates, which wait for others, on one device as it takes them: first
// ready, first served. By op: the part of their time that is over when it ends.
class OneDeviceRun {
 public:
  explicit OneDeviceRun(const Problem& problem)
      : graph_(*problem.graph), times_(mean_op_times(graph_, *problem.cluster, *problem.cost)) {}

  std::vector<double> run() && {
    for (std::size_t i = 0; i < after_.size(); ++i)
      for (const TensorId output : graph_.op(OpId(i)).outputs)
        for (const OpId consumer : graph_.consumers(output)) ++waits_for_[consumer.index()];
    std::vector<OpId> first;
    for (std::size_t i = 0; i < after_.size(); ++i)
      if (waits_for_[i] == 0) first.emplace_back(i);
    make_ready(std::move(first));
    for (std::size_t next = 0; next < ready_.size(); ++next) {
      now_ += time_of(ready_[next]);
      const std::size_t before = ready_.size();
      std::vector<OpId> free;
      end(ready_[next], free);
      make_ready(std::move(free));
      std::sort(ready_.begin() + static_cast<std::ptrdiff_t>(before), ready_.end());
    }
    for (double& value : after_) value /= std::max(now_, 1.0);
    return std::move(after_);
  }

 private:
  double time_of(OpId op) const { return static_cast<double>(times_[op.index()].value); }
  // An op that takes no time (a view) waits for no turn.
  void make_ready(std::vector<OpId> ops) {
    while (!ops.empty()) {
      const OpId op = ops.back();
      ops.pop_back();
      if (graph_.op(op).phase == Phase::Update) continue;
      if (times_[op.index()] == Nanos())
        end(op, ops);
      else
        ready_.push_back(op);
    }
  }
  void end(OpId op, std::vector<OpId>& free) {
    after_[op.index()] = now_;
    for (const TensorId output : graph_.op(op).outputs)
      for (const OpId consumer : graph_.consumers(output))
        if (--waits_for_[consumer.index()] == 0) free.push_back(consumer);
  }

  const Graph& graph_;
  const std::vector<Nanos> times_;
  std::vector<std::int64_t> waits_for_ = std::vector<std::int64_t>(graph_.op_count(), 0);
  std::vector<double> after_ = std::vector<double>(graph_.op_count(), 0);
  std::vector<OpId> ready_;  // in the order in which they run
  double now_ = 0;
};

std::vector<Variable> variables_of(const Problem& problem) {
  const Graph& graph = *problem.graph;
  const std::vector<double> over = OneDeviceRun(problem).run();
  std::vector<Variable> variables;
  for (std::size_t t = 0; t < graph.tensor_count(); ++t) {
    const OpId update = graph.update_of(TensorId(t));
    if (!update.valid()) continue;
    variables.push_back(variable_of(graph, update));
    const OpId made_by = graph.tensor(variables.back().gradient).producer;
    variables.back().ready = made_by.valid() ? over[made_by.index()] : 0;
  }
  std::ranges::stable_sort(variables, {}, [&](const Variable& variable) {
    return std::tuple(variable.ready, graph.tensor(variable.gradient).producer, variable.update);
  });
  return variables;
}

struct Held {
  SyncPart* part;
  Bytes bytes;
  double weight;  // bytes, and some noise
};

// The least of `count` ones by `load`; the first of equals, or any of them.
template <class Load>
std::size_t least(std::size_t count, const Load& load, Random* random) {
  std::vector<std::size_t> best;
  for (std::size_t i = 0; i < count; ++i) {
    if (!best.empty() && load(i) < load(best.front())) best.clear();
    if (best.empty() || load(i) == load(best.front())) best.push_back(i);
  }
  return random == nullptr ? best.front() : best[random->below(best.size())];
}

}  // namespace

std::int64_t Variable::most_parts(int axis) const {
  return shape.empty() ? 1 : shape.at(static_cast<std::size_t>(axis));
}

std::vector<int> Variable::axes() const {
  std::vector<int> result;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] > 1) result.push_back(static_cast<int>(axis));
  return result;
}

SyncTask::SyncTask(const Problem& of, Strategy given, bool rows, bool sharded)
    : problem(of), base(std::move(given)), variables(variables_of(of)) {
  CHECK(base.is_complete() && base.variables.empty() && !base.groups.empty(), "data parallel");
  for (const DeviceShare& share : base.groups.front()->devices) devices.push_back(share.device);
  const std::vector<DeviceShare> replicas = replicas_of(*problem.graph, *base.groups.front());
  for (Variable& variable : variables) {
    variable.sparse = variable.sparse && rows;
    if (sharded) variable.sharded = sharded_update(*problem.graph, variable.update, replicas);
  }
  const Cluster& cluster = *problem.cluster;
  machine_of.resize(cluster.device_count());
  for (std::size_t m = 0; m < cluster.machines().size(); ++m) {
    std::vector<DeviceId> here;
    for (const DeviceId device : devices)
      if (cluster.device(device).machine == MachineId(m)) here.push_back(device);
    if (here.empty()) continue;
    for (const DeviceId device : here) machine_of[device.index()] = machines.size();
    machines.push_back(std::move(here));
  }
}

Bytes SyncTask::bytes() const {
  return std::accumulate(variables.begin(), variables.end(), Bytes(),
                         [](Bytes sum, const Variable& v) { return sum + v.bytes; });
}

SyncPlan plain_plan(const SyncTask& task) {
  SyncPlan plan;
  for (const Variable& variable : task.variables) plan.push_back(in_one(variable));
  return plan;
}

Strategy strategy_of(const SyncTask& task, const SyncPlan& plan) {
  CHECK(plan.size() == task.variables.size(), "one config a variable");
  Strategy strategy = task.base;
  for (std::size_t v = 0; v < plan.size(); ++v)
    if (plan[v].sharded)
      strategy.splits.push_back(task.variables[v].sharded.value());
    else
      strategy.variables.push_back(plan[v]);
  std::ranges::sort(strategy.splits, {}, &OpSplit::op);
  std::ranges::sort(strategy.variables, {}, &VariableSync::update);
  return strategy;
}

NodeConfig in_one(const Variable& variable, const SyncPart& part, bool sharded) {
  return {{variable.update, 0, {part}}, sharded};
}

NodeConfig in_parts(const Variable& variable, int axis, std::int64_t parts, const SyncPart& part) {
  const std::int64_t count = std::clamp<std::int64_t>(parts, 1, variable.most_parts(axis));
  return {{variable.update, axis, std::vector<SyncPart>(static_cast<std::size_t>(count), part)}};
}

Bytes part_bytes(const Variable& variable, const VariableSync& sync, std::size_t index) {
  std::int64_t bytes = variable.bytes.value;
  for (const AxisRange& range : part_box(sync, variable.shape, index).cuts())
    bytes = bytes / variable.most_parts(range.axis) * (range.end - range.begin);
  return Bytes(bytes);
}

std::int32_t next_group(const SyncPlan& plan) {
  std::int32_t next = 0;
  for (const SyncPart& part : parts_of(plan)) next = std::max(next, part.merge_group + 1);
  return next;
}

std::map<std::int32_t, Message> messages_of(const SyncTask& task, const SyncPlan& plan) {
  std::map<std::int32_t, Message> messages;
  for_each_part(task, plan, [&](std::size_t v, const SyncPart& part, Bytes bytes) {
    if (part.merge_group < 0) return;
    Message& message = messages[part.merge_group];
    message.bytes += bytes;
    ++message.parts;
    message.ready = std::max(message.ready, task.variables[v].ready);
  });
  return messages;
}

NodeLoads::NodeLoads(const SyncTask& task)
    : task_(task), by_machine_(task.machines.size()), by_device_(task.machine_of.size()) {}

DeviceId NodeLoads::take(Bytes load, Random* random) {
  const std::size_t machine = least(
      by_machine_.size(), [&](std::size_t m) { return by_machine_[m]; }, random);
  const std::vector<DeviceId>& here = task_.machines[machine];
  const DeviceId device = here[least(
      here.size(), [&](std::size_t d) { return by_device_[here[d].index()]; }, random)];
  add(device, load);
  return device;
}

void NodeLoads::add(DeviceId device, Bytes load) {
  by_machine_[task_.machine_of[device.index()]] += load;
  by_device_[device.index()] += load;
}

void NodeLoads::place(SyncPart& part, Bytes load, Random* random) {
  part.server = take(load, random);
  if (!part.stations.empty()) part.stations = stations_for(task_, part.server);
}

NodeLoads loads_of(const SyncTask& task, const SyncPlan& plan) {
  NodeLoads loads(task);
  for_each_part(task, plan, [&](std::size_t, const SyncPart& part, Bytes bytes) {
    if (part.synchroniser == Synchroniser::Ps) loads.add(part.server, bytes);
  });
  return loads;
}

void place_balanced(const SyncTask& task, SyncPlan& plan, Random* random) {
  constexpr double kNoise = 0.3;
  std::vector<Held> held;
  for_each_part(task, plan, [&](std::size_t, SyncPart& part, Bytes bytes) {
    if (part.synchroniser != Synchroniser::Ps) return;
    const double noise = random == nullptr ? 1 : random->uniform(1 - kNoise, 1 + kNoise);
    held.push_back({&part, bytes, noise * static_cast<double>(bytes.value)});
  });
  std::ranges::stable_sort(held, std::greater(), &Held::weight);
  NodeLoads loads(task);
  for (const Held& one : held) loads.place(*one.part, one.bytes, random);
}

std::vector<DeviceId> stations_for(const SyncTask& task, DeviceId server) {
  const std::size_t home = task.machine_of[server.index()];
  std::vector<DeviceId> stations;
  for (std::size_t m = 0; m < task.machines.size(); ++m) {
    const std::vector<DeviceId>& here = task.machines[m];
    if (m != home && here.size() > 1) stations.push_back(here[server.index() % here.size()]);
  }
  std::ranges::sort(stations);
  return stations;
}

}  // namespace strato::autodist
