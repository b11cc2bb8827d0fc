#include "core/program/lower.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/program/lower_state.h"
#include "core/program/symmetry.h"

namespace strato {

struct Lowering::State : LowerState {
  using LowerState::LowerState;
  Symmetry symmetry{tables, placement};
};

void LowerState::start(Program& into) {
  program = &into;
  into.graph = tables.graph;
  into.cluster = tables.cluster;
  into.tasks.clear();
  into.dependencies.clear();
  into.resources.clear();
  into.writes.clear();
  into.reads.clear();
  into.buffers.clear();
  emitter.start(into);
  exchange.start(into);
}

// One task: a shard of an op, or the whole op, on one device. Inputs first: bringing them adds
// tasks.
TaskId LowerState::compute(OpId op, std::size_t index) {
  const Shard& shard = placement.layout(op).shards[index];
  const OpFacts& facts = tables.ops[op];
  const std::span<const TensorId> inputs = tables.inputs(op);
  gathered.clear();
  at_home.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (at_hand[i] >= 0) continue;
    if (exchange.parameter_at_home(inputs[i], shard.device)) {
      at_home.push_back(tables.tensors[inputs[i]].slot);
    } else if (tables.tensors[inputs[i]].source == Source::Resident) {
      exchange.read_resident(op, inputs[i], index);
    } else {
      bring(op, index, i);
      gathered.push_back(exchange.input(op, inputs[i], index));
    }
  }
  if (observer) observer->compute(index);
  for (const Instance& instance : gathered) emitter.read(instance);
  for (const std::int32_t slot : at_home) emitter.read_parameter(slot, shard.device);
  for (const std::int32_t first : at_hand)
    if (first >= 0) emitter.read(exchange.instance(static_cast<std::size_t>(first) + index));
  if (facts.kind == TaskKind::Update)
    for (TensorId input : inputs)
      if (tables.updates_here(op, input))
        emitter.overwrite(tables.tensors[input].slot, shard.device);
  write_outputs(op, index, facts.kind);
  const TaskId id = emitter.next_task();
  Task& task = emitter.commit_compute(shard.device);
  task.kind = facts.kind;
  task.op = op;
  task.first_sample = shard.begin;
  task.samples = shard.end - shard.begin;
  task.duration = durations[index];
  task.priority = exchange.priority(op);
  return id;
}

void LowerState::write_outputs(OpId op, std::size_t index, TaskKind kind) {
  const Layout& layout = placement.layout(op);
  const Shard& shard = layout.shards[index];
  const std::span<const TensorId> outputs = tables.outputs(op);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const TensorFacts& facts = tables.tensors[outputs[o]];
    const bool slice = layout.sharded && facts.kind == BatchKind::Batched;
    Instance made;
    made.device = shard.device;
    made.begin = shard.begin;
    made.end = shard.end;
    made.task = emitter.next_task();
    made.exclusive = true;
    if (layout.sharded && facts.kind == BatchKind::Whole) made.begin = 0, made.end = tables.batch;
    if (kind != TaskKind::Update)
      made.buffer = emitter.write(
          outputs[o], shard.device,
          slice ? exchange.bytes_of(outputs[o], shard.begin, shard.end) : facts.bytes);
    set_output(o, index, made);
  }
}

void LowerState::declare_outputs(OpId op) {
  first_output.clear();
  for (const TensorId output : tables.outputs(op))
    first_output.push_back(outputs_stay ? exchange.first_output(output)
                                        : exchange.begin_output(output, placement.layout_id(op)));
}

// What all shards share is looked up together.
void LowerState::prepare_shards(OpId op) {
  const LayoutId layout = placement.layout_id(op);
  at_hand.clear();
  for (const TensorId input : tables.inputs(op)) at_hand.push_back(exchange.at_hand(input, layout));
  durations.clear();
  for (const Shard& shard : placement.layout(layout).shards)
    durations.push_back(tables.op_time(shard.costs, op));
}

void LowerState::lower_alias(OpId op) {
  const Layout& layout = placement.layout(op);
  const TensorId input = tables.inputs(op).front();
  const bool alone = tables.graph->consumers(input).size() == 1 && tables.outputs(op).size() == 1;
  for (std::size_t s = 0; s < layout.shards.size(); ++s) {
    for (std::size_t i = 1; i < tables.inputs(op).size(); ++i) {
      bring(op, s, i);
      exchange.input(op, tables.inputs(op)[i], s);
    }
    bring(op, s, 0);
    Instance instance = exchange.input(op, input, s);
    instance.exclusive = instance.exclusive && alone;
    instance.next = -1;
    const auto outputs = tables.outputs(op);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const bool every = !layout.sharded || tables.tensors[outputs[o]].kind == BatchKind::Whole;
      instance.begin = every ? 0 : layout.shards[s].begin;
      instance.end = every ? tables.batch : layout.shards[s].end;
      set_output(o, s, instance);
    }
  }
}

void LowerState::lower_update(OpId op) {
  const Layout& layout = placement.layout(op);
  for (std::size_t s = 0; s < layout.shards.size(); ++s) {
    const TaskId updated = compute(op, s);
    if (placement.homes(op).shards.size() == layout.shards.size()) continue;
    for (TensorId input : tables.inputs(op))
      if (tables.updates_here(op, input)) exchange.return_parameter(input, op, updated);
  }
}

void LowerState::lower_op(OpId op) {
  declare_outputs(op);
  if (tables.ops[op].alias) return lower_alias(op);
  prepare_shards(op);
  if (tables.ops[op].kind == TaskKind::Update) return lower_update(op);
  const std::size_t shards = placement.layout(op).shards.size();
  for (std::size_t s = 0; s < shards; ++s) compute(op, s);
}

Lowering::Lowering(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
                   std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost)
    : state_(std::make_unique<State>(std::move(graph), std::move(grouping), std::move(cluster),
                                     std::move(cost))) {}
Lowering::~Lowering() = default;

Program Lowering::lower(const Strategy& strategy, const LowerOptions& options) {
  Program program;
  lower(strategy, program, options);
  return program;
}

void Lowering::lower(const Strategy& strategy, Program& into, const LowerOptions& options) {
  State& state = *state_;
  const auto pass = [&](std::string_view name, auto&& work, auto&& check) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - begin;
    if (options.verify) check();
    if (options.on_pass) options.on_pass(name, Nanos(elapsed.count()));
  };
  const auto check_program = [&] {
    if (options.fold && options.fold->left_out > 0) return;  // collectives lack members
    state.exchange.list_residents();
    verify(into);
  };
  pass(
      "place",
      [&] {
        if (strategy.is_complete()) return state.placement.place(strategy);
        state.placement.place(complete(strategy, *state.tables.cluster));
      },
      [&] { state.placement.check(); });
  if (options.fold)
    pass(
        "fold",
        [&] {
          state.symmetry.find(*options.fold);
          if (options.fold->left_out > 0) state.placement.fold(*options.fold);
        },
        [] {});
  pass(
      "compute",
      [&] {
        state.start(into);
        state.exchange.set_priorities(strategy.priorities);
        for (OpId op : state.tables.early) state.lower_op(op);
      },
      check_program);
  if (strategy.bucket > Bytes(0))
    pass(
        "fuse", [&] { state.exchange.fuse_gradients(strategy.bucket); }, check_program);
  pass(
      "synchronise",
      [&] {
        for (OpId op : state.tables.late) state.lower_op(op);
      },
      check_program);
  pass(
      "finish", [&] { state.exchange.list_residents(); }, check_program);
}

}  // namespace strato
