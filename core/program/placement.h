// The first pass of lowering ("place"): which devices run each op, on which samples.
//
// - Replicate modes: apportion() gives contiguous sample ranges to the devices in ascending order;
// a device with
//   no sample drops out of the group. Splittable ops run one shard a device, others whole on every
//   device, except the updates of a ReplicatePs group: each runs on one device, round robin over
//   the group's devices in the order of the parameters.
// - Duplicate: every op whole on every device. ModelParallel: every op whole on one device.
// - An op is sharded only if each of its partial inputs is made by shards with exactly the same
// layout.
// - Whatever has one device is simply whole there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/tables.h"
#include "core/strategy/strategy.h"

namespace strato {

struct Shard {
  DeviceId device;
  std::int32_t begin = 0, end = 0;  // samples
  Tables::Column costs = 0;
};

using LayoutId = std::int32_t;  // equal exactly when two layouts are equal, within one strategy

struct Layout {
  bool sharded = false;
  std::vector<Shard> shards;           // ascending by device
  std::vector<std::int32_t> position;  // by device: its shard, or -1
  bool has(DeviceId device) const { return position[device.index()] >= 0; }
};

class Placement {
 public:
  explicit Placement(Tables& tables);
  void place(const Strategy& complete);

  LayoutId layout_id(OpId op) const { return layout_of_[op]; }
  const Layout& layout(LayoutId id) const { return layouts_[static_cast<std::size_t>(id)]; }
  const Layout& layout(OpId op) const { return layout(layout_of_[op]); }
  Mode mode(OpId op) const { return mode_[tables_.grouping->group_of(op)]; }
  // Where the parameters that `update` updates are kept.
  const Layout& homes(OpId update) const { return layout(homes_[update]); }

  void check()
      const;  // every op has a layout, and shards cover the batch exactly; throws InvariantError

 private:
  struct GroupLayouts {
    LayoutId whole = 0, sharded = -1;  // sharded: -1 when the batch is not split
  };
  void reset();
  LayoutId add(bool sharded);
  LayoutId intern(bool sharded, std::span<const DeviceShare> devices,
                  std::span<const std::int64_t> samples);
  void place_group(GroupId group, const Decision& decision);
  void place_parts(GroupId group, const Decision& decision);
  void place_replicas(GroupId group, const GroupLayouts& layouts);
  void place_ops();
  void place_updates();
  bool may_shard(OpId op, LayoutId layout) const;

  Tables& tables_;
  std::vector<Layout> layouts_;  // the first device_count() are "whole on one device"
  std::size_t layout_count_ = 0;
  IdVector<OpId, LayoutId> layout_of_, homes_;
  IdVector<GroupId, Mode> mode_;
  IdVector<GroupId, GroupLayouts> of_group_;
  IdVector<GroupId, std::size_t> next_server_;
  std::vector<Shard> scratch_;
};

}  // namespace strato
