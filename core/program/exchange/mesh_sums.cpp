#include "core/program/exchange/mesh_sums.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"

namespace strato {

void MeshSums::settle(OpId reader, TensorId tensor, const Part& wanted) {
  if (tables_.tensors[tensor].source == Source::Parameter) return;
  reduce_rows(reader, tensor, wanted);
  const Part made = part_of(owned(tensor, 0));
  const DueSums due = due_for(wanted);
  const bool positions = due.positions && sums_over(UpTo::Context, tensor);
  const bool samples = due.samples && made.sums_samples();
  if (!positions && !samples) return;
  if (sharing_reader(tensor) == reader) {
    if (summed_there(tensor, 0, {true, true})) return;
    if (made.summed_up() != share_of(reader, tensor, 0)) scatter(reader, tensor);
    return sum_up_shares(reader, tensor);
  }
  if (!samples) return reduce_context(reader, tensor, wanted);
  if (!summed_there(tensor, 0, {positions, true})) reduce_columns({&tensor, 1});
}

void MeshSums::reduce_rows(OpId reader, TensorId tensor, const Part& wanted) {
  if (!sums_over(UpTo::Columns, tensor)) return;
  const Layout& made = owners(tensor);
  for (std::size_t row = 0; row < made.row_count(); ++row) {
    const std::size_t shard = row * made.columns;
    if (concerns(tensor, shard, wanted) && !term_there(tensor, shard))
      reduce_among({copies_.owners(tensor), MeshLine::Row, row}, reader, tensor);
  }
}

// In each of the lines that are concerned.
void MeshSums::reduce_context(OpId reader, TensorId tensor, const Part& wanted) {
  const LayoutId mesh = copies_.owners(tensor);
  const std::vector<LineOfMesh>& lines = placement_.layouts().lines(mesh, MeshLine::Context);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (const std::size_t shard = lines[i].shards.front();
        concerns(tensor, shard, wanted) && !summed_there(tensor, shard, {true, false}))
      reduce_among({mesh, MeshLine::Context, i}, reader, tensor);
}

// The update of which each row needs just its share of what its column adds up to, and which alone
// reads it; invalid: there is none.
OpId MeshSums::sharing_reader(TensorId gradient) const {
  const std::span<const OpId> consumers = tables_.graph->consumers(gradient);
  if (consumers.size() != 1) return {};
  const OpId reader = consumers.front();
  if (letters_.of(reader).shared_axis < 0 || !is_same_mesh(reader, gradient) ||
      owners(gradient).experts != placement_.layout(reader).experts ||
      summing_lines(gradient) == MeshLine::SamePlace)
    return {};
  const Part made = part_of(owned(gradient, 0)).summed_up();
  const std::size_t input = input_of(tables_, reader, gradient);
  const bool is_all = made == letters_.part_read({}, reader, input, 0);
  return is_all || made == share_of(reader, gradient, 0) ? reader : OpId();
}

Part MeshSums::share_of(OpId update, TensorId gradient, std::size_t shard) const {
  const std::size_t input = input_of(tables_, update, gradient);
  return letters_.share_of(letters_.part_read({}, update, input, shard), update, shard);
}

// Does nobody read the partial sums themselves? Nor is just some of a letter summed up: that needs
// a place of its own, which says so.
bool MeshSums::allow_sum_in_place(TensorId tensor, UpTo dimension, bool of_samples) const {
  const bool of_letter = sums_over(dimension, tensor);
  if (dimension == UpTo::Columns && sums_over(UpTo::Context, tensor)) return false;
  for (const OpId consumer : tables_.graph->consumers(tensor)) {
    if (of_letter && is_same_mesh(consumer, tensor) &&
        read_along(consumer, tensor, dimension) >= kSumOver)
      return false;
    if (of_samples && placement_.layout(consumer).sharded) return false;
  }
  const Layout& made = owners(tensor);
  for (std::size_t i = 0; i < made.shards.size(); ++i)
    if (!owned(tensor, i).exclusive) return false;
  return true;
}

// The axis along which the dimension divides what the op reads of the tensor.
int MeshSums::read_along(OpId op, TensorId tensor, UpTo dimension) const {
  const DividedOp& divided = letters_.of(op);
  return (dimension == UpTo::Context ? divided.context : divided.columns)
      .input(input_of(tables_, op, tensor));
}

// Is what a member would get of the total along the axis what the reader needs there? Not so where
// rows divide the axis for columns, and the total is of all rows.
bool MeshSums::gives_slices(const Line& at, OpId reader, TensorId tensor, const Part& total,
                            int axis) const {
  const std::size_t input = input_of(tables_, reader, tensor);
  return std::ranges::all_of(line(at).shards, [&](std::size_t shard) {
    const auto slice = part_in_line(at, tensor, total, shard, axis);
    const Part needed = letters_.part_read({}, reader, input, shard);
    return slice && slice->along(axis)->contains(*needed.along(axis));
  });
}

// Of a row, or of rows that have positions together. Where the reader needs slices along an axis,
// each member gets its own.
void MeshSums::reduce_among(const Line& at, OpId reader, TensorId tensor) {
  const UpTo dimension = at.kind == MeshLine::Row ? UpTo::Columns : UpTo::Context;
  const std::vector<std::size_t>& members = line(at).shards;
  const auto term_of = [&](std::size_t shard) {
    return dimension == UpTo::Columns ? owned(tensor, shard) : *term_there(tensor, shard);
  };
  const auto total_of = [&](std::size_t shard) {
    const Part term = part_of(term_of(shard));
    return dimension == UpTo::Columns ? with_columns_summed(term, tensor, shard) : term.total();
  };
  const Part total = total_of(members.front());
  const PartId all = emitter_.parts().find(total);
  const Bytes bytes = tasks_.bytes_of(tensor, all);
  const int axis = is_same_mesh(reader, tensor) ? read_along(reader, tensor, dimension) : kAllOf;
  const bool scatter =
      axis >= 0 && axis < kSumOver && gives_slices(at, reader, tensor, total, axis);
  const bool in_place = !scatter && allow_sum_in_place(tensor, dimension, false);
  Collected what =
      collective(scatter ? TaskKind::ReduceScatter : TaskKind::AllReduce, tensor, at, bytes,
                 scatter ? emitter_.parts().find(with_axis(total, tensor, axis)) : all);
  if (scatter && at.kind == MeshLine::Row) pieces_.hide_scattering(what, tensor, members.front());
  const TaskId id = emitter_.next_task();
  for (const std::size_t i : members) {
    const Instance term = term_of(i);
    emitter_.read(term);
    const PartId part =
        scatter ? emitter_.parts().find(*part_in_line(at, tensor, total, i, axis)) : all;
    const BufferId buffer =
        in_place ? term.buffer
                 : emitter_.write(tensor, term.device, tasks_.bytes_of(tensor, part), part);
    Instance sum{buffer, id, term.device, part};
    sum.exclusive = !in_place || term.exclusive;
    copies_.add(tensor, sum);
  }
  commit(what);
}

// Each line for itself. Tensors are of one layout; a bucket's are summed up in place.
void MeshSums::reduce_columns(std::span<const TensorId> tensors) {
  const LayoutId mesh = copies_.owners(tensors.front());
  const MeshLine kind = summing_lines(tensors.front());
  for (std::size_t i = 0; i < placement_.layouts().lines(mesh, kind).size(); ++i)
    reduce_line(tensors, {mesh, kind, i});
}

void MeshSums::reduce_line(std::span<const TensorId> tensors, const Line& at) {
  const std::vector<std::size_t>& shards = line(at).shards;
  const auto term_at = [&](TensorId tensor, std::size_t shard) {
    return *term_there(tensor, shard);
  };
  const auto total_of = [&](const Instance& term) {
    return emitter_.parts().find(part_of(term).summed_up());
  };
  Bytes bytes;
  for (const TensorId tensor : tensors)
    bytes += tasks_.bytes_of(tensor, total_of(term_at(tensor, shards.front())));
  const PartId part =
      tensors.size() == 1 ? total_of(term_at(tensors.front(), shards.front())) : kWhole;
  Collected what = collective(TaskKind::AllReduce, tensors.front(), at, bytes, part);
  const TaskId id = emitter_.next_task();
  for (const TensorId tensor : tensors) {
    what.task.priority = std::min(what.task.priority, tasks_.priority(tensor));
    for (const std::size_t shard : shards) {
      const Instance term = term_at(tensor, shard);
      const PartId total = total_of(term);
      const bool in_place =
          term.exclusive && allow_sum_in_place(tensor, UpTo::Context, part_of(term).sums_samples());
      emitter_.read(term);
      const BufferId buffer =
          in_place ? term.buffer
                   : emitter_.write(tensor, term.device, tasks_.bytes_of(tensor, total), total);
      copies_.add(tensor, {buffer, id, term.device, total});
    }
  }
  commit(what);
}

// What the terms of these shards add up to, which are all of those that share states: of all
// samples, or of theirs; within a micro-batch, of those that it has.
Part MeshSums::sum_of(OpId update, TensorId gradient, const std::vector<std::size_t>& shards) {
  const Part term = part_of(*term_there(gradient, shards.front()));
  const Layouts& layouts = placement_.layouts();
  const Layout& made = layouts[layouts.unfolded(copies_.owners(gradient))];
  const DeviceId device = owners(gradient).shards[shards.front()].device;
  const Layout& homes = layouts[layouts.unfolded(placement_.layout_id(update))];
  const std::size_t together = homes.columns * homes.experts * homes.sharers;
  const std::size_t first = at(made.position(device)) / together * together;
  const std::int32_t begin = made.shards[first].begin, end = made.shards[first + together - 1].end;
  const bool in_micro_batch = layouts.now().micro >= 0;
  const bool of_all = !in_micro_batch && end - begin == tables_.micro_batch;
  if (of_all || !term.sums_samples()) return term.summed_up();
  const std::int32_t before = in_micro_batch ? layouts.now().range.begin : 0;
  const Part of_letter = term.sums_letter() ? term.total() : term;
  return of_letter.cut({kBatchAxis, before + begin, before + end});
}

void MeshSums::scatter(OpId update, TensorId gradient) {
  const LayoutId mesh = placement_.layout_id(update);
  // All of the axis that is scattered: what else the columns have slices of is in the parts.
  const PartId along =
      emitter_.parts().find(with_axis({}, gradient, letters_.of(update).shared_axis));
  for (std::size_t i = 0; i < placement_.layouts().lines(mesh, MeshLine::Sharers).size(); ++i) {
    const Line at{mesh, MeshLine::Sharers, i};
    const Part sum = sum_of(update, gradient, line(at).shards);
    const Bytes bytes = tasks_.bytes_of(gradient, emitter_.parts().find(sum));
    const Collected what = collective(TaskKind::ReduceScatter, gradient, at, bytes, along);
    const TaskId id = emitter_.next_task();
    for (const std::size_t shard : line(at).shards) {
      const Instance term = *term_there(gradient, shard);
      emitter_.read(term);
      const PartId share = emitter_.parts().find(letters_.share_of(sum, update, shard));
      const BufferId buffer =
          emitter_.write(gradient, term.device, tasks_.bytes_of(gradient, share), share);
      copies_.add(gradient, {buffer, id, term.device, share});
    }
    commit(what);
  }
}

// Among the rows that have the same share, where there are several; in place.
void MeshSums::sum_up_shares(OpId update, TensorId gradient) {
  const LayoutId mesh = placement_.layout_id(update);
  for (std::size_t i = 0; i < placement_.layouts().lines(mesh, MeshLine::SameShare).size(); ++i) {
    const Line at{mesh, MeshLine::SameShare, i};
    const PartId total = emitter_.parts().find(share_of(update, gradient, line(at).shards.front()));
    const Collected what =
        collective(TaskKind::AllReduce, gradient, at, tasks_.bytes_of(gradient, total), total);
    const TaskId id = emitter_.next_task();
    for (const std::size_t shard : line(at).shards) {
      const Instance term = scattered(gradient, shard);
      emitter_.read(term);
      copies_.add(gradient, {term.buffer, id, term.device, total});
    }
    commit(what);
  }
}

Instance MeshSums::scattered(TensorId gradient, std::size_t shard) {
  const Part share = share_of(sharing_reader(gradient), gradient, shard);
  const Instance* found = copies_.first_there(gradient, owners(gradient).shards[shard].device,
                                              [&](const Instance& here) {
                                                const Part part = part_of(here);
                                                return part.sums_samples() && part.total() == share;
                                              });
  CHECK(found, "a share of a gradient that was not scattered");
  return *found;
}

bool MeshSums::scatter_of_micro_batch(TensorId gradient) {
  if (!has(gradient)) return false;
  const OpId update = sharing_reader(gradient);
  if (!update.valid() || placement_.decision(update).roles.states.stage < 2) return false;
  if (!owners(gradient).sharded && !sums_over(UpTo::Context, gradient))
    return false;  // each row has all of the micro-batch's
  reduce_rows(update, gradient, {});
  scatter(update, gradient);
  return true;
}

bool MeshSums::is_fusible(TensorId tensor) const {
  const Copies::Made& made = copies_.made(tensor);
  if (made.form != Copies::Form::OnMesh || made.copies >= 0) return false;
  const Part part = part_of(owned(tensor, 0));
  const auto consumers = tables_.graph->consumers(tensor);
  return (part.sums_samples() || sums_over(UpTo::Context, tensor)) &&
         !sums_over(UpTo::Columns, tensor) && !consumers.empty() &&
         tables_.is_late(consumers.front()) && !sharing_reader(tensor).valid() &&
         is_same_mesh(consumers.front(), tensor) &&
         allow_sum_in_place(tensor, UpTo::Context, part.sums_samples());
}

void MeshSums::fuse(Bytes limit) {
  CHECK(limit > Bytes(0), "a bucket without room");
  std::vector<std::pair<TaskId, TensorId>> gradients;  // by the last task that makes it
  for (const OpId op : tables_.early)
    for (const TensorId output : tables_.outputs(op))
      if (is_fusible(output))
        gradients.emplace_back(owned(output, owners(output).shards.size() - 1).task, output);
  std::ranges::stable_sort(gradients, {}, &std::pair<TaskId, TensorId>::first);
  struct Bucket {
    std::vector<TensorId> tensors;
    Bytes bytes;
  };
  std::map<std::pair<LayoutId, MeshLine>, Bucket> open;
  for (const auto& gradient : gradients) {
    const TensorId tensor = gradient.second;
    const Bytes bytes =
        tasks_.bytes_of(tensor, emitter_.parts().find(part_of(owned(tensor, 0)).summed_up()));
    Bucket& bucket = open[{copies_.owners(tensor), summing_lines(tensor)}];
    if (!bucket.tensors.empty() && bucket.bytes + bytes > limit)
      reduce_columns(std::exchange(bucket, {}).tensors);
    bucket.tensors.push_back(tensor);
    bucket.bytes += bytes;
  }
  for (const auto& bucket : open) reduce_columns(bucket.second.tensors);
}

}  // namespace strato
