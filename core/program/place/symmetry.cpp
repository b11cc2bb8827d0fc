#include "core/program/place/symmetry.h"

#include <algorithm>

namespace strato {
namespace {

const Shard* shard_on(const Layout& layout, DeviceId device) {
  const std::int32_t at = layout.position[device.index()];
  return at < 0 ? nullptr : &layout.shards[static_cast<std::size_t>(at)];
}

}  // namespace

void Symmetry::list_layouts() {
  layouts_.clear();
  ++round_;
  const auto use = [&](LayoutId id) {
    if (static_cast<std::size_t>(id) >= used_.size())
      used_.resize(static_cast<std::size_t>(id) + 1);
    if (std::exchange(used_[static_cast<std::size_t>(id)], round_) != round_)
      layouts_.push_back(id);
  };
  for (std::size_t i = 0; i < tables_.ops.size(); ++i) use(placement_.layout_id(OpId(i)));
  for (const OpId update : tables_.updates) use(placement_.homes_id(update));
}

// Tells devices apart by what the layout gives them. Are there still twins?
bool Symmetry::split_by(LayoutId id) {
  const Layout& layout = placement_.layout(id);
  keys_.clear();
  for (const DeviceId device : class_of_.ids()) {
    const Shard* shard = shard_on(layout, device);
    if (!shard) {
      keys_.push_back({class_of_[device], 0, -1, device});
      continue;
    }
    std::int32_t alike = 0;  // the first layout that gives it the same samples
    for (const LayoutId other : layouts_) {
      const Shard* same = shard_on(placement_.layout(other), device);
      if (same && same->begin == shard->begin && same->end == shard->end) break;
      ++alike;
    }
    keys_.push_back({class_of_[device], shard->end - shard->begin, alike, device});
  }
  std::sort(keys_.begin(), keys_.end());
  Class next = -1;
  bool twins = false;
  const Key* before = nullptr;
  for (const Key& key : keys_) {
    const bool alike = before && before->old == key.old && before->samples == key.samples &&
                       before->alike == key.alike;
    next += !alike;
    twins = twins || alike;
    class_of_[key.device] = next;
    before = &key;
  }
  return twins;
}

void Symmetry::split_classes() {
  const Cluster& cluster = *tables_.cluster;
  class_of_.clear();
  for (const Device& device : cluster.devices()) class_of_.push_back(device.type.value());
  for (const LayoutId layout : layouts_)
    if (!split_by(layout)) break;
}

void Symmetry::count_classes() {
  size_of_.assign(class_of_.size() + tables_.cluster->gpu_types().size(), 0);
  large_ = 0;
  for (const Class c : class_of_) large_ += ++size_of_[static_cast<std::size_t>(c)] == 2;
}

void Symmetry::single_out(DeviceId device) {
  Class& c = class_of_[device];
  if (c < 0) return;
  if (--size_of_[static_cast<std::size_t>(c)] == 1) --large_;
  c = -1;
}

void Symmetry::single_out_all(LayoutId layout) {
  for (const Shard& shard : placement_.layout(layout).shards) single_out(shard.device);
}

// Is the whole tensor made of its slices or partial sums by a collective, whoever asks first?
bool Symmetry::is_collective(TensorId tensor) {
  const auto reduces = [&](OpId reader) { return readers_.reduce_at_once(tensor, reader); };
  return (tables_.tensors[tensor].kind != BatchKind::Partial ||
          std::ranges::all_of(tables_.graph->consumers(tensor), reduces)) &&
         readers_.are_owners(tensor);
}

// Readers of other slices than those that were made: what overlaps is sent.
void Symmetry::check_slices(const Layout& made, LayoutId made_id, const Layout& read) {
  for (const Shard& shard : read.shards) {
    const Shard* own = shard_on(made, shard.device);
    if (own && own->begin == shard.begin && own->end == shard.end) continue;
    single_out(shard.device);
    for (const Shard& owner : placement_.layout(made_id).shards)
      if (owner.begin < shard.end && shard.begin < owner.end) single_out(owner.device);
  }
}

// Singles out whom Exchange::input could make a task for that is not on the device alone.
void Symmetry::check_input(OpId op, TensorId tensor) {
  const TensorFacts& facts = tables_.tensors[tensor];
  if (facts.source == Source::Resident) return;
  const bool parameter = facts.source == Source::Parameter;
  const LayoutId read_id = placement_.layout_id(op);
  const LayoutId made_id =
      parameter ? placement_.homes_id(facts.op) : placement_.layout_id(facts.op);
  if (made_id == read_id) return;
  const Layout &made = placement_.layout(made_id), &read = placement_.layout(read_id);
  const bool whole = parameter || !made.sharded || facts.kind == BatchKind::Whole;
  if (whole) {
    if (have_same_devices(made, read)) return;
    for (const Shard& shard : read.shards) {
      if (made.has(shard.device)) continue;
      single_out(shard.device);
      single_out_all(made_id);
    }
  } else if (read.sharded && facts.kind == BatchKind::Batched) {
    check_slices(made, made_id, read);
  } else if (!is_collective(tensor)) {
    single_out_all(made_id);
    single_out_all(read_id);
  }
}

// Are there still twins?
bool Symmetry::check_ops(const std::vector<OpId>& ops) {
  for (const OpId op : ops) {
    for (const TensorId input : tables_.inputs(op)) check_input(op, input);
    if (large_ == 0) return false;
  }
  return true;
}

// Inputs of the batch are resident in the union of what the ops of a device read.
void Symmetry::count_residents(Fold& fold) {
  IdVector<DeviceId, SampleRange> ranges;
  for (const TensorId tensor : tables_.slots) {
    const TensorFacts& facts = tables_.tensors[tensor];
    if (facts.kind != BatchKind::Batched) continue;
    ranges.assign(class_of_.size(), SampleRange());
    for (const OpId consumer : tables_.graph->consumers(tensor))
      for (const Shard& shard : placement_.layout(consumer).shards)
        ranges[shard.device].add(shard.begin, shard.end);
    const auto bytes = [&](DeviceId device) {
      const SampleRange range = ranges[device];
      return range.begin == range.end ? Bytes(0)
                                      : slice_bytes(facts, range.begin, range.end, tables_.batch) *
                                            std::int64_t{tables_.micro_batches};
    };
    for (std::size_t d = 0; d < class_of_.size(); ++d)
      if (!fold.keeps(DeviceId(d)))
        fold.more_resident[DeviceId(d)] +=
            bytes(DeviceId(d)) - bytes(fold.representative[DeviceId(d)]);
  }
}

void Symmetry::find(Fold& fold) {
  const std::size_t devices = tables_.cluster->device_count();
  fold.left_out = 0;
  fold.representative.clear();
  for (std::size_t d = 0; d < devices; ++d) fold.representative.push_back(DeviceId(d));
  fold.more_resident.assign(devices, Bytes(0));
  if (placement_.has_splits()) return;          // each part has a slice of its own
  if (!placement_.variables().empty()) return;  // and servers are like no other replica
  list_layouts();
  const auto is_mesh = [&](LayoutId id) { return placement_.layout(id).is_mesh(); };
  if (std::ranges::any_of(layouts_, is_mesh)) return;  // columns have slices, too
  split_classes();
  count_classes();
  if (large_ == 0) return;
  for (const OpId update : tables_.updates)
    if (placement_.homes_id(update) != placement_.layout_id(update))
      single_out_all(placement_.homes_id(update));
  if (large_ == 0 || !check_ops(tables_.early) || !check_ops(tables_.late)) return;
  std::vector<DeviceId> first(size_of_.size());
  for (std::size_t d = 0; d < devices; ++d) {
    const Class c = class_of_[DeviceId(d)];
    if (c < 0) continue;
    DeviceId& representative = first[static_cast<std::size_t>(c)];
    if (!representative.valid()) representative = DeviceId(d);
    fold.representative[DeviceId(d)] = representative;
    fold.left_out += representative != DeviceId(d);
  }
  if (fold.left_out > 0) count_residents(fold);
}

}  // namespace strato
