#include "core/program/place/mesh_letters.h"

#include <algorithm>

#include "core/base/at.h"
#include "core/program/value/collective.h"
#include "core/program/value/op_parts.h"

namespace strato {
namespace {

std::vector<DeviceId> devices_of(std::span<const Shard> shards) {
  std::vector<DeviceId> devices;
  for (const Shard& shard : shards) devices.push_back(shard.device);
  return devices;
}

}  // namespace

std::size_t input_of(const Tables& tables, OpId op, TensorId tensor) {
  const std::span<const TensorId> inputs = tables.inputs(op);
  return static_cast<std::size_t>(std::ranges::find(inputs, tensor) - inputs.begin());
}

int ColumnPart::input(const Tables& tables, OpId op, TensorId tensor) const {
  if (split == nullptr) return kAllOf;
  return inputs[input_of(tables, op, tensor)];
}

ColumnPart MeshLetters::part_of(OpId op, ColumnChoice choice) {
  ColumnPart part;
  if (choice >= 0) {
    part.split = &tables_.letter_splits(op)[static_cast<std::size_t>(choice)];
    part.ordinal = choice;
    part.inputs = axes_read(op, *part.split);
  }
  if (placement_.layout(op).experts > 1) {
    part.experts = tables_.expert_split(op);
    part.expert_inputs = axes_read(op, *part.experts);
  }
  return part;
}

std::vector<int> MeshLetters::axes_read(OpId op, const LetterSplit& split) const {
  std::vector<int> axes;
  for (const TensorId input : tables_.inputs(op))
    axes.push_back(axis_read(tables_.graph->op(op), split.inputs, input));
  return axes;
}

// The first axis of which rows have equal parts, or else parts that differ by an eighth at most,
// and of which columns and experts have no slices. Rows that differ more are no twins, for little.
int MeshLetters::shared_axis(OpId update) {
  constexpr std::int64_t kLeastUneven = 8;
  const Layout& mesh = placement_.layout(update);
  if (!mesh.is_mesh || mesh.sharers == 1) return kAllOf;
  const ColumnPart& part = parts_[update];
  const TensorId parameter = tables_.inputs(update).front();
  if (tables_.tensors[parameter].bytes < placement_.decision(update).roles.states.smallest)
    return kAllOf;
  const auto rows = static_cast<std::int64_t>(mesh.sharers);
  const auto is_free = [&](int axis) {
    return (part.split == nullptr || part.inputs.front() != axis) && part.expert_input(0) != axis;
  };
  int found = kAllOf;
  for (const SplitAxis& split : tables_.split_axes(update)) {
    const std::int64_t extent =
        tables_.graph->tensor(parameter).shape[static_cast<std::size_t>(split.axis)];
    if (!is_free(split.axis) || extent < rows) continue;
    if (extent % rows == 0) return split.axis;
    if (found == kAllOf && extent >= kLeastUneven * rows) found = split.axis;
  }
  return found;
}

MeshLetters::Axes MeshLetters::axes_of_input(OpId op, TensorId tensor) const {
  const ColumnPart& part = parts_[op];
  return {part.input(tables_, op, tensor), part.expert_input(input_of(tables_, op, tensor))};
}

// Is it once a step, and on the mesh of the update, that the op casts what columns and experts
// there have the same of?
bool MeshLetters::casts_beside(OpId op, OpId update, Axes cast, Axes read) const {
  const std::string& type = tables_.graph->op(op).type;
  return (type == "Cast" || type == "CastGrad") && !placement_.layout(op).sharded &&
         placement_.layout_id(op) == placement_.layout_id(update) && cast == read;
}

void MeshLetters::share_updates() {
  const Graph& graph = *tables_.graph;
  for (const OpId update : tables_.updates) {
    const int axis = shared_axis(update);
    if (axis == kAllOf) continue;
    parts_[update].shared_axis = axis;
    const TensorId parameter = tables_.inputs(update).front();
    const Axes read = axes_of_input(update, parameter);
    for (const OpId reader : graph.consumers(parameter))
      if (casts_beside(reader, update, axes_of_input(reader, parameter), read))
        parts_[reader].shared_axis = axis;
    for (const TensorId input : tables_.inputs(update)) {
      const OpId maker = graph.tensor(input).producer;
      if (!maker.valid() || graph.consumers(input).size() != 1) continue;
      ColumnPart& cast = parts_[maker];
      if (casts_beside(maker, update, {cast.output(0), cast.expert_output(0)},
                       axes_of_input(update, input)))
        cast.shared_axis = axis;
    }
  }
}

Part MeshLetters::share_of(const Part& of_column, OpId op, std::size_t shard) const {
  const int axis = of(op).shared_axis;
  if (axis < 0) return of_column;
  const Layouts& layouts = placement_.layouts();
  const Layout& mesh = layouts[layouts.unfolded(placement_.layout_id(op))];
  const std::int64_t extent =
      tables_.graph->tensor(tables_.inputs(op).front()).shape[static_cast<std::size_t>(axis)];
  const auto cut = [&](std::size_t share) {
    return static_cast<std::int32_t>(extent * std::int64_t(share) / std::int64_t(mesh.sharers));
  };
  const DeviceId device = placement_.layout(op).shards[shard].device;
  const std::size_t share = mesh.share(at(mesh.position(device)));
  return of_column.cut({static_cast<std::int8_t>(axis), cut(share), cut(share + 1)});
}

Part MeshLetters::own_experts(const Part& of_column, OpId op, TensorId tensor, int axis,
                              std::size_t shard) const {
  if (axis < 0) return of_column;
  return placement_.layout(op).expert_part(of_column, shard, axis, tables_.graph->tensor(tensor));
}

Part MeshLetters::read_by_column(const Part& samples, OpId op, std::size_t input,
                                 std::size_t shard) const {
  const ColumnPart& columns = of(op);
  const int axis = columns.split ? columns.inputs[input] : kAllOf;
  const TensorId tensor = tables_.inputs(op)[input];
  if (axis >= kSumOver)
    return samples.cut(placement_.layout(op).slice(shard, axis, extent(tensor, axis)));
  return axis < 0
             ? samples
             : placement_.layout(op).sliced(samples, shard, axis, tables_.graph->tensor(tensor));
}

Part MeshLetters::part_read(const Part& samples, OpId op, std::size_t input,
                            std::size_t shard) const {
  const ColumnPart& columns = of(op);
  return own_experts(read_by_column(samples, op, input, shard), op, tables_.inputs(op)[input],
                     columns.expert_input(input), shard);
}

Part MeshLetters::made_by_column(const Part& samples, OpId op, std::size_t output,
                                 std::size_t shard) const {
  const ColumnPart& columns = of(op);
  const Layout& layout = placement_.layout(op);
  const int axis = columns.output(output);
  if (axis == kSummed)
    return samples.cut(layout.slice(shard, kSummedAxis + columns.ordinal, columns.split->extent));
  const TensorId tensor = tables_.outputs(op)[output];
  return axis < 0 ? samples : layout.sliced(samples, shard, axis, tables_.graph->tensor(tensor));
}

Part MeshLetters::part_made(const Part& samples, OpId op, std::size_t output,
                            std::size_t shard) const {
  return own_experts(made_by_column(samples, op, output, shard), op, tables_.outputs(op)[output],
                     of(op).expert_output(output), shard);
}

Part MeshLetters::kept(OpId update, TensorId parameter, std::size_t shard) const {
  const std::size_t input = input_of(tables_, update, parameter);
  return share_of(part_read({}, update, input, shard), update, shard);
}

// Costs are those of the first row.
const std::vector<ColumnChoice>& MeshLetters::choices_for(const Region& region) {
  const Layout& layout = placement_.layout(region.first);  // unfolded
  const std::vector<DeviceId> row = devices_of(layout.members_of_row(0));
  const std::int32_t samples = layout.shards.front().end - layout.shards.front().begin;
  Hasher hasher;
  hasher.number(layout.columns).number(samples);
  for (const Shard& shard : layout.shards) hasher.number(shard.device.value());
  for (const OpId op : region.second) {
    hasher.number(op.value()).number(placement_.layout(op).experts);
    if (tables_.graph->op(op).type == "AddN") hasher.number(reads_its_samples(op));
  }
  const auto [known, fresh] = known_.try_emplace(hasher.finish());
  if (!fresh) return known->second;

  const auto time_of = [&](Collective kind) {
    return [this, &row, samples, kind](TensorId tensor) {
      const Bytes bytes = slice_bytes(tables_.tensors[tensor], 0, samples, tables_.batch);
      return tables_.cost->collective(kind, row, bytes).duration;
    };
  };
  ColumnCosts costs;
  costs.compute = [&](OpId op) { return tables_.op_time(layout.shards.front().costs, op); };
  costs.all_reduce = time_of(Collective::AllReduce);
  costs.all_gather = time_of(Collective::AllGather);
  costs.reduce_scatter = time_of(Collective::ReduceScatter);
  costs.all_to_all = costs.all_gather;  // slices are exchanged by transfers: no cheaper than that
  // A gradient of all of a parameter takes the rows longer, and the update each column.
  std::vector<DeviceId> column;
  for (std::size_t i = 0; i < layout.shards.size(); i += layout.columns)
    column.push_back(layout.shards[i].device);
  costs.whole_parameter = [&, column](TensorId tensor) {
    const auto spared = static_cast<std::int64_t>(layout.columns) - 1;
    const Bytes bytes = tables_.tensors[tensor].bytes * spared / (spared + 1);
    const GpuTypeId gpu = tables_.cluster->device(column.front()).type;
    const Nanos update = tables_.cost->local_move(gpu, bytes * 2);
    return column.size() < 2
               ? update
               : update + tables_.cost->collective(Collective::AllReduce, column, bytes).duration;
  };
  costs.may_divide = [this, &layout](OpId op, const LetterSplit& split) {
    return parts_of(op, split) % static_cast<std::int64_t>(layout.columns) == 0;
  };
  costs.reads_its_samples = [this](OpId op) { return reads_its_samples(op); };
  known->second =
      choose_columns(*tables_.graph, region.second, static_cast<int>(layout.columns), costs);
  return known->second;
}

// Of an op of experts columns divide just these: a row's. Into so many parts a letter can be
// divided is 1 otherwise.
std::int64_t MeshLetters::parts_of(OpId op, const LetterSplit& split) {
  const auto experts = static_cast<std::int64_t>(placement_.layout(op).experts);
  if (experts == 1) return split.extent;
  return split.letter == tables_.expert_split(op)->letter ? split.extent / experts : 1;
}

// Have the ops that make what it reads its layout?
bool MeshLetters::reads_its_samples(OpId op) const {
  return std::ranges::all_of(tables_.inputs(op), [&](TensorId input) {
    const OpId producer = tables_.graph->tensor(input).producer;
    return producer.valid() && placement_.layout_id(producer) == placement_.layout_id(op);
  });
}

void MeshLetters::choose() {
  parts_.clear();
  std::map<std::vector<DeviceId>, Region> regions;  // by the mesh's devices and columns
  std::map<LayoutId, Region*> region_of;
  for (const OpId op : tables_.ops.ids()) {
    const LayoutId id = placement_.layouts().unfolded(placement_.layout_id(op));
    const Layout& layout = placement_.layout(id);
    if (!layout.is_mesh) continue;
    Region*& region = region_of[id];
    if (region == nullptr) {
      std::vector<DeviceId> mesh = devices_of(layout.shards);
      mesh.push_back(DeviceId(layout.columns));
      region = &regions.try_emplace(std::move(mesh), id, std::vector<OpId>()).first->second;
      if (layout.sharded && layout.experts == 1) region->first = id;
    }
    region->second.push_back(op);
  }
  if (regions.empty()) return;
  constexpr std::size_t kMostRegions = 256;
  if (known_.size() > kMostRegions) known_.clear();
  parts_.resize(tables_.ops.size());
  for (const auto& [mesh, region] : regions) {
    const std::vector<ColumnChoice>& choices = choices_for(region);
    for (std::size_t i = 0; i < region.second.size(); ++i)
      parts_[region.second[i]] = part_of(region.second[i], choices[i]);
  }
  share_updates();
}

}  // namespace strato
