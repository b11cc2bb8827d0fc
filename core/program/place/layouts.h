// Layouts: which devices run an op, or keep a variable, on which samples or which slice. Each one
// has an id, and is remembered from strategy to strategy with what follows from it alone. Not
// thread safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/program/value/tables.h"
#include "core/strategy/value/strategy.h"

namespace strato {

struct Fold;  // symmetry.h

struct Shard {
  DeviceId device;
  std::int32_t begin = 0, end = 0;  // samples, of a micro-batch
  Tables::Column costs = 0;
};

using LayoutId = std::int32_t;  // equal exactly when two layouts are equal, within one generation

// How the shards of a mesh stand (MeshRoles::tensor, MeshRoles::context, MeshRoles::expert).
struct Grid {
  // The shards are rows of this many, whose columns have the same samples and compute them
  // together.
  std::size_t columns = 1;
  // Into so many parts columns divide what they compute: more than there are columns where a fold
  // has left out all but the first.
  std::size_t column_parts = 1;
  // So many rows, which follow each other, have the same samples, and positions among them; into so
  // many parts these are divided (more than rows are left where a fold has left out all but the
  // first).
  std::size_t context = 1;
  std::size_t context_parts = 1;
  // Of ops that experts compute: so many rows of the same positions, which follow each other, have
  // the same samples, those of all of them, and each its part of the experts. Else 1.
  std::size_t experts = 1;
  // So many of the rows that have the same experts, which follow each other, have states among
  // them (StateSharding). 1: each has all.
  std::size_t sharers = 1;
  bool is_mesh = false;
  friend bool operator==(const Grid&, const Grid&) = default;
};

struct Layout : Grid {
  bool sharded = false;
  std::vector<Shard> shards;  // ascending by device
  // Of a split op: shard i makes [cuts[i], cuts[i + 1]) along its axis. Else empty.
  std::vector<std::int32_t> cuts;
  LayoutId first_there = -1;  // of the layouts on the same devices
  std::size_t column(std::size_t shard) const { return shard % columns; }
  std::size_t row(std::size_t shard) const { return shard / columns; }
  // Among the rows that have positions, or experts, together.
  std::size_t place_in_context(std::size_t shard) const { return row(shard) % context; }
  std::size_t expert(std::size_t shard) const { return row(shard) / context % experts; }
  // What a shard has of a part of a tensor along an axis of this extent: its column's slice, what
  // its row has of the positions, or of the experts.
  Part column_part(const Part& of, std::size_t shard, int axis, std::int64_t extent) const {
    return divided(of, axis, extent, {column(shard), column_parts});
  }
  Part context_part(const Part& of, std::size_t shard, int axis, std::int64_t extent) const {
    return divided(of, axis, extent, {place_in_context(shard), context_parts});
  }
  Part expert_part(const Part& of, std::size_t shard, int axis, std::int64_t extent) const {
    return divided(of, axis, extent, {expert(shard), experts});
  }
  // Of the states that its row and others have among them, which part a shard has.
  std::size_t share(std::size_t shard) const {
    return (row(shard) / (context * experts) * context + place_in_context(shard)) % sharers;
  }
  // Where a share of so many elements begins: the first ones have one more where they differ.
  std::int64_t share_begin(std::int64_t elements, std::size_t share) const {
    const auto all = static_cast<std::int64_t>(sharers), before = static_cast<std::int64_t>(share);
    return elements / all * before + std::min(before, elements % all);
  }
  std::size_t row_count() const { return shards.size() / columns; }
  std::span<const Shard> members_of_row(std::size_t row) const {
    return std::span(shards).subspan(row * columns, columns);
  }
  bool is_split() const { return !cuts.empty(); }
  // A shard's samples; of a split op its part along an axis like its own.
  AxisRange range(std::size_t shard, int axis) const {
    if (axis == kBatchAxis) return {kBatchAxis, shards[shard].begin, shards[shard].end};
    return {static_cast<std::int8_t>(axis), cuts[shard], cuts[shard + 1]};
  }
  AxisRange all_of(int axis) const { return {static_cast<std::int8_t>(axis), 0, cuts.back()}; }
  std::int32_t position(DeviceId device) const;  // its shard, or -1
  struct Place {
    std::size_t index, count;
  };
  // One of equal parts of a part of a tensor along an axis of this extent.
  static Part divided(const Part& of, int axis, std::int64_t extent, Place place);
  bool has(DeviceId device) const { return position(device) >= 0; }
  bool has_all(const Layout& other) const {  // of its devices
    for (const Shard& shard : other.shards)
      if (!has(shard.device)) return false;
    return true;
  }
};

inline bool have_same_devices(const Layout& a, const Layout& b) {
  return a.first_there == b.first_there;
}

// Lines of a mesh's shards, which have collectives of their own.
enum class MeshLine : std::uint8_t {
  Row,
  Column,
  Context,    // of one column, rows that have all positions of their samples among them
  SamePlace,  // of peers, or of a column, the rows that have the same positions
  Experts,    // of one column, rows of the same positions that have all experts among them
  Peers,      // of one column, the rows that have the same experts
  Sharers,    // of peers, or of a column, those that have states among them
  SameShare,  // of peers, or of a column, those that have the same part of states
};
constexpr std::size_t kMeshLines = 8;
struct LineOfMesh {
  LayoutId group = -1;              // whole on each of them
  std::vector<std::size_t> shards;  // of the mesh, ascending
};

// Are both meshes, with as many rows of the same samples, and as many columns?
bool have_same_grid(const Layout& a, const Layout& b);
// 0: the same device; else 1 in a device group, 2 in a machine, 3 between machines.
int distance(const Cluster& cluster, DeviceId a, DeviceId b);

// What is lowered: all of a step, or one micro-batch.
struct Samples {
  std::int32_t micro = -1;  // -1: what runs once a step
  AxisRange range;          // of the batch
};

class Layouts {
 public:
  explicit Layouts(Tables& tables);

  const Layout& operator[](LayoutId id) const {
    return known_[static_cast<std::size_t>(id)].layout;
  }
  std::size_t size() const { return known_.size(); }
  // Forgets all layouts and costs when they are very many. Were they?
  bool forget_if_many();
  // Goes up when all layouts are forgotten: ids of two generations do not compare.
  std::uint32_t generation() const { return generation_; }

  // Layouts are of any micro-batch; from here on their samples are those of this one.
  void enter(std::int32_t micro) {
    const std::int32_t begin = micro * tables_.micro_batch;
    now_ = micro < 0 ? Samples{-1, {kBatchAxis, 0, tables_.batch}}
                     : Samples{micro, {kBatchAxis, begin, begin + tables_.micro_batch}};
  }
  const Samples& now() const { return now_; }
  // The shard's samples; of a split op its part along an axis like its own.
  AxisRange range(const Layout& layout, std::size_t shard, int axis) const {
    if (axis != kBatchAxis) return layout.range(shard, axis);
    if (!layout.sharded) return now_.range;
    const Shard& of = layout.shards[shard];
    return {kBatchAxis, now_.range.begin + of.begin, now_.range.begin + of.end};
  }

  // The op's time on the shard's samples; of what runs once a step on those of all micro-batches.
  Nanos time_of(OpId op, const Shard& shard) const {
    if (tables_.micro_batches == 1 || tables_.is_repeated(op))
      return tables_.op_time(shard.costs, op);
    const GpuTypeId gpu = tables_.cluster->device(shard.device).type;
    return tables_.op_time(tables_.column(gpu, tables_.batch), op);
  }

  // By device its samples, or as many times all of them; devices with none drop out. What has one
  // device is whole there.
  LayoutId of_samples(bool sharded, std::span<const DeviceShare> devices,
                      std::span<const std::int64_t> samples);
  static LayoutId on(DeviceId device) { return device.value(); }  // whole
  // Each row of the decision's devices has its share of the samples, or all of them where it is not
  // sharded. Rows without samples drop out; a single row is not sharded.
  // Of what experts compute, so many rows of the same positions have the samples of all of them.
  // -1: one of them has none, so that experts are not divided.
  LayoutId of_mesh(const Decision& decision, bool sharded, std::size_t experts = 1);
  // Of a mesh, by index; those of one member are there, but for columns, peers, rows of the same
  // positions and those with the same share. Without context parallelism there are none of Context
  // and SamePlace.
  const std::vector<LineOfMesh>& lines(LayoutId mesh, MeshLine kind) const {
    return known(mesh).lines[static_cast<std::size_t>(kind)];
  }
  // Parts in the order of the devices; a device without an index of the axis drops out.
  LayoutId of_parts(const OpSplit& split, std::int64_t extent);
  // The devices of it that the fold keeps: of a mesh in each row all columns, or the first one.
  LayoutId folded(LayoutId id, const Fold& fold);
  // With the devices that a fold has left out.
  LayoutId unfolded(LayoutId id) const {
    const LayoutId all = known(id).unfolded;
    return all < 0 ? id : all;
  }

  // The devices of a layout that are nearest to a device which has none of its shards: in its
  // device group, else in its machine, else all. Ascending.
  std::span<const DeviceId> nearest(LayoutId copies, DeviceId to);

 private:
  struct Known {
    Layout layout;
    std::unordered_map<DeviceId, std::vector<DeviceId>> nearest;
    LayoutId unfolded = -1;                                 // what it is a part of
    std::array<std::vector<LineOfMesh>, kMeshLines> lines;  // of a mesh
  };
  const Known& known(LayoutId id) const { return known_[static_cast<std::size_t>(id)]; }
  void add_line(LayoutId mesh, MeshLine kind, std::vector<std::size_t> shards);
  void make_lines(LayoutId mesh);
  std::size_t sharers_of(const Decision& decision, std::size_t experts) const;
  void forget();
  LayoutId add(Known known);
  // The layout of the shards in scratch_: a known one, or one more.
  LayoutId find(bool sharded, std::vector<std::int32_t> cuts = {}, LayoutId unfolded = -1,
                const Grid& grid = {});
  void fold_lines(LayoutId mesh, const Fold& fold);

  Tables& tables_;
  Samples now_;
  std::vector<Known> known_;  // the first device_count() are "whole on one device"
  std::unordered_multimap<std::uint64_t, LayoutId> by_hash_, by_devices_;
  std::uint32_t generation_ = 0;
  std::vector<Shard> scratch_;  // memory that is used again
};

}  // namespace strato
