#include "core/program/lower.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/program/exchange.h"

namespace strato {

struct Lowering::State {
  State(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
        std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost)
      : tables(std::move(graph), std::move(grouping), std::move(cluster), std::move(cost)),
        placement(tables),
        emitter(tables),
        exchange(tables, placement, emitter) {}

  void start();
  void lower_op(OpId op);
  void lower_update(OpId op);
  void lower_alias(OpId op);
  void declare_outputs(OpId op, std::size_t shards);
  TaskId compute(OpId op, std::size_t index);

  Tables tables;
  Placement placement;
  Emitter emitter;
  Exchange exchange;
  Program program;
  std::vector<Instance> gathered;  // what a shard reads
  std::vector<Instance> outputs;   // of one op: output x shard
  std::size_t last_tasks = 0, last_buffers = 0;
};

void Lowering::State::start() {
  program = Program();
  program.graph = tables.graph;
  program.cluster = tables.cluster;
  program.tasks.reserve(last_tasks);
  program.buffers.reserve(last_buffers);
  emitter.start(program);
  exchange.start(program);
}

// One task: a shard of an op, or the whole op, on one device. Inputs first: bringing them adds
// tasks.
TaskId Lowering::State::compute(OpId op, std::size_t index) {
  const Layout& layout = placement.layout(op);
  const Shard& shard = layout.shards[index];
  gathered.clear();
  for (TensorId input : tables.inputs(op)) gathered.push_back(exchange.input(op, input, index));
  for (const Instance& instance : gathered) emitter.read(instance);
  if (tables.ops[op].kind == TaskKind::Update)
    for (TensorId input : tables.inputs(op))
      if (tables.updates_here(op, input))
        emitter.overwrite(tables.tensors[input].slot, shard.device);
  Task task;
  task.kind = tables.ops[op].kind;
  task.op = op;
  task.device = shard.device;
  task.first_sample = shard.begin;
  task.samples = shard.end - shard.begin;
  task.duration = tables.op_time(shard.costs, op);
  const TaskId id = program.tasks.next_id();
  for (TensorId output : tables.outputs(op)) {
    Instance made;
    made.device = shard.device;
    made.begin = shard.begin;
    made.end = shard.end;
    made.task = id;
    made.exclusive = true;
    const TensorFacts& facts = tables.tensors[output];
    const bool slice = layout.sharded && facts.kind == BatchKind::Batched;
    if (layout.sharded && facts.kind == BatchKind::Whole) made.begin = 0, made.end = tables.batch;
    if (task.kind != TaskKind::Update)
      made.buffer =
          emitter.write(output, shard.device,
                        slice ? exchange.bytes_of(output, shard.begin, shard.end) : facts.bytes);
    outputs.push_back(made);
  }
  return emitter.commit_compute(task);
}

// `outputs` holds shard after shard; instances are declared output by output.
void Lowering::State::declare_outputs(OpId op, std::size_t shards) {
  const auto tensors = tables.outputs(op);
  for (std::size_t o = 0; o < tensors.size(); ++o) {
    exchange.begin_output(tensors[o], placement.layout_id(op));
    for (std::size_t s = 0; s < shards; ++s) exchange.add_output(outputs[s * tensors.size() + o]);
  }
}

void Lowering::State::lower_alias(OpId op) {
  const Layout& layout = placement.layout(op);
  const TensorId input = tables.inputs(op).front();
  const bool alone = tables.graph->consumers(input).size() == 1 && tables.outputs(op).size() == 1;
  for (std::size_t s = 0; s < layout.shards.size(); ++s) {
    for (TensorId other : tables.inputs(op).subspan(1)) exchange.input(op, other, s);
    Instance instance = exchange.input(op, input, s);
    instance.exclusive = instance.exclusive && alone;
    instance.next = -1;
    for (TensorId output : tables.outputs(op)) {
      const bool every = !layout.sharded || tables.tensors[output].kind == BatchKind::Whole;
      instance.begin = every ? 0 : layout.shards[s].begin;
      instance.end = every ? tables.batch : layout.shards[s].end;
      outputs.push_back(instance);
    }
  }
}

void Lowering::State::lower_update(OpId op) {
  const Layout& layout = placement.layout(op);
  for (std::size_t s = 0; s < layout.shards.size(); ++s) {
    const TaskId updated = compute(op, s);
    if (placement.homes(op).shards.size() == layout.shards.size()) continue;
    for (TensorId input : tables.inputs(op))
      if (tables.updates_here(op, input)) exchange.return_parameter(input, op, updated);
  }
}

void Lowering::State::lower_op(OpId op) {
  outputs.clear();
  const std::size_t shards = placement.layout(op).shards.size();
  if (tables.ops[op].alias) {
    lower_alias(op);
  } else if (tables.ops[op].kind == TaskKind::Update) {
    lower_update(op);
  } else {
    for (std::size_t s = 0; s < shards; ++s) compute(op, s);
  }
  declare_outputs(op, shards);
}

Lowering::Lowering(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
                   std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost)
    : state_(std::make_unique<State>(std::move(graph), std::move(grouping), std::move(cluster),
                                     std::move(cost))) {}
Lowering::~Lowering() = default;

Program Lowering::lower(const Strategy& strategy, const LowerOptions& options) {
  State& state = *state_;
  const auto pass = [&](std::string_view name, auto&& work, auto&& check) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - begin;
    if (options.verify) check();
    if (options.on_pass) options.on_pass(name, Nanos(elapsed.count()));
  };
  const auto check_program = [&] {
    state.exchange.list_residents();
    verify(state.program);
  };
  pass(
      "place", [&] { state.placement.place(complete(strategy, *state.tables.cluster)); },
      [&] { state.placement.check(); });
  pass(
      "compute",
      [&] {
        state.start();
        for (OpId op : state.tables.early) state.lower_op(op);
      },
      check_program);
  pass(
      "synchronise",
      [&] {
        for (OpId op : state.tables.late) state.lower_op(op);
      },
      check_program);
  pass(
      "finish", [&] { state.exchange.list_residents(); }, check_program);
  state.last_tasks = state.program.tasks.size();
  state.last_buffers = state.program.buffers.size();
  return std::move(state.program);
}

}  // namespace strato
