#include "core/program/place/mesh_letters.h"

#include <algorithm>

#include "core/base/at.h"
#include "core/program/place/beside_products.h"
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

std::size_t output_of(const Tables& tables, OpId op, TensorId tensor) {
  const std::span<const TensorId> outputs = tables.outputs(op);
  return static_cast<std::size_t>(std::ranges::find(outputs, tensor) - outputs.begin());
}

// `choice`: the split's number among Tables::letter_splits().
DividedLetter MeshLetters::divided(OpId op, const LetterSplit* split, ColumnChoice choice) const {
  if (split == nullptr) return {};
  return {split, choice, axes_read(op, *split)};
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
  const DividedOp& part = parts_[update];
  const TensorId parameter = tables_.inputs(update).front();
  if (tables_.tensors[parameter].bytes < placement_.decision(update).roles.states.smallest)
    return kAllOf;
  const auto rows = static_cast<std::int64_t>(mesh.sharers);
  const auto is_free = [&](int axis) {
    return part.columns.input(0) != axis && part.experts.input(0) != axis;
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
  const std::size_t input = input_of(tables_, op, tensor);
  return {parts_[op].columns.input(input), parts_[op].experts.input(input)};
}

// Is it once a step, and on the mesh of the update, that the op casts what columns and experts
// there have the same of?
bool MeshLetters::casts_beside(OpId op, OpId update, Axes cast, Axes read) const {
  const std::string& type = tables_.graph->op(op).type;
  return (type == "Cast" || type == "CastGrad") && !tables_.is_repeated(op) &&
         !placement_.layout(op).sharded &&
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
      DividedOp& cast = parts_[maker];
      if (casts_beside(maker, update, {cast.columns.output(0), cast.experts.output(0)},
                       axes_of_input(update, input))) {
        cast.shared_axis = axis;
        cast.context = {};  // it has its share of what rows add up
      }
    }
  }
}

std::int64_t MeshLetters::part_count(OpId op) const {
  const Layout& layout = placement_.layout(op);
  const DividedOp& divided = parts_[op];
  return static_cast<std::int64_t>((divided.columns ? layout.column_parts : 1) *
                                   (divided.context ? layout.context_parts : 1) *
                                   (divided.experts ? layout.experts : 1));
}

Part MeshLetters::share_of(const Part& of_column, OpId op, std::size_t shard) const {
  const int axis = of(op).shared_axis;
  if (axis < 0) return of_column;
  const Layouts& layouts = placement_.layouts();
  const Layout& mesh = layouts[layouts.unfolded(placement_.layout_id(op))];
  const std::int64_t extent =
      tables_.graph->tensor(tables_.inputs(op).front()).shape[static_cast<std::size_t>(axis)];
  const auto cut = [&](std::size_t share) {
    return static_cast<std::int32_t>(mesh.share_begin(extent, share));
  };
  const DeviceId device = placement_.layout(op).shards[shard].device;
  const std::size_t share = mesh.share(at(mesh.position(device)));
  return of_column.cut({static_cast<std::int8_t>(axis), cut(share), cut(share + 1)});
}

Part MeshLetters::part_read(const Part& samples, OpId op, std::size_t input, std::size_t shard,
                            UpTo up_to) const {
  const DividedOp& divided = of(op);
  const Layout& layout = placement_.layout(op);
  const TensorId tensor = tables_.inputs(op)[input];
  const auto extent_of = [&](int axis) { return extent(tensor, axis); };
  Part part = samples;
  if (const int axis = divided.context.input(input); axis >= 0)
    part = layout.context_part(part, shard, axis, extent_of(axis));
  if (up_to == UpTo::Context) return part;
  if (const int axis = divided.columns.input(input); axis >= 0)
    part = layout.column_part(part, shard, axis, extent_of(axis));
  if (up_to == UpTo::Columns) return part;
  if (const int axis = divided.experts.input(input); axis >= 0)
    part = layout.expert_part(part, shard, axis, extent_of(axis));
  return part;
}

Part MeshLetters::part_made(const Part& samples, OpId op, std::size_t output, std::size_t shard,
                            UpTo up_to) const {
  const DividedOp& divided = of(op);
  const Layout& layout = placement_.layout(op);
  const TensorId tensor = tables_.outputs(op)[output];
  const auto cut = [&](const Part& part, const DividedLetter& along, auto divide) {
    const int axis = along.output(output);
    if (axis == kAllOf) return part;
    if (axis == kSummed)
      return (layout.*divide)(part, shard, kSummedAxis + along.ordinal, along.split->extent);
    return (layout.*divide)(part, shard, axis, extent(tensor, axis));
  };
  Part part = cut(samples, divided.context, &Layout::context_part);
  if (up_to == UpTo::Context) return part;
  part = cut(part, divided.columns, &Layout::column_part);
  return up_to == UpTo::Columns ? part : cut(part, divided.experts, &Layout::expert_part);
}

Part MeshLetters::kept(OpId update, TensorId parameter, std::size_t shard) const {
  const std::size_t input = input_of(tables_, update, parameter);
  return share_of(part_read({}, update, input, shard), update, shard);
}

// Costs are those of the first row, or of the first rows that have positions among them.
const std::vector<ColumnChoice>& MeshLetters::choices_for(const Region& region, UpTo dimension) {
  const Layout& layout = placement_.layout(region.first);  // unfolded
  const bool in_context = dimension == UpTo::Context;
  const std::size_t apart = in_context ? layout.columns : 1;
  const std::size_t count = in_context ? layout.context : layout.columns;
  std::vector<DeviceId> members;
  for (std::size_t i = 0; i < count; ++i) members.push_back(layout.shards[i * apart].device);
  Hasher hasher;
  hasher.number(layout.columns).number(layout.context).number(in_context);
  hasher.number(layout.shards.front().end - layout.shards.front().begin);
  const MeshRoles& roles = placement_.decision(region.second.front()).roles;
  hasher.number(roles.pieces).number(roles.sequence);
  for (const Shard& shard : layout.shards) hasher.number(shard.device.value());
  for (const OpId op : region.second) {
    hasher.number(op.value()).number(placement_.layout(op).experts);
    if (tables_.graph->op(op).type == "AddN") hasher.number(reads_its_samples(op));
  }
  const auto [known, fresh] = known_.try_emplace(hasher.finish());
  if (!fresh) return known->second;
  known->second = choose_columns(*tables_.graph, region.second, static_cast<int>(count),
                                 costs_of(layout, dimension, members, roles));
  return known->second;
}

// Of what outer dimensions leave, which are chosen already. Sums over positions travel with those
// over samples, for nothing. Of what columns gather for products, or scatter of what they made, in
// pieces the first one is waited for. Without sequence parallelism nothing is gained by scattering.
ColumnCosts MeshLetters::costs_of(const Layout& layout, UpTo dimension,
                                  std::span<const DeviceId> members, const MeshRoles& roles) {
  const bool in_context = dimension == UpTo::Context;
  const std::int32_t samples = layout.shards.front().end - layout.shards.front().begin;
  const auto context = static_cast<std::int64_t>(layout.context);
  const auto time_of = [&](Collective kind, std::int64_t in_pieces = 1) {
    return [this, members, samples, context, in_context, kind, in_pieces](TensorId tensor) {
      const TensorFacts& facts = tables_.tensors[tensor];
      if (in_context && kind == Collective::AllReduce && facts.kind == BatchKind::Partial)
        return Nanos(0);
      Bytes bytes = slice_bytes(facts, 0, samples, tables_.batch);
      if (facts.source == Source::Produced &&
          parts_[facts.op].context.output(output_of(tables_, facts.op, tensor)) >= 0)
        bytes = bytes / context;
      const Nanos all = tables_.cost->collective(kind, members, bytes).duration;
      const bool hides = in_pieces > 1 &&
                         !(kind == Collective::AllGather ? products_reading(*tables_.graph, tensor)
                                                         : products_making(*tables_.graph, tensor))
                              .empty();
      return hides ? all / in_pieces : all;
    };
  };
  ColumnCosts costs;
  costs.compute = [this, &layout, context](OpId op) {
    const Nanos all = tables_.op_time(layout.shards.front().costs, op);
    return parts_[op].context ? all / context : all;
  };
  costs.all_reduce = time_of(Collective::AllReduce);
  costs.all_gather = time_of(Collective::AllGather, in_context ? 1 : roles.pieces);
  costs.reduce_scatter = in_context || roles.sequence
                             ? time_of(Collective::ReduceScatter, in_context ? 1 : roles.pieces)
                             : costs.all_reduce;
  costs.all_to_all =
      time_of(Collective::AllGather);  // slices are exchanged by transfers: no cheaper than that
  costs.reads_its_samples = [this](OpId op) { return reads_its_samples(op); };
  if (in_context) {
    costs.may_divide = [this, context](OpId op, const LetterSplit& split) {
      return split.extent % context == 0 &&
             may_share_positions(tables_.graph->op(op), split, tables_.weights());
    };
    return costs;
  }
  // A gradient of all of a parameter takes the rows longer than that of a part, and the update each
  // column. To start them takes as long for a part.
  std::vector<DeviceId> column;
  for (std::size_t i = 0; i < layout.shards.size(); i += layout.columns)
    column.push_back(layout.shards[i].device);
  costs.whole_parameter = [this, &layout, column](TensorId tensor) {
    const Bytes whole = tables_.tensors[tensor].bytes;
    const auto time_of_rows = [&](Bytes bytes) {
      const Nanos update =
          tables_.cost->local_move(tables_.cluster->device(column.front()).type, bytes * 2);
      return column.size() < 2
                 ? update
                 : update + tables_.cost->collective(Collective::AllReduce, column, bytes).duration;
    };
    return time_of_rows(whole) - time_of_rows(whole / static_cast<std::int64_t>(layout.columns));
  };
  costs.may_divide = [this, &layout](OpId op, const LetterSplit& split) {
    return parts_of(op, split) % static_cast<std::int64_t>(layout.columns) == 0 &&
           !sums_otherwise(op, split);
  };
  return costs;
}

// What casts a gradient that rows with other positions have sums of, too, casts each row's: they
// are summed up once, with those over samples. `ops`: ascending, producers come first.
void MeshLetters::cast_sums(std::span<const OpId> ops) {
  for (const OpId op : ops) {
    const Op& of = tables_.graph->op(op);
    if (of.type != "CastGrad") continue;
    const OpId maker = tables_.graph->tensor(of.inputs.front()).producer;
    if (!maker.valid() || placement_.layout_id(maker) != placement_.layout_id(op)) continue;
    const DividedLetter& made = parts_[maker].context;
    if (made.output(output_of(tables_, maker, of.inputs.front())) != kSummed) continue;
    const std::vector<LetterSplit>& splits = tables_.letter_splits(op);
    const auto split = std::ranges::find_if(splits, [&](const LetterSplit& each) {
      return each.inputs.front() == kSumOver + made.ordinal;
    });
    if (split != splits.end())
      parts_[op].context = divided(op, &*split, static_cast<ColumnChoice>(split - splits.begin()));
  }
}

// Do rows sum over another letter than columns would?
bool MeshLetters::sums_otherwise(OpId op, const LetterSplit& split) const {
  const DividedLetter& context = parts_[op].context;
  if (!context || context.split->letter == split.letter) return false;
  const auto sums = [](const LetterSplit& each) {
    return std::ranges::find(each.outputs, kSummed) != each.outputs.end() ||
           std::ranges::any_of(each.inputs, [](int axis) { return axis >= kSumOver; });
  };
  return sums(*context.split) && sums(split);
}

// Of an op of experts columns divide just these: a row's. Into so many parts a letter can be
// divided is 1 otherwise.
std::int64_t MeshLetters::parts_of(OpId op, const LetterSplit& split) {
  const auto experts = static_cast<std::int64_t>(placement_.layout(op).experts);
  const DividedLetter& context = parts_[op].context;
  if (experts == 1 && context && context.split->letter == split.letter)
    return split.extent / static_cast<std::int64_t>(placement_.layout(op).context_parts);
  if (experts == 1) return split.extent;
  return split.letter == tables_.expert_split(op)->letter ? split.extent / experts : 1;
}

// Have the ops that make what it reads its layout, and are their rows' positions its own?
bool MeshLetters::reads_its_samples(OpId op) const {
  return std::ranges::all_of(tables_.inputs(op), [&](TensorId input) {
    const OpId producer = tables_.graph->tensor(input).producer;
    if (!producer.valid() || placement_.layout_id(producer) != placement_.layout_id(op))
      return false;
    return parts_[producer].context.output(output_of(tables_, producer, input)) ==
           parts_[op].context.input(input_of(tables_, op, input));
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
      mesh.push_back(DeviceId(layout.context));
      region = &regions.try_emplace(std::move(mesh), id, std::vector<OpId>()).first->second;
      if (layout.sharded && layout.experts == 1) region->first = id;
    }
    region->second.push_back(op);
  }
  if (regions.empty()) return;
  constexpr std::size_t kMostRegions = 256;
  if (known_.size() > kMostRegions) known_.clear();
  parts_.resize(tables_.ops.size());
  const auto chosen = [&](OpId op, ColumnChoice choice) {
    const LetterSplit* split =
        choice < 0 ? nullptr : &tables_.letter_splits(op)[static_cast<std::size_t>(choice)];
    return divided(op, split, choice);
  };
  for (const auto& [mesh, region] : regions) {
    const std::vector<OpId>& ops = region.second;
    if (placement_.layout(region.first).context > 1) {
      const std::vector<ColumnChoice>& choices = choices_for(region, UpTo::Context);
      for (std::size_t i = 0; i < ops.size(); ++i)
        parts_[ops[i]].context = chosen(ops[i], choices[i]);
      cast_sums(ops);
    }
    const std::vector<ColumnChoice>& choices = choices_for(region, UpTo::Columns);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      parts_[ops[i]].columns = chosen(ops[i], choices[i]);
      if (placement_.layout(ops[i]).experts > 1)
        parts_[ops[i]].experts = divided(ops[i], tables_.expert_split(ops[i]), 0);
    }
  }
  share_updates();
}

}  // namespace strato
