#include "core/program/exchange/exchange.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {
namespace {

using Form = Copies::Form;

}  // namespace

Instance Exchange::input(OpId op, TensorId tensor, std::size_t index) {
  const LayoutId id = placement_.layout_id(op);
  const TensorFacts& facts = tables_.tensors[tensor];
  // Same devices, same ranges: it is there.
  if (copies_.made(tensor).layout == id) return copies_.of_shard(tensor, index);
  const Layout& layout = placement_.layout(id);
  const DeviceId device = layout.shards[index].device;
  const bool part = layout.sharded && facts.kind == BatchKind::Batched;
  const AxisRange samples =
      part ? placement_.layouts().range(layout, index, kBatchAxis) : tasks_.all_samples();
  if (facts.source == Source::Resident) return resident(tensor, device, samples);
  if (meshes_.has(tensor)) {
    const PartId wanted = tasks_.samples(tensor, samples.begin, samples.end);
    return meshes_.bring(op, tensor, emitter_.program().parts[wanted], device);
  }
  if (facts.source == Source::Parameter) return parameter(tensor, device);
  return part ? slice(tensor, device, samples) : whole(op, tensor, device);
}

Instance Exchange::part_input(OpId op, TensorId tensor, std::size_t index, int axis) {
  const Layout& layout = placement_.layout(op);
  const DeviceId device = layout.shards[index].device;
  const Source source = tables_.tensors[tensor].source;
  if (meshes_.has(tensor)) {
    const PartId wanted =
        axis < 0 ? tasks_.all_of(tensor) : tasks_.part(tensor, layout.range(index, axis));
    return meshes_.bring(op, tensor, emitter_.program().parts[wanted], device);
  }
  if (axis < 0) {
    if (source == Source::Parameter) return parameter(tensor, device);
    if (source == Source::Resident) return resident(tensor, device, tasks_.all_samples());
    return whole(op, tensor, device);
  }
  const AxisRange range = layout.range(index, axis);
  if (source == Source::Resident) return resident(tensor, device, range);
  if (source == Source::Parameter && is_kept(tensor, device, range))
    return resident(tensor, device, range);
  const PartId part = tasks_.part(tensor, range);
  if (const Instance* here = copies_.local(tensor, device, part)) return *here;
  if (is_divided(tensor, axis)) return join(tensor, device, range);
  if (const SliceRead read = readers_.slices_read_by(op, tensor);
      readers_.reduce_at_once(tensor, op) && readers_.are_scattered(tensor, read)) {
    collectives_.reduce_scatter(tensor, read);
    return *copies_.local(tensor, device, part);
  }
  return take(tensor, cut(tensor, whole_near(op, tensor, device), part), device);
}

Instance Exchange::resident(TensorId tensor, DeviceId device, const AxisRange& range) {
  const TensorFacts& facts = tables_.tensors[tensor];
  if (range.axis == kBatchAxis)
    residents_.add(tensor, device, range.begin, range.end);
  else
    residents_.add_slice(tensor, device, range);
  Instance instance;
  instance.device = device;
  instance.part = tasks_.part(tensor, range);
  if (facts.source == Source::Parameter) instance.slot = facts.slot;
  return instance;
}

Instance Exchange::transfer(TensorId tensor, const Instance& from, DeviceId to) {
  return copies_.add(tensor, tasks_.send(tensor, from, to));
}

Instance Exchange::parameter(TensorId tensor, DeviceId device) {
  const OpId update = tables_.tensors[tensor].op;
  const Layout& homes = placement_.homes(update);
  const bool stale = placement_.variables().is_stale(update);
  const bool at_home = homes.has(device) && !homes.is_split();
  if (at_home && !stale) return resident(tensor, device, tasks_.all_samples());
  if (const Instance* here = copies_.local(tensor, device, kWhole)) return *here;
  if (at_home)
    return copies_.add(
        tensor, tasks_.split(tensor, resident(tensor, device, tasks_.all_samples()), kWhole));
  if (homes.is_split()) {
    if (!readers_.are_keepers(tensor)) return gather(tensor, device);
    gather_on_owners(tensor);
    return *copies_.local(tensor, device, kWhole);
  }
  const DeviceId home = copies_.nearest(tensor, placement_.homes_id(update), device);
  return transfer(tensor, parameter(tensor, home), device);
}

Instance Exchange::slice(TensorId tensor, DeviceId device, const AxisRange& samples) {
  const Form form = copies_.made(tensor).form;
  if (form == Form::Parts && !copies_.local(tensor, device, kWhole)) gather(tensor, device);
  const PartId part = tasks_.part(tensor, samples);
  if (const Instance* here = copies_.covering(tensor, device, part))
    return here->part == part ? *here : copies_.add(tensor, tasks_.split(tensor, *here, part));
  if (form == Form::Whole) {
    const DeviceId source = copies_.nearest(tensor, copies_.made(tensor).layout, device);
    return transfer(tensor, slice(tensor, source, samples), device);
  }
  CHECK(form == Form::Slices, "a slice of a sum over the batch");
  return join(tensor, device, samples);
}

Instance Exchange::whole(OpId reader, TensorId tensor, DeviceId device) {
  const PartId all = tasks_.all_of(tensor);
  if (const Instance* here = copies_.local(tensor, device, all)) return *here;
  Copies::Made& made = copies_.made(tensor);
  CHECK(made.form != Form::Absent, "a tensor is read before it is made");
  if (made.form == Form::Whole) {
    const DeviceId source = copies_.nearest(tensor, made.layout, device);
    return transfer(tensor, Instance(*copies_.local(tensor, source, all)), device);
  }
  if (made.form == Form::Parts) return gather(tensor, device);
  if (made.form == Form::Partials && made.root.valid())
    return transfer(tensor, Instance(*copies_.local(tensor, made.root, all)), device);

  const bool by_owners = !made.no_collective && readers_.are_owners(tensor);
  made.no_collective =
      !by_owners || (made.form == Form::Partials && !readers_.reduce_at_once(tensor, reader));
  if (made.form == Form::Slices) {
    if (made.no_collective) return slice(tensor, device, tasks_.all_samples());
    gather_on_owners(tensor);
  } else {
    if (made.no_collective) return sum_at(tensor, device);
    collectives_.all_reduce({&tensor, 1});
  }
  return *copies_.local(tensor, device, all);
}

// All of the tensor: on the device if it can be had there without another Transfer of it, else
// where the nearest copy is.
Instance Exchange::whole_near(OpId reader, TensorId tensor, DeviceId device) {
  const Copies::Made& made = copies_.made(tensor);
  const PartId all = tasks_.all_of(tensor);
  const bool is_parameter = tables_.tensors[tensor].source == Source::Parameter;
  const LayoutId from = copies_.owners(tensor);
  if (is_parameter && placement_.layout(from).has(device)) return parameter(tensor, device);
  if (const Instance* here = copies_.local(tensor, device, all)) return *here;
  if (made.form == Form::Partials && made.root.valid())
    return *copies_.local(tensor, made.root, all);
  if (placement_.layout(from).is_split())
    return is_parameter ? parameter(tensor, device) : whole(reader, tensor, device);
  if (!is_parameter && made.form != Form::Whole) return whole(reader, tensor, device);
  const DeviceId source = copies_.nearest(tensor, from, device);
  return is_parameter ? parameter(tensor, source) : *copies_.local(tensor, source, all);
}

Instance Exchange::sum_at(TensorId tensor, DeviceId root) {
  std::vector<Instance> terms;
  const std::size_t shards = placement_.layout(copies_.made(tensor).layout).shards.size();
  for (std::size_t i = 0; i < shards; ++i) {
    const Instance term = copies_.of_shard(tensor, i);
    terms.push_back(term.device == root ? term : tasks_.send(tensor, term, root));
  }
  copies_.made(tensor).root = root;
  return copies_.add(tensor, tasks_.sum(tensor, root, terms));
}

// ---- slices along other axes than the batch

bool Exchange::is_divided(TensorId tensor, int axis) const {
  return placement_.layout(copies_.owners(tensor)).is_split() &&
         copies_.divided_axis(tensor) == axis;
}

// Is just this range of a parameter kept, and updated, on the device?
bool Exchange::is_kept(TensorId parameter, DeviceId device, const AxisRange& range) const {
  const Layout& homes = placement_.layout(copies_.owners(parameter));
  const std::int32_t shard = homes.position(device);
  return is_divided(parameter, range.axis) && shard >= 0 &&
         homes.range(static_cast<std::size_t>(shard), range.axis) == range;
}

Instance Exchange::gather(TensorId tensor, DeviceId device) {
  const Layout& owners = placement_.layout(copies_.owners(tensor));
  return join(tensor, device, owners.all_of(copies_.divided_axis(tensor)));
}

Instance Exchange::join(TensorId tensor, DeviceId device, const AxisRange& range) {
  const Layout& owners = placement_.layout(copies_.owners(tensor));
  std::vector<Instance> pieces;
  pieces.reserve(owners.shards.size());
  for (std::size_t i = 0; i < owners.shards.size(); ++i) {
    AxisRange overlap = placement_.layouts().range(owners, i, range.axis);
    overlap.begin = std::max(overlap.begin, range.begin);
    overlap.end = std::min(overlap.end, range.end);
    if (overlap.begin < overlap.end) pieces.push_back(piece(tensor, i, device, overlap));
  }
  if (pieces.size() == 1) return pieces[0];
  return copies_.add(tensor, tasks_.concat(tensor, device, pieces, range));
}

// Some of what one part, or one slice of the batch, holds.
Instance Exchange::piece(TensorId tensor, std::size_t index, DeviceId device,
                         const AxisRange& range) {
  const PartId wanted = tasks_.part(tensor, range);
  if (const Instance* here = copies_.local(tensor, device, wanted)) return *here;
  const Instance from = part(tensor, index, range.axis);
  return take(tensor, from.part == wanted ? from : cut(tensor, from, wanted), device);
}

Instance Exchange::part(TensorId tensor, std::size_t index, int axis) {
  if (tables_.tensors[tensor].source != Source::Parameter) return copies_.of_shard(tensor, index);
  const Layout& homes = placement_.layout(copies_.owners(tensor));
  return resident(tensor, homes.shards[index].device, homes.range(index, axis));
}

// A Split where `from` is; it is not needed again on the same device.
Instance Exchange::cut(TensorId tensor, const Instance& from, PartId part) {
  if (const Instance* here = copies_.local(tensor, from.device, part)) return *here;
  return copies_.add(tensor, tasks_.split(tensor, from, part));
}

Instance Exchange::take(TensorId tensor, const Instance& from, DeviceId device) {
  return from.device == device ? from : transfer(tensor, from, device);
}

void Exchange::gather_on_owners(TensorId tensor) {
  std::vector<Instance> held;
  for (std::size_t i = 0; i < placement_.layout(copies_.owners(tensor)).shards.size(); ++i)
    held.push_back(part(tensor, i, copies_.divided_axis(tensor)));
  collectives_.all_gather(tensor, held);
}

}  // namespace strato
