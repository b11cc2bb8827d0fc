#include "core/program/exchange/exchange.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"

namespace strato {

Exchange::Exchange(Tables& tables, Placement& placement, Emitter& emitter)
    : tables_(tables), placement_(placement), emitter_(emitter) {
  marked_.resize(tables.cluster->device_count());
}

void Exchange::start(Program& program) {
  constexpr std::size_t kMostCollectives = 50'000;
  program_ = &program;
  made_.assign(tables_.tensors.size(), Made());
  instances_.clear();
  if (generation_ != placement_.generation() || collective_costs_.size() > kMostCollectives)
    collective_costs_.clear();
  generation_ = placement_.generation();
  parts_.clear();
  resident_slices_.clear();
  kept_.clear();
  carried_.clear();
  resident_.assign(tables_.slots.size() * tables_.cluster->device_count(), Range());
  for (OpId update : tables_.updates)
    for (TensorId input : tables_.inputs(update))
      if (tables_.updates_here(update, input)) add_homes(input);
}

void Exchange::add_homes(TensorId parameter) {
  const Layout& homes = placement_.homes(tables_.tensors[parameter].op);
  if (homes.is_split()) return add_split_homes(parameter);
  for (const Shard& home : homes.shards)
    resident_[cell(parameter, home.device)].add(0, tables_.batch);
}

void Exchange::forget_copies(TensorId tensor) {
  Made& made = made_[tensor];
  made.extras = -1;
  made.fetches = 0;
  made.no_collective = false;
  made.root = DeviceId();
}

Bytes Exchange::resident_bytes(TensorId tensor, DeviceId device) const {
  const Range range = resident_[cell(tensor, device)];
  return range.end > range.begin ? bytes_of(tensor, range.begin, range.end) : Bytes(0);
}

void Exchange::forget_residents(TensorId tensor) {
  for (std::size_t d = 0; d < tables_.cluster->device_count(); ++d)
    resident_[cell(tensor, DeviceId(d))] = Range();
}

// Consumers come after producers. A view has no task: its readers decide.
void Exchange::set_priorities(std::span<const std::int32_t> priorities) {
  priorities_ = priorities;
  priority_of_.clear();
  if (priorities.empty()) return;
  const Graph& graph = *tables_.graph;
  CHECK(priorities.size() == graph.op_count(), "priorities of another graph");
  constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
  priority_of_.assign(graph.tensor_count(), kNone);
  const auto raise = [&](OpId op, std::int32_t priority) {
    for (TensorId input : tables_.inputs(op))
      priority_of_[input] = std::min(priority_of_[input], priority);
  };
  for (std::size_t i = graph.op_count(); i-- > 0;) {
    std::int32_t first = kNone;
    if (tables_.ops[OpId(i)].alias)
      for (TensorId output : tables_.outputs(OpId(i)))
        first = std::min(first, priority_of_[output]);
    raise(OpId(i), first == kNone ? priorities[i] : first);
  }
}

Instance Exchange::input(OpId op, TensorId tensor, std::size_t index) {
  const LayoutId id = placement_.layout_id(op);
  const TensorFacts& facts = tables_.tensors[tensor];
  const Made& made = made_[tensor];
  if (made.layout == id) return made_at(made, index);  // same devices, same ranges: it is there
  const Layout& layout = placement_.layout(id);
  const Shard& shard = layout.shards[index];
  const bool part = layout.sharded && facts.kind == BatchKind::Batched;
  if (facts.source == Source::Parameter) return parameter(tensor, shard.device);
  if (facts.source == Source::Resident)
    return part ? resident(tensor, shard.device, shard.begin, shard.end)
                : resident(tensor, shard.device, 0, tables_.batch);
  return part ? slice(tensor, shard.device, shard.begin, shard.end)
              : whole(op, tensor, shard.device);
}

std::size_t Exchange::begin_output(TensorId tensor, LayoutId layout) {
  forget_copies(tensor);
  Made& made = made_[tensor];
  made.first = static_cast<std::int32_t>(instances_.size());
  made.layout = layout;
  made.form = Form::Whole;
  const Layout& at = placement_.layout(layout);
  const BatchKind kind = tables_.tensors[tensor].kind;
  if (at.sharded && kind == BatchKind::Batched) made.form = Form::Slices;
  if (at.sharded && kind == BatchKind::Partial) made.form = Form::Partials;
  instances_.resize(instances_.size() + at.shards.size());
  return static_cast<std::size_t>(made.first);
}

Instance Exchange::resident(TensorId tensor, DeviceId device, std::int32_t begin,
                            std::int32_t end) {
  const TensorFacts& facts = tables_.tensors[tensor];
  resident_[cell(tensor, device)].add(begin, end);
  Instance instance;
  instance.device = device;
  instance.begin = begin;
  instance.end = end;
  if (facts.source == Source::Parameter) instance.slot = facts.slot;
  return instance;
}

void Exchange::read_resident(OpId op, TensorId tensor) {
  const Layout& layout = placement_.layout(op);
  const bool part = layout.sharded && tables_.tensors[tensor].kind == BatchKind::Batched;
  for (const Shard& shard : layout.shards)
    resident_[cell(tensor, shard.device)].add(part ? shard.begin : 0,
                                              part ? shard.end : tables_.batch);
}

Instance Exchange::parameter(TensorId tensor, DeviceId device) {
  const OpId update = tables_.tensors[tensor].op;
  const Layout& homes = placement_.homes(update);
  const bool stale = placement_.is_stale(update);
  const bool at_home = homes.has(device) && !homes.is_split();
  if (at_home && !stale) return resident(tensor, device, 0, tables_.batch);
  if (const Instance* here = local(tensor, device, 0, tables_.batch)) return *here;
  if (at_home) return split(tensor, resident(tensor, device, 0, tables_.batch), 0, tables_.batch);
  if (homes.is_split() && is_gathered_at_home(tensor)) return all_gather_parts(tensor, device);
  if (homes.is_split()) return gather(tensor, device);
  const DeviceId home = nearest(tensor, placement_.homes_id(update), device);
  return transfer(tensor, parameter(tensor, home), device);
}

Instance Exchange::slice(TensorId tensor, DeviceId device, std::int32_t begin, std::int32_t end) {
  if (made_[tensor].form == Form::Parts && !local(tensor, device, 0, tables_.batch))
    gather(tensor, device);
  const Here here = find(tensor, device, begin, end);
  if (here.exact) return *here.exact;
  if (here.covering) return split(tensor, Instance(*here.covering), begin, end);
  const Made& made = made_[tensor];
  if (made.form == Form::Whole) {
    const DeviceId source = nearest(tensor, made.layout, device);
    return transfer(tensor, slice(tensor, source, begin, end), device);
  }
  CHECK(made.form == Form::Slices, "a slice of a sum over the batch");
  // Slices of slices go one level deep: a piece is a part of its owner's slice.
  std::vector<Instance> pieces = std::move(spare_pieces_);
  pieces.clear();
  for (const Shard& owner : placement_.layout(made.layout).shards) {
    const std::int32_t from = std::max(begin, owner.begin), to = std::min(end, owner.end);
    if (from >= to) continue;
    if (owner.device == device) {
      pieces.push_back(slice(tensor, device, from, to));
    } else if (const Instance* copy = here.copies ? local(tensor, device, from, to) : nullptr) {
      pieces.push_back(*copy);
    } else {
      pieces.push_back(transfer(tensor, slice(tensor, owner.device, from, to), device));
    }
  }
  const Instance result = pieces.size() == 1 ? pieces[0] : concat(tensor, device, pieces);
  spare_pieces_ = std::move(pieces);
  return result;
}

Instance Exchange::whole(OpId reader, TensorId tensor, DeviceId device) {
  if (const Instance* here = local(tensor, device, 0, tables_.batch)) return *here;
  Made& made = made_[tensor];
  CHECK(made.form != Form::Absent, "a tensor is read before it is made");
  if (made.form == Form::Whole) {
    const DeviceId source = nearest(tensor, made.layout, device);
    const auto shard =
        static_cast<std::size_t>(placement_.layout(made.layout).position[source.index()]);
    return transfer(tensor, Instance(made_at(made, shard)), device);
  }
  if (made.form == Form::Parts) return gather(tensor, device);
  if (made.form == Form::Partials && made.root.valid())
    return transfer(tensor, Instance(*local(tensor, made.root, 0, tables_.batch)), device);

  const bool all = !made.no_collective && needed_by_owners_only(tensor);
  made.no_collective = !all || (made.form == Form::Partials && !is_reduced_at_once(tensor, reader));
  if (made.form == Form::Slices && made.no_collective)
    return slice(tensor, device, 0, tables_.batch);
  if (made.form == Form::Partials && made.no_collective) return sum_at(tensor, device);
  made.form == Form::Slices ? all_gather(tensor) : all_reduce(tensor);
  return *local(tensor, device, 0, tables_.batch);
}

// The instance that holds exactly these samples on the device (partial sums do not count).
const Instance* Exchange::local(TensorId tensor, DeviceId device, std::int32_t begin,
                                std::int32_t end) const {
  const Made& made = made_[tensor];
  if (made.form == Form::Whole || made.form == Form::Slices) {
    const std::int32_t at = placement_.layout(made.layout).position[device.index()];
    if (at >= 0) {
      const Instance& here = made_at(made, static_cast<std::size_t>(at));
      if (here.begin == begin && here.end == end) return &here;
    }
  }
  for (std::int32_t i = made.extras; i >= 0; i = instances_[static_cast<std::size_t>(i)].next) {
    const Instance& here = instances_[static_cast<std::size_t>(i)];
    if (here.device == device && here.begin == begin && here.end == end) return &here;
  }
  return nullptr;
}

Exchange::Here Exchange::find(TensorId tensor, DeviceId device, std::int32_t begin,
                              std::int32_t end) const {
  Here result;
  const auto covers = [&](const Instance& here) { return here.begin <= begin && here.end >= end; };
  const auto is_exact = [&](const Instance& here) {
    return here.begin == begin && here.end == end;
  };
  const Made& made = made_[tensor];
  const Instance* own = nullptr;
  const std::int32_t at = placement_.layout(made.layout).position[device.index()];
  if (at >= 0 && made.form != Form::Parts) own = &made_at(made, static_cast<std::size_t>(at));
  if (own && is_exact(*own)) return {own, own, false};
  for (std::int32_t i = made.extras; i >= 0; i = instances_[static_cast<std::size_t>(i)].next) {
    const Instance& here = instances_[static_cast<std::size_t>(i)];
    if (here.device != device) continue;
    result.copies = true;
    if (is_exact(here)) result.exact = &here;
    if (covers(here)) result.covering = &here;  // the last in the list was made first
  }
  if (own && covers(*own)) result.covering = own;
  return result;
}

// Equally near copies take turns.
DeviceId Exchange::nearest(TensorId tensor, LayoutId copies, DeviceId to) {
  if (placement_.layout(copies).has(to)) return to;
  const std::span<const DeviceId> near = placement_.nearest(copies, to);
  return near[static_cast<std::size_t>(made_[tensor].fetches++) % near.size()];
}

// Do exactly the owners of the slices or partial sums read the whole tensor? (Shards read slices or
// partial sums.)
bool Exchange::needed_by_owners_only(TensorId tensor) {
  return needed_by_all_of(placement_.layout(made_[tensor].layout), tensor,
                          [&](OpId consumer) { return placement_.layout(consumer).sharded; });
}

bool Exchange::may_reduce_in_place(TensorId tensor) const {
  const Made& made = made_[tensor];
  for (OpId consumer : tables_.graph->consumers(tensor))
    if (placement_.layout(consumer).sharded) return false;
  for (std::size_t i = 0; i < placement_.layout(made.layout).shards.size(); ++i)
    if (!made_at(made, i).exclusive) return false;
  return true;
}

Instance Exchange::remember(TensorId tensor, Instance instance) {
  std::int32_t& extras = made_[tensor].extras;
  instance.next = std::exchange(extras, static_cast<std::int32_t>(instances_.size()));
  instances_.push_back(instance);
  return instance;
}

void Exchange::list_residents() const {
  program_->residents.clear();
  const std::size_t slots = tables_.slots.size(), devices = tables_.cluster->device_count();
  for (std::size_t d = 0; d < devices; ++d)
    for (std::size_t slot = 0; slot < slots; ++slot)
      if (const Range range = resident_[slot * devices + d]; range.end > range.begin)
        program_->residents.push_back({tables_.slots[slot], DeviceId(d),
                                       bytes_of(tables_.slots[slot], range.begin, range.end)});
      else if (!resident_slices_.empty() || !kept_.empty())
        list_resident_slice(tables_.slots[slot], DeviceId(d));
  if (carried_.empty()) return;
  for (const auto& [at, bytes] : carried_)
    program_->residents.push_back({at.second, at.first, bytes});
  std::ranges::sort(program_->residents, {}, [](const Resident& resident) {
    return std::pair(resident.device, resident.tensor);
  });
}

}  // namespace strato
