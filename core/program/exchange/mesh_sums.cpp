#include "core/program/exchange/mesh_sums.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/error.h"

namespace strato {

void MeshSums::settle(OpId reader, TensorId tensor, const Part& wanted) {
  if (tables_.tensors[tensor].source == Source::Parameter) return;
  const Layout& made = owners(tensor);
  Part first = part_of(owned(tensor, 0));
  if (first.sums_letter()) {
    for (std::size_t row = 0; row < made.row_count(); ++row) {
      const std::size_t shard = row * made.columns;
      if (concerns(tensor, shard, wanted) && !settled_there(tensor, shard, first.sums_samples()))
        reduce_row(reader, tensor, row);
    }
    first = first.total();
  }
  if (!first.sums_samples() || wanted.sums_samples() || settled_there(tensor, 0, false)) return;
  is_scattered(reader, tensor) ? scatter_columns(reader, tensor) : reduce_columns({&tensor, 1});
}

// Does each row need just its share of what its column adds up to, and nobody else anything?
bool MeshSums::is_scattered(OpId reader, TensorId tensor) const {
  const ColumnPart& columns = letters_.of(reader);
  if (columns.shared_axis < 0 || !is_same_mesh(reader, tensor) ||
      tables_.graph->consumers(tensor).size() != 1)
    return false;
  const std::size_t input = input_of(tables_, reader, tensor);
  return part_of(owned(tensor, 0)).summed_up() == letters_.part_read({}, reader, input, 0);
}

// Does nobody read the partial sums themselves?
bool MeshSums::allow_sum_in_place(TensorId tensor, const Part& term) const {
  const Layout& made = owners(tensor);
  for (const OpId consumer : tables_.graph->consumers(tensor))
    if (term.sums_letter() ? is_same_mesh(consumer, tensor) &&
                                 letters_.of(consumer).input(tables_, consumer, tensor) >= kSumOver
                           : placement_.layout(consumer).sharded)
      return false;
  for (std::size_t i = 0; i < made.shards.size(); ++i)
    if (!owned(tensor, i).exclusive) return false;
  return true;
}

void MeshSums::reduce_row(OpId reader, TensorId tensor, std::size_t row) {
  const Layout& made = owners(tensor);
  const Part total = part_of(owned(tensor, row * made.columns)).total();
  const PartId all = emitter_.parts().find(total);
  const Bytes bytes = tasks_.bytes_of(tensor, all);
  const int axis =
      is_same_mesh(reader, tensor) ? letters_.of(reader).input(tables_, reader, tensor) : kAllOf;
  const bool scatter = axis >= 0 && axis < kSumOver;
  const bool in_place = !scatter && allow_sum_in_place(tensor, part_of(owned(tensor, 0)));
  const Collected what =
      collective(scatter ? TaskKind::ReduceScatter : TaskKind::AllReduce, tensor,
                 {copies_.owners(tensor), MeshLine::Row, row}, bytes,
                 scatter ? emitter_.parts().find(with_axis(total, tensor, axis)) : all);
  const TaskId id = emitter_.next_task();
  for (std::size_t i = row * made.columns; i < (row + 1) * made.columns; ++i) {
    const Instance term = owned(tensor, i);
    emitter_.read(term);
    const PartId part =
        scatter ? emitter_.parts().find(made.sliced(total, i, axis, tables_.graph->tensor(tensor)))
                : all;
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
  const MeshLine kind = summing_lines(mesh);
  for (std::size_t i = 0; i < placement_.layouts().lines(mesh, kind).size(); ++i)
    reduce_line(tensors, {mesh, kind, i});
}

void MeshSums::reduce_line(std::span<const TensorId> tensors, const Line& at) {
  const std::vector<std::size_t>& shards = line(at).shards;
  const auto term_at = [&](TensorId tensor, std::size_t shard) {
    return *settled_there(tensor, shard, true);
  };
  const auto total_of = [&](const Instance& term) {
    return emitter_.parts().find(part_of(term).total());
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
      const bool in_place = term.exclusive && allow_sum_in_place(tensor, part_of(term));
      emitter_.read(term);
      const BufferId buffer =
          in_place ? term.buffer
                   : emitter_.write(tensor, term.device, tasks_.bytes_of(tensor, total), total);
      copies_.add(tensor, {buffer, id, term.device, total});
    }
  }
  commit(what);
}

void MeshSums::scatter_columns(OpId update, TensorId gradient) {
  const LayoutId mesh = copies_.owners(gradient);
  const MeshLine kind = summing_lines(mesh);
  // All of the axis that is scattered: what else the columns have slices of is in the parts.
  const PartId along =
      emitter_.parts().find(with_axis({}, gradient, letters_.of(update).shared_axis));
  for (std::size_t i = 0; i < placement_.layouts().lines(mesh, kind).size(); ++i) {
    const std::vector<std::size_t>& shards = placement_.layouts().lines(mesh, kind)[i].shards;
    const PartId total =
        emitter_.parts().find(part_of(owned(gradient, shards.front())).summed_up());
    const Collected what = collective(TaskKind::ReduceScatter, gradient, {mesh, kind, i},
                                      tasks_.bytes_of(gradient, total), along);
    const TaskId id = emitter_.next_task();
    for (const std::size_t shard : shards) {
      const Instance term = *settled_there(gradient, shard, true);
      emitter_.read(term);
      const PartId share =
          emitter_.parts().find(letters_.share_of(emitter_.program().parts[total], update, shard));
      const BufferId buffer =
          emitter_.write(gradient, term.device, tasks_.bytes_of(gradient, share), share);
      copies_.add(gradient, {buffer, id, term.device, share});
    }
    commit(what);
  }
}

bool MeshSums::is_fusible(TensorId tensor) const {
  const Copies::Made& made = copies_.made(tensor);
  if (made.form != Copies::Form::OnMesh || made.copies >= 0) return false;
  const Part part = part_of(owned(tensor, 0));
  const auto consumers = tables_.graph->consumers(tensor);
  return part.sums_samples() && !part.sums_letter() && !consumers.empty() &&
         tables_.is_late(consumers.front()) && !is_scattered(consumers.front(), tensor) &&
         is_same_mesh(consumers.front(), tensor) && allow_sum_in_place(tensor, part);
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
  std::map<LayoutId, Bucket> open;
  for (const auto& gradient : gradients) {
    const TensorId tensor = gradient.second;
    const Bytes bytes =
        tasks_.bytes_of(tensor, emitter_.parts().find(part_of(owned(tensor, 0)).total()));
    Bucket& bucket = open[copies_.owners(tensor)];
    if (!bucket.tensors.empty() && bucket.bytes + bytes > limit)
      reduce_columns(std::exchange(bucket, {}).tensors);
    bucket.tensors.push_back(tensor);
    bucket.bytes += bytes;
  }
  for (const auto& bucket : open) reduce_columns(bucket.second.tensors);
}

}  // namespace strato
