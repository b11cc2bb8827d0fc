#include "core/program/lower/op_lowering.h"

#include <algorithm>
#include <utility>

namespace strato {

OpLowering::OpLowering(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
                       std::shared_ptr<const Cluster> cluster,
                       std::shared_ptr<const CostModel> cost, std::int32_t micro_batches)
    : tables_(std::move(graph), std::move(grouping), std::move(cluster), std::move(cost),
              micro_batches),
      placement_(tables_),
      emitter_(tables_),
      copies_(tables_, placement_, emitter_),
      letters_(tables_, placement_),
      residents_(tables_, placement_, letters_),
      tasks_(tables_, placement_, emitter_),
      readers_(tables_, placement_),
      gathers_(tables_, placement_, emitter_, copies_),
      activations_(tables_, placement_, emitter_, copies_),
      twins_(tables_, placement_, tasks_),
      exchange_base_{tables_,  placement_, emitter_, copies_,      residents_, tasks_,
                     readers_, letters_,   gathers_, activations_, twins_},
      collectives_(exchange_base_),
      mesh_sums_(exchange_base_),
      mesh_exchange_(exchange_base_, mesh_sums_),
      exchange_(exchange_base_, collectives_, mesh_exchange_),
      meshes_(exchange_base_, exchange_, mesh_exchange_),
      variables_(exchange_base_) {}

void OpLowering::start(Program& into, std::span<const std::int32_t> priorities, Bytes bucket) {
  into.graph = tables_.graph;
  into.cluster = tables_.cluster;
  into.micro_batches = tables_.micro_batches;
  into.issues_after_transfers = tables_.cost->issue_after_transfers();
  into.stage_of.clear();
  into.tasks.clear();
  into.dependencies.clear();
  into.resources.clear();
  into.writes.clear();
  into.reads.clear();
  into.buffers.clear();
  placement_.layouts().enter(-1);
  emitter_.marks().micro = -1;
  order_ = nullptr;
  emitter_.start(into);
  copies_.start();
  letters_.choose();
  residents_.start();
  tasks_.start(bucket);
  gathers_.start();
  activations_.start();
  tasks_.set_priorities(priorities);
  variables_.start();
  twins_.start();
}

// What all shards share is looked up once.
void OpLowering::sort_inputs(OpId op) {
  const LayoutId layout = placement_.layout_id(op);
  const std::span<const TensorId> all = tables_.inputs(op);
  inputs_.at_hand.clear();
  inputs_.at_home.clear();
  inputs_.to_bring.clear();
  inputs_.brought.clear();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TensorFacts& facts = tables_.tensors[all[i]];
    const std::int32_t first = copies_.at_hand(all[i], layout);
    if (first >= 0) {
      inputs_.at_hand.push_back(static_cast<std::size_t>(first));
    } else if (facts.source == Source::Resident) {
      residents_.add_reader(op, all[i]);
    } else if (facts.source == Source::Parameter &&
               placement_.homes(facts.op).has_all(placement_.layout(layout)) &&
               !placement_.homes(facts.op).is_split() && !placement_.homes(facts.op).is_mesh &&
               !placement_.variables().is_stale(facts.op)) {
      inputs_.at_home.push_back(facts.slot);
    } else {
      inputs_.to_bring.push_back(i);
    }
  }
  // What they wait for is sorted for each shard: nearly always it then is in order already.
  std::sort(inputs_.at_hand.begin(), inputs_.at_hand.end());
}

Instance OpLowering::bring(OpId op, std::size_t shard, std::size_t input) {
  const std::span<const TensorId> inputs = tables_.inputs(op);
  if (observer_) observer_->bring(static_cast<std::uint32_t>(shard * inputs.size() + input));
  return exchange_.input(op, inputs[input], shard);
}

// One task for each of the shards, which have their inputs. The last of them is returned.
TaskId OpLowering::compute(OpId op, std::size_t first_shard, std::size_t end_shard) {
  const Layout& layout = placement_.layout(op);
  Task task;
  task.kind = tables_.ops[op].kind;
  task.op = op;
  task.priority = tasks_.priority(op);
  TaskId last;
  for (std::size_t s = first_shard; s < end_shard; ++s) {
    const Shard& shard = layout.shards[s];
    // What the task says is written well before it is copied: fields that have just been stored one
    // by one stall the copy, which loads several at once.
    task.device = shard.device;
    task.duration = placement_.layouts().time_of(op, shard);
    const AxisRange samples = placement_.layouts().range(layout, s, kBatchAxis);
    if (samples.size() < tables_.batch)
      task.part = emitter_.parts().samples(samples.begin, samples.end);
    if (observer_) observer_->compute(s);
    for (const std::size_t first : inputs_.at_hand) emitter_.read(copies_.instance(first + s));
    for (const Instance& instance : inputs_.brought) emitter_.read(instance);
    for (const std::int32_t slot : inputs_.at_home) emitter_.read_parameter(slot, shard.device);
    if (task.kind == TaskKind::Update) overwrite_parameters(emitter_, tables_, op, shard.device);
    last = emitter_.next_task();
    write_outputs(op, samples, s, last, task.part);
    wait_if_again(emitter_, shard.device);
    if (order_) order_->add(emitter_, shard.device);
    emitter_.commit_compute(task);
  }
  return last;
}

// An update writes in place. `samples`: the shard's, which a batched output is of, too.
void OpLowering::write_outputs(OpId op, const AxisRange& at, std::size_t shard, TaskId task,
                               PartId samples) {
  const bool in_place = tables_.ops[op].kind == TaskKind::Update;
  const DeviceId device = placement_.layout(op).shards[shard].device;
  for (const TensorId output : tables_.outputs(op)) {
    const TensorFacts& facts = tables_.tensors[output];
    const PartId part =
        facts.kind == BatchKind::Batched ? samples : tasks_.samples(output, at.begin, at.end);
    Instance made{{}, task, device, part};
    made.exclusive = true;
    if (!in_place)
      made.buffer =
          emitter_.write(output, device, slice_bytes(facts, at.begin, at.end, tables_.batch), part);
    copies_.set(copies_.first(output) + shard, made);
  }
}

// The new value goes to the parameter's other homes.
void OpLowering::return_parameters(OpId update, TaskId updated) {
  const DeviceId server = placement_.layout(update).shards[0].device;
  for (TensorId input : tables_.inputs(update)) {
    if (!tables_.updates_here(update, input)) continue;
    for (const Shard& home : placement_.homes(update).shards)
      if (home.device != server) tasks_.send_home(input, update, updated, server, home.device);
  }
}

void OpLowering::declare_outputs(OpId op) {
  for (const TensorId output : tables_.outputs(op))
    copies_.declare(output, placement_.layout_id(op));
}

void OpLowering::lower_alias(OpId op) {
  const Layout& layout = placement_.layout(op);
  const TensorId input = tables_.inputs(op).front();
  const bool alone = tables_.graph->consumers(input).size() == 1 && tables_.outputs(op).size() == 1;
  for (std::size_t s = 0; s < layout.shards.size(); ++s) {
    for (std::size_t i = 1; i < tables_.inputs(op).size(); ++i) bring(op, s, i);
    Instance instance = bring(op, s, 0);
    instance.exclusive = instance.exclusive && alone;
    instance.next = -1;
    for (const TensorId output : tables_.outputs(op)) {
      const AxisRange samples = placement_.layouts().range(layout, s, kBatchAxis);
      instance.part = tasks_.samples(output, samples.begin, samples.end);
      copies_.set(copies_.first(output) + s, instance);
    }
  }
}

void OpLowering::lower_shards(OpId op) {
  sort_inputs(op);
  const std::size_t shards = placement_.layout(op).shards.size();
  TaskId last;
  if (inputs_.to_bring.empty()) {
    last = compute(op, 0, shards);
  } else {
    for (std::size_t s = 0; s < shards; ++s) {
      inputs_.brought.clear();
      for (const std::size_t input : inputs_.to_bring)
        inputs_.brought.push_back(bring(op, s, input));
      last = compute(op, s, s + 1);
    }
  }
  if (tables_.ops[op].kind == TaskKind::Update && placement_.homes(op).shards.size() != shards)
    return_parameters(op, last);
}

// ---- ops that are split along another axis than the batch: each part has the whole batch, all of
// some inputs and a slice of the others

void OpLowering::compute_part(OpId op, std::size_t part, std::span<const Instance> brought) {
  const Layout& layout = placement_.layout(op);
  const Shard& shard = layout.shards[part];
  const AxisRange range = layout.range(part, placement_.split(op)->axis);
  for (const Instance& instance : brought) emitter_.read(instance);
  Task task;
  task.kind = tables_.ops[op].kind;
  task.op = op;
  task.priority = tasks_.priority(op);
  task.device = shard.device;
  task.part = tasks_.axis(range);
  task.duration = tasks_.share_of(tables_.op_time(shard.costs, op), shard.device, range.size(),
                                  layout.cuts.back());
  if (task.kind == TaskKind::Update) overwrite_parameters(emitter_, tables_, op, shard.device);
  wait_if_again(emitter_, shard.device);
  for (const TensorId output : tables_.outputs(op)) {
    const AxisRange own = layout.range(part, copies_.made(output).axis);
    const PartId made = tasks_.part(output, own);
    copies_.set(copies_.first(output) + part,
                {emitter_.write(output, shard.device, tasks_.bytes_of(output, made), made),
                 emitter_.next_task(), shard.device, made});
  }
  emitter_.commit_compute(task);
}

void OpLowering::lower_split(OpId op) {
  const PlacedSplit& split = *placement_.split(op);
  const std::span<const TensorId> inputs = tables_.inputs(op);
  const auto outputs = tables_.outputs(op);
  for (std::size_t o = 0; o < outputs.size(); ++o)
    copies_.stand_in_parts(
        outputs[o], o == 0 ? split.axis : split_output_axis(*tables_.graph, op, o, split.axis));
  for (std::size_t part = 0; part < placement_.layout(op).shards.size(); ++part) {
    std::vector<Instance> brought;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      brought.push_back(exchange_.part_input(op, inputs[i], part, split.inputs[i]));
    compute_part(op, part, brought);
  }
}

Instance OpLowering::bring_input(OpId op, std::size_t shard, std::size_t input) {
  if (placement_.layout(op).is_mesh) return meshes_.bring(op, input, shard);
  if (placement_.layout(op).is_split())
    return exchange_.part_input(op, tables_.inputs(op)[input], shard,
                                placement_.split(op)->inputs[input]);
  return exchange_.input(op, tables_.inputs(op)[input], shard);
}

void OpLowering::lower(OpId op, bool outputs_stay) {
  gathers_.enter(op);
  activations_.enter(op);
  if (!outputs_stay) declare_outputs(op);
  if (placement_.layout(op).is_mesh) return meshes_.lower(op, order_);
  if (tables_.ops[op].alias) return lower_alias(op);
  if (placement_.layout(op).is_split()) return lower_split(op);
  if (!placement_.variables().empty() && placement_.variables().find(op))
    return variables_.lower(op);
  lower_shards(op);
}

}  // namespace strato
