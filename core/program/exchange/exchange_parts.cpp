// What ops that are split along another axis than the batch read and make (FastT 5.2, Algorithm 2,
// lines 16 to 30: a split node at a producer, a concatenation at a consumer).
//
// A slice comes from the device's own copy of the tensor (Split), or from the nearest copy: Split
// there, then a Transfer of the slice. What carries the batch in slices, or is a sum over it still
// to be made, is brought together on the device first, as for a Duplicate op, unless one collective
// does for all parts (exchange_scatter.cpp). What is made in parts goes as it is to a reader that
// is split along the same axis; any other gathers it.
#include <algorithm>

#include "core/base/error.h"
#include "core/program/exchange/exchange.h"

namespace strato {

Bytes Exchange::bytes_of(TensorId tensor, const AxisSlice& slice) const {
  const auto upto = [&](std::int32_t index) {  // bytes x index may not fit in 64 bits
    const auto all = static_cast<__int128>(tables_.tensors[tensor].bytes.value);
    return static_cast<std::int64_t>(all * index / slice.extent);
  };
  return Bytes(std::max<std::int64_t>(1, upto(slice.end) - upto(slice.begin)));
}

Nanos Exchange::move_time(DeviceId device, Bytes moved) const {
  const GpuTypeId gpu = tables_.cluster->device(device).type;
  return std::max(Nanos(1), tables_.cost->local_move(gpu, moved));
}

void Exchange::stand_in_parts(TensorId output, int axis) {
  made_[output].form = Form::Parts;
  parts_[output].axis = axis;
}

// Each part of a parameter is resident where its update runs.
void Exchange::add_split_homes(TensorId parameter) {
  const PlacedSplit& split = placement_.split(tables_.tensors[parameter].op);
  parts_[parameter].axis = split.axis;
  const Layout& homes = placement_.homes(split.op);
  for (std::size_t i = 0; i < homes.shards.size(); ++i)
    resident_slice(parameter, homes.shards[i].device, slice_of(homes, i, split.axis));
}

Instance Exchange::part_input(OpId op, TensorId tensor, DeviceId device, const AxisSlice& slice) {
  const Source source = tables_.tensors[tensor].source;
  if (slice.axis < 0) {
    if (source == Source::Parameter) return parameter(tensor, device);
    if (source == Source::Resident) return resident(tensor, device, 0, tables_.batch);
    return whole(op, tensor, device);
  }
  if (source == Source::Resident) return resident_slice(tensor, device, slice);
  if (const Instance* here = local_slice(tensor, device, slice)) return *here;
  if (is_in_parts(tensor, slice.axis)) return join(tensor, device, slice);
  if (const SliceRead read = slice_read_by(op, tensor);
      is_reduced_at_once(tensor, op) && is_scattered(tensor, read)) {
    reduce_scatter(tensor, read);
    return *local_slice(tensor, device, slice);
  }
  const Instance made = cut(tensor, whole_near(op, tensor, device), slice);
  return made.device == device ? made : send_slice(tensor, made, device, slice);
}

bool Exchange::is_in_parts(TensorId tensor, int axis) const {
  if (!placement_.layout(owners(tensor)).is_split()) return false;
  return parts_.at(tensor).axis == axis;
}

// The layout in which a tensor was made, or a parameter is kept.
LayoutId Exchange::owners(TensorId tensor) const {
  const TensorFacts& facts = tables_.tensors[tensor];
  return facts.source == Source::Parameter ? placement_.homes_id(facts.op) : made_[tensor].layout;
}

// All of the tensor: on the device if it can be had there without another Transfer of it, else
// where the nearest copy is.
Instance Exchange::whole_near(OpId reader, TensorId tensor, DeviceId device) {
  const Made& made = made_[tensor];
  const bool is_parameter = tables_.tensors[tensor].source == Source::Parameter;
  const LayoutId from = owners(tensor);
  if (is_parameter && placement_.layout(from).has(device)) return parameter(tensor, device);
  if (const Instance* here = local(tensor, device, 0, tables_.batch)) return *here;
  if (made.form == Form::Partials && made.root.valid())
    return *local(tensor, made.root, 0, tables_.batch);
  if (placement_.layout(from).is_split())
    return is_parameter ? parameter(tensor, device) : whole(reader, tensor, device);
  if (!is_parameter && made.form != Form::Whole) return whole(reader, tensor, device);
  const DeviceId source = nearest(tensor, from, device);
  return is_parameter ? parameter(tensor, source) : *local(tensor, source, 0, tables_.batch);
}

Instance Exchange::gather(TensorId tensor, DeviceId device) {
  const std::int32_t extent = placement_.layout(owners(tensor)).cuts.back();
  collect_pieces(tensor, device, {parts_[tensor].axis, 0, extent, extent});
  return remember(tensor, concat_pieces(tensor, device, {parts_[tensor].axis, 0, extent, extent}));
}

Instance Exchange::join(TensorId tensor, DeviceId device, const AxisSlice& slice) {
  collect_pieces(tensor, device, slice);
  if (pieces_.size() == 1) return pieces_[0];
  const Instance joined = concat_pieces(tensor, device, slice);
  parts_[tensor].copies.push_back({slice, joined});
  return joined;
}

void Exchange::collect_pieces(TensorId tensor, DeviceId device, const AxisSlice& slice) {
  const Layout& owners_of = placement_.layout(owners(tensor));
  pieces_.clear();
  for (std::size_t i = 0; i < owners_of.shards.size(); ++i) {
    AxisSlice overlap = slice_of(owners_of, i, slice.axis);
    overlap.begin = std::max(overlap.begin, slice.begin);
    overlap.end = std::min(overlap.end, slice.end);
    if (overlap.begin < overlap.end) pieces_.push_back(piece(tensor, i, device, overlap));
  }
}

// Some of what one part holds.
Instance Exchange::piece(TensorId tensor, std::size_t part, DeviceId device,
                         const AxisSlice& slice) {
  if (const Instance* here = local_slice(tensor, device, slice)) return *here;
  const Layout& owners_of = placement_.layout(owners(tensor));
  const AxisSlice own = slice_of(owners_of, part, slice.axis);
  const DeviceId owner = owners_of.shards[part].device;
  const bool is_parameter = tables_.tensors[tensor].source == Source::Parameter;
  Instance made =
      is_parameter ? resident_slice(tensor, owner, own) : Instance(made_at(made_[tensor], part));
  if (own != slice) made = cut(tensor, made, slice);
  return owner == device ? made : send_slice(tensor, made, device, slice);
}

// A Split where `from` is; it is not needed again on the same device.
Instance Exchange::cut(TensorId tensor, const Instance& from, const AxisSlice& slice) {
  if (const Instance* here = local_slice(tensor, from.device, slice)) return *here;
  Task task = communication(TaskKind::Split, tensor);
  const Bytes bytes = bytes_of(tensor, slice);
  set_slice(task, slice);
  task.device = from.device;
  task.bytes = 2 * bytes;
  task.duration = move_time(from.device, task.bytes);
  emitter_.read(from);
  Instance made{emitter_.write(tensor, from.device, bytes, part_of(slice)),
                {},
                from.device,
                0,
                tables_.batch};
  made.task = emitter_.commit_compute(task);
  parts_[tensor].copies.push_back({slice, made});
  return made;
}

Instance Exchange::send_slice(TensorId tensor, const Instance& from, DeviceId to,
                              const AxisSlice& slice) {
  const Instance made = send(tensor, from, to, slice);
  parts_[tensor].copies.push_back({slice, made});
  return made;
}

Instance Exchange::concat_pieces(TensorId tensor, DeviceId device, const AxisSlice& slice) {
  Task task = communication(TaskKind::Concat, tensor);
  const Bytes bytes = bytes_of(tensor, slice);
  set_slice(task, slice);
  task.device = device;
  task.bytes = 2 * bytes;
  task.duration = move_time(device, task.bytes);
  for (const Instance& piece : pieces_) emitter_.read(piece);
  Instance made{
      emitter_.write(tensor, device, bytes, part_of(slice)), {}, device, 0, tables_.batch};
  made.task = emitter_.commit_compute(task);
  return made;
}

// Slices of one tensor on one device are kept as one range; along several axes, all of it.
Instance Exchange::resident_slice(TensorId tensor, DeviceId device, const AxisSlice& slice) {
  const auto [at, fresh] = resident_slices_.try_emplace({device, tensor}, slice);
  AxisSlice& kept = at->second;
  if (!fresh && kept.axis == slice.axis) {
    kept.begin = std::min(kept.begin, slice.begin);
    kept.end = std::max(kept.end, slice.end);
  } else if (!fresh) {
    kept = {-1, 0, 1, 1};
  }
  Instance instance;
  instance.device = device;
  instance.end = tables_.batch;
  if (tables_.tensors[tensor].source == Source::Parameter)
    instance.slot = tables_.tensors[tensor].slot;
  return instance;
}

void Exchange::list_resident_slice(TensorId tensor, DeviceId device) const {
  const auto found = resident_slices_.find({device, tensor});
  const auto kept = kept_.find({device, tensor});
  if (kept != kept_.end())
    program_->residents.push_back({tensor, device, kept->second});
  else if (found != resident_slices_.end())
    program_->residents.push_back({tensor, device, bytes_of(tensor, found->second)});
}

void Exchange::keep(TensorId tensor, DeviceId device) {
  resident_[cell(tensor, device)].add(0, tables_.batch);
}

void Exchange::keep_some(TensorId tensor, DeviceId device, Bytes bytes) {
  kept_[{device, tensor}] += bytes;
}

const Instance* Exchange::local_slice(TensorId tensor, DeviceId device,
                                      const AxisSlice& slice) const {
  const Layout& owners_of = placement_.layout(owners(tensor));
  if (owners_of.is_split() && owners_of.has(device) && made_[tensor].form == Form::Parts &&
      parts_.at(tensor).axis == slice.axis) {
    const auto part = static_cast<std::size_t>(owners_of.position[device.index()]);
    if (slice_of(owners_of, part, slice.axis) == slice) return &made_at(made_[tensor], part);
  }
  const auto known = parts_.find(tensor);
  if (known == parts_.end()) return nullptr;
  for (const PartCopy& copy : known->second.copies)
    if (copy.instance.device == device && copy.slice == slice) return &copy.instance;
  return nullptr;
}

}  // namespace strato
