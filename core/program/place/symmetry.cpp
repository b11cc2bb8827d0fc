#include "core/program/place/symmetry.h"

#include <algorithm>
#include <map>

namespace strato {
namespace {

const Shard* shard_on(const Layout& layout, DeviceId device) {
  const std::int32_t at = layout.position(device);
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
  has_meshes_ =
      std::ranges::any_of(layouts_, [&](LayoutId id) { return placement_.layout(id).is_mesh; });
}

// Where a parameter's extent does not divide evenly the first shares have one more. Which axis is
// shared is not known here: any that could be counts. Twins of stages of a pipeline send to twins,
// so meshes of as many shares are alike.
void Symmetry::list_shares() {
  for (const OpId update : tables_.updates) {
    const Layout& mesh = placement_.layout(placement_.layout_id(update));
    if (!mesh.is_mesh || mesh.sharers == 1) continue;
    const auto all = static_cast<std::int64_t>(mesh.sharers);
    for (const std::int64_t extent : tables_.graph->tensor(tables_.inputs(update).front()).shape)
      if (extent > all && extent % all != 0)
        shares_[mesh.sharers].insert(static_cast<std::size_t>(extent % all));
  }
}

std::size_t Symmetry::place_in(const Layout& layout, std::size_t shard) const {
  if (!layout.is_mesh || in_meshes_ == MeshTwinsIn::RowsAndColumns) return 0;
  return in_meshes_ == MeshTwinsIn::Rows ? layout.row(shard) : layout.column(shard);
}

// Tells devices apart by what the layout gives them: those that are alike become a class of their
// own.
void Symmetry::split_by(LayoutId id) {
  const Layout& layout = placement_.layout(id);
  const auto uneven = shares_.find(layout.sharers);
  const auto share_of = [&](std::size_t shard) -> std::size_t {
    if (uneven == shares_.end()) return 0;
    const auto& begins = uneven->second;
    return static_cast<std::size_t>(
        std::distance(begins.begin(), begins.upper_bound(layout.share(shard))));
  };
  keys_.clear();
  for (std::size_t i = 0; i < layout.shards.size(); ++i) {
    const Shard& shard = layout.shards[i];
    std::int32_t alike = 0;  // the first layout that gives it the same samples
    for (const LayoutId other : layouts_) {
      const Shard* same = shard_on(placement_.layout(other), shard.device);
      if (same && same->begin == shard.begin && same->end == shard.end) break;
      ++alike;
    }
    keys_.push_back({class_of_[shard.device], shard.end - shard.begin, alike, place_in(layout, i),
                     share_of(i), shard.device});
  }
  std::sort(keys_.begin(), keys_.end());
  const Key* before = nullptr;
  for (const Key& key : keys_) {
    const bool alike = before && before->old == key.old && before->samples == key.samples &&
                       before->alike == key.alike && before->place == key.place &&
                       before->share == key.share;
    classes_ += !alike;
    class_of_[key.device] = classes_ - 1;
    before = &key;
  }
}

// By type of GPU. What goes over single links of meshes needs links that are alike, too.
void Symmetry::start_classes() {
  const Cluster& cluster = *tables_.cluster;
  Kinds& kinds = kinds_[has_meshes_ ? 1 : 0];
  class_of_ = kinds.of;
  classes_ = kinds.count;
  if (classes_ > 0) return;
  using Ports = std::vector<std::pair<double, Nanos>>;
  std::map<std::pair<GpuTypeId, Ports>, Class> known;
  for (const DeviceId device : cluster.devices().ids()) {
    Ports ports;
    for (const LinkId link : cluster.ports(device))
      if (has_meshes_)
        ports.emplace_back(cluster.links()[link].bandwidth, cluster.links()[link].latency);
    const auto next = static_cast<Class>(known.size());
    class_of_.push_back(
        known.try_emplace({cluster.device(device).type, ports}, next).first->second);
  }
  classes_ = static_cast<Class>(known.size());
  kinds = {class_of_, classes_};
}

void Symmetry::split_classes() {
  start_classes();
  for (const LayoutId layout : layouts_) split_by(layout);
}

void Symmetry::count_classes() {
  size_of_.assign(static_cast<std::size_t>(classes_), 0);
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
  if (made.is_mesh && read.is_mesh) return;  // MeshTwins has the last word
  if (made.is_mesh || read.is_mesh) {
    single_out_all(made_id);
    single_out_all(read_id);
    return;
  }
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

// Twins are told apart by what meshes do over single links; other layouts know no links.
void Symmetry::single_out_beside_meshes() {
  for (const LayoutId id : layouts_)
    if (placement_.layout(id).is_mesh ? in_meshes_ == MeshTwinsIn::None : has_meshes_)
      single_out_all(id);
}

// Of each class the first device.
void Symmetry::choose_representatives(Fold& fold) {
  const std::size_t devices = class_of_.size();
  std::vector<DeviceId> first(size_of_.size());
  fold.left_out = 0;
  fold.stands_for.assign(devices, 0);
  fold.place_of.assign(devices, -1);
  std::int32_t kept = 0;
  for (std::size_t d = 0; d < devices; ++d) {
    const Class c = class_of_[DeviceId(d)];
    DeviceId own(d);
    DeviceId& representative = c < 0 ? own : first[static_cast<std::size_t>(c)];
    if (!representative.valid()) representative = DeviceId(d);
    fold.representative[DeviceId(d)] = representative;
    ++fold.stands_for[representative];
    if (representative == DeviceId(d))
      fold.place_of[representative] = kept++;
    else
      ++fold.left_out;
  }
}

// Of each row that is not left out all devices are kept, or the first of each. Of rows that have
// experts among them all are kept, or the first one; of rows that have positions together, too.
bool Symmetry::keeps_grid(const Layout& mesh, const Fold& fold) const {
  std::size_t columns = 0, together = 0;  // that those before keep; 0: there is none
  std::size_t apart = 0;                  // rows with samples of their own
  for (std::size_t first = 0; first < mesh.row_count(); first += mesh.context) {
    std::size_t rows = 0;
    for (std::size_t row = first; row < first + mesh.context; ++row) {
      const std::span<const Shard> members = mesh.members_of_row(row);
      const auto kept = static_cast<std::size_t>(std::ranges::count_if(
          members, [&](const Shard& shard) { return fold.keeps(shard.device); }));
      if (kept == 0) continue;
      if (kept != mesh.columns && (kept != 1 || !fold.keeps(members.front().device))) return false;
      if (columns > 0 && kept != columns) return false;
      columns = kept;
      if (rows++ == 0 && row > first) return false;
    }
    if (rows == 0) continue;
    if (rows != mesh.context && rows != 1) return false;
    if (together > 0 && rows != together) return false;
    together = rows;
    if (mesh.experts > 1 && apart++ == 0 && first > 0) return false;
  }
  return mesh.experts == 1 || apart == 1 || apart * mesh.context == mesh.row_count();
}

void Symmetry::find(Fold& fold, MeshTwinsIn meshes, SharesOfTwins shares) {
  in_meshes_ = meshes;
  has_meshes_ = false;
  const std::size_t devices = tables_.cluster->device_count();
  const auto keep_all = [&] {
    class_of_.assign(devices, -1);
    choose_representatives(fold);
  };
  fold.representative.assign(devices, DeviceId());
  fold.more_resident.assign(devices, Bytes(0));
  fold.on_meshes.assign(devices, false);
  size_of_.clear();
  keep_all();
  if (placement_.has_splits()) return;          // each part has a slice of its own
  if (!placement_.variables().empty()) return;  // and servers are like no other replica
  list_layouts();
  shares_.clear();
  if (shares == SharesOfTwins::ToldApart) list_shares();
  split_classes();
  count_classes();
  if (large_ == 0) return;
  if (has_meshes_) single_out_beside_meshes();
  for (const OpId update : tables_.updates)
    if (placement_.homes_id(update) != placement_.layout_id(update))
      single_out_all(placement_.homes_id(update));
  if (large_ == 0 || !check_ops(tables_.early) || !check_ops(tables_.late)) return;
  choose_representatives(fold);
  for (bool again = has_meshes_; std::exchange(again, false);)
    for (const LayoutId id : layouts_) {
      const Layout& mesh = placement_.layout(id);
      if (!mesh.is_mesh) continue;
      for (const Shard& shard : mesh.shards) fold.on_meshes[shard.device] = true;
      if (keeps_grid(mesh, fold)) continue;
      single_out_all(id);
      choose_representatives(fold);
      again = true;
    }
  if (fold.left_out > 0) count_residents(fold);
  for (std::size_t d = 0; d < devices; ++d)
    if (fold.on_meshes[DeviceId(d)] && fold.more_resident[DeviceId(d)] != Bytes(0)) {
      fold.more_resident.assign(devices, Bytes(0));  // of slices it is not known
      return keep_all();
    }
}

}  // namespace strato
