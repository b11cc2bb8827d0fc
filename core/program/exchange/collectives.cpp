#include "core/program/exchange/collectives.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace strato {

CollectiveExchange::Collected CollectiveExchange::collective(TaskKind kind, TensorId tensor,
                                                             Bytes bytes) {
  const LayoutId owners = copies_.owners(tensor);
  Collected what{tasks_.communication(kind, tensor), tasks_.collective_cost(kind, owners, bytes),
                 placement_.layout(owners).shards, emitter_.next_task()};
  what.task.bytes = bytes;
  what.task.device = what.members.front().device;
  what.task.duration = what.cost.duration;
  what.task.latency = std::min(what.cost.latency, what.cost.duration);
  return what;
}

void CollectiveExchange::all_gather(TensorId tensor, std::span<const Instance> held) {
  const Layout& owners = placement_.layout(copies_.owners(tensor));
  const PartId all = tasks_.all_of(tensor);
  Collected what = collective(TaskKind::AllGather, tensor, tasks_.bytes_of(tensor, all));
  what.task.part = all;
  if (owners.is_split()) what.task.part = tasks_.axis(owners.all_of(copies_.divided_axis(tensor)));
  for (const Instance& instance : held) emitter_.read(instance);
  for (const Shard& member : what.members)
    copies_.add(tensor, {emitter_.write(tensor, member.device, what.task.bytes, all), what.id,
                         member.device, all});
  emitter_.commit_collective(what.task, what.members, what.cost.links);
}

bool CollectiveExchange::allow_sum_in_place(TensorId tensor) const {
  for (OpId consumer : tables_.graph->consumers(tensor))
    if (placement_.layout(consumer).sharded) return false;
  const std::size_t shards = placement_.layout(copies_.made(tensor).layout).shards.size();
  for (std::size_t i = 0; i < shards; ++i)
    if (!copies_.of_shard(tensor, i).exclusive) return false;
  return true;
}

void CollectiveExchange::all_reduce(std::span<const TensorId> gradients) {
  Bytes all;
  for (const TensorId gradient : gradients) all += tables_.tensors[gradient].bytes;
  Collected what = collective(TaskKind::AllReduce, gradients.front(), all);
  for (const TensorId gradient : gradients) {
    what.task.priority = std::min(what.task.priority, tasks_.priority(gradient));
    const Bytes bytes = tables_.tensors[gradient].bytes;
    const bool in_place = allow_sum_in_place(gradient);
    for (std::size_t i = 0; i < what.members.size(); ++i) {
      const Instance partial = copies_.of_shard(gradient, i);
      const DeviceId member = what.members[i].device;
      emitter_.read(partial);
      const BufferId total =
          in_place ? partial.buffer : emitter_.write(gradient, member, bytes, kWhole);
      copies_.add(gradient, {total, what.id, member, kWhole});
    }
  }
  emitter_.commit_collective(what.task, what.members, what.cost.links);
}

void CollectiveExchange::reduce_scatter(TensorId tensor, const SliceRead& read) {
  const Layout& readers = placement_.layout(read.layout);
  Collected what = collective(TaskKind::ReduceScatter, tensor, tables_.tensors[tensor].bytes);
  what.task.part = tasks_.axis(readers.all_of(read.axis));
  for (std::size_t i = 0; i < what.members.size(); ++i) {
    emitter_.read(copies_.of_shard(tensor, i));
    const AxisRange range = readers.range(i, read.axis);
    const DeviceId member = what.members[i].device;
    const PartId part = tasks_.part(tensor, range);
    const BufferId sum = emitter_.write(tensor, member, tasks_.bytes_of(tensor, part), part);
    copies_.add(tensor, {sum, what.id, member, part});
  }
  emitter_.commit_collective(what.task, what.members, what.cost.links);
}

// ---- buckets

// Will the whole tensor be asked for by its owners, all of them, and after the backward pass only?
bool CollectiveExchange::is_fusible(TensorId tensor) {
  const Copies::Made& made = copies_.made(tensor);
  if (made.form != Copies::Form::Partials || made.root.valid() || made.copies >= 0 ||
      made.no_collective)
    return false;
  const auto consumers = tables_.graph->consumers(tensor);
  const bool reduce = !consumers.empty() && readers_.reduce_at_once(tensor, consumers.front()) &&
                      !placement_.variables().find(consumers.front());
  return reduce && readers_.are_owners(tensor) && allow_sum_in_place(tensor) &&
         !readers_.are_scattered(tensor, readers_.slices_read_by(consumers.front(), tensor));
}

std::vector<TensorId> CollectiveExchange::fusible_gradients() {
  std::vector<TensorId> gradients;
  for (OpId op : tables_.early)
    for (TensorId output : tables_.outputs(op))
      if (is_fusible(output)) gradients.push_back(output);
  // A view of a gradient is made when the gradient is.
  const auto last = [&](TensorId tensor) {
    const std::size_t shards = placement_.layout(copies_.made(tensor).layout).shards.size();
    return copies_.of_shard(tensor, shards - 1).task;
  };
  std::ranges::stable_sort(gradients, {}, last);
  return gradients;
}

void CollectiveExchange::fuse(Bytes limit) {
  CHECK(limit > Bytes(0), "a bucket without room");
  const auto layout_of = [&](TensorId gradient) -> const Layout& {
    return placement_.layout(copies_.made(gradient).layout);
  };
  struct Bucket {
    std::vector<TensorId> gradients;
    Bytes bytes;
  };
  std::vector<Bucket> open;  // each has other members
  for (const TensorId gradient : fusible_gradients()) {
    const Bytes bytes = tables_.tensors[gradient].bytes;
    auto bucket = std::ranges::find_if(open, [&](const Bucket& known) {
      return have_same_devices(layout_of(known.gradients.front()), layout_of(gradient));
    });
    if (bucket == open.end()) bucket = open.insert(open.end(), Bucket());
    if (!bucket->gradients.empty() && bucket->bytes + bytes > limit)
      all_reduce(std::exchange(*bucket, {}).gradients);
    bucket->gradients.push_back(gradient);
    bucket->bytes += bytes;
  }
  for (const Bucket& bucket : open) all_reduce(bucket.gradients);
}

}  // namespace strato
