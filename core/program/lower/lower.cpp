#include "core/program/lower/lower.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/program/lower/lower_state.h"
#include "core/program/place/symmetry.h"

namespace strato {
namespace {

Instance output_of(const TensorFacts& facts, const Shard& shard, bool sharded, std::int32_t batch) {
  const bool all = sharded && facts.kind == BatchKind::Whole;
  Instance made;
  made.device = shard.device;
  made.begin = all ? 0 : shard.begin;
  made.end = all ? batch : shard.end;
  made.exclusive = true;
  return made;
}

}  // namespace

namespace {

// As validate() has them: they come from files and from hands. A group that is left open takes a
// decision that a sequence was not made for.
void check_variables(const Strategy& strategy, const Tables& tables) {
  validate_variables(complete(strategy, *tables.cluster), *tables.grouping, *tables.cluster);
  validate_variables(strategy, *tables.graph);
}

}  // namespace

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
  into.more_cuts.clear();
  emitter.start(into);
  exchange.start(into);
  variables.start(into);
}

// What all shards share is looked up once.
void LowerState::sort_inputs(OpId op) {
  const LayoutId layout = placement.layout_id(op);
  const std::span<const TensorId> inputs = tables.inputs(op);
  at_hand.clear();
  at_home.clear();
  to_bring.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorFacts& facts = tables.tensors[inputs[i]];
    const std::int32_t first = exchange.at_hand(inputs[i], layout);
    if (first >= 0) {
      at_hand.push_back(static_cast<std::size_t>(first));
    } else if (facts.source == Source::Resident) {
      exchange.read_resident(op, inputs[i]);
    } else if (facts.source == Source::Parameter &&
               placement.homes(facts.op).has_all(placement.layout(layout)) &&
               !placement.homes(facts.op).is_split() && !placement.is_stale(facts.op)) {
      at_home.push_back(facts.slot);
    } else {
      to_bring.push_back(i);
    }
  }
  // What they wait for is sorted for each shard: nearly always it then is in order already.
  std::sort(at_hand.begin(), at_hand.end());
}

void LowerState::bring_inputs(OpId op, std::size_t shard) {
  brought.clear();
  for (const std::size_t input : to_bring) brought.push_back(bring(op, shard, input));
}

// One task for each of the shards, which have their inputs.
void LowerState::compute(OpId op, std::size_t first_shard, std::size_t end_shard) {
  const Layout& layout = placement.layout(op);
  const std::span<const TensorId> outputs = tables.outputs(op);
  Task task;
  task.kind = tables.ops[op].kind;
  task.op = op;
  task.priority = exchange.priority(op);
  for (std::size_t s = first_shard; s < end_shard; ++s) {
    const Shard& shard = layout.shards[s];
    if (observer) observer->compute(s);
    for (const std::size_t first : at_hand) emitter.read(exchange.instance(first + s));
    for (const Instance& instance : brought) emitter.read(instance);
    for (const std::int32_t slot : at_home) emitter.read_parameter(slot, shard.device);
    if (task.kind == TaskKind::Update) overwrite_parameters(op, shard.device);
    last_task = emitter.next_task();
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const TensorFacts& facts = tables.tensors[outputs[o]];
      Instance made = output_of(facts, shard, layout.sharded, tables.batch);
      made.task = last_task;
      if (task.kind != TaskKind::Update)
        made.buffer = emitter.write(outputs[o], shard.device,
                                    slice_bytes(facts, shard.begin, shard.end, tables.batch),
                                    exchange.part_of(outputs[o], made));
      set_output(o, s, made);
    }
    task.device = shard.device;
    task.first_sample = shard.begin;
    task.samples = shard.end - shard.begin;
    task.duration = tables.op_time(shard.costs, op);
    emitter.commit_compute(task);
  }
}

void LowerState::overwrite_parameters(OpId update, DeviceId device) {
  for (TensorId input : tables.inputs(update))
    if (tables.updates_here(update, input)) emitter.overwrite(tables.tensors[input].slot, device);
}

void LowerState::declare_outputs(OpId op) {
  first_output.clear();
  for (const TensorId output : tables.outputs(op))
    first_output.push_back(outputs_stay ? exchange.first_output(output)
                                        : exchange.begin_output(output, placement.layout_id(op)));
}

void LowerState::lower_alias(OpId op) {
  const Layout& layout = placement.layout(op);
  const TensorId input = tables.inputs(op).front();
  const bool alone = tables.graph->consumers(input).size() == 1 && tables.outputs(op).size() == 1;
  for (std::size_t s = 0; s < layout.shards.size(); ++s) {
    for (std::size_t i = 1; i < tables.inputs(op).size(); ++i) bring(op, s, i);
    Instance instance = bring(op, s, 0);
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

void LowerState::lower_op(OpId op) {
  declare_outputs(op);
  if (tables.ops[op].alias) return lower_alias(op);
  const Layout& layout = placement.layout(op);
  if (layout.is_split()) return lower_split(op);
  if (placement.has_variables() && placement.variable(op)) return variables.lower(op);
  sort_inputs(op);
  const std::size_t shards = layout.shards.size();
  brought.clear();
  if (to_bring.empty()) {
    compute(op, 0, shards);
  } else {
    for (std::size_t s = 0; s < shards; ++s) {
      bring_inputs(op, s);
      compute(op, s, s + 1);
    }
  }
  if (tables.ops[op].kind == TaskKind::Update && placement.homes(op).shards.size() != shards)
    for (TensorId input : tables.inputs(op))
      if (tables.updates_here(op, input)) exchange.return_parameter(input, op, last_task);
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
  if (!strategy.variables.empty()) check_variables(strategy, state.tables);
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
