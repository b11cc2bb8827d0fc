#include "core/program/exchange/collectives.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {

CollectiveExchange::Collected CollectiveExchange::collective(Collective kind, TaskKind task_kind,
                                                             TensorId tensor, LayoutId layout,
                                                             Bytes bytes) {
  Collected what{tasks_.communication(task_kind, tensor),
                 tasks_.collective_cost(kind, layout, bytes), placement_.layout(layout).shards,
                 emitter_.next_task()};
  what.task.bytes = bytes;
  what.task.device = what.members.front().device;
  what.task.duration = what.cost.duration;
  what.task.latency = std::min(what.cost.latency, what.cost.duration);
  return what;
}

void CollectiveExchange::add_total(const Collected& what, TensorId tensor, std::size_t member,
                                   BufferId buffer) {
  copies_.add(tensor, {buffer, what.id, what.members[member].device, kWhole});
}

void CollectiveExchange::all_gather(TensorId tensor) {
  const Collected what = collective(Collective::AllGather, TaskKind::AllGather, tensor,
                                    copies_.made(tensor).layout, tables_.tensors[tensor].bytes);
  for (std::size_t i = 0; i < what.members.size(); ++i) emitter_.read(copies_.of_shard(tensor, i));
  for (std::size_t i = 0; i < what.members.size(); ++i)
    add_total(what, tensor, i,
              emitter_.write(tensor, what.members[i].device, what.task.bytes, kWhole));
  emitter_.commit_collective(what.task, what.members, what.cost.links);
}

void CollectiveExchange::all_reduce(TensorId tensor) {
  const bool in_place = readers_.allow_sum_in_place(tensor);
  const Collected what = collective(Collective::AllReduce, TaskKind::AllReduce, tensor,
                                    copies_.made(tensor).layout, tables_.tensors[tensor].bytes);
  for (std::size_t i = 0; i < what.members.size(); ++i) {
    const Instance partial = copies_.of_shard(tensor, i);
    emitter_.read(partial);
    add_total(what, tensor, i,
              in_place ? partial.buffer
                       : emitter_.write(tensor, what.members[i].device, what.task.bytes, kWhole));
  }
  emitter_.commit_collective(what.task, what.members, what.cost.links);
}

void CollectiveExchange::all_reduce(std::span<const TensorId> gradients, Bytes bytes) {
  const TensorId first = gradients.front();
  Collected what = collective(Collective::AllReduce, TaskKind::AllReduce, first,
                              copies_.made(first).layout, bytes);
  for (const TensorId gradient : gradients) {
    what.task.priority = std::min(what.task.priority, tasks_.priority(gradient));
    for (std::size_t i = 0; i < what.members.size(); ++i) {
      const Instance partial = copies_.of_shard(gradient, i);
      emitter_.read(partial);
      add_total(what, gradient, i, partial.buffer);
    }
  }
  emitter_.commit_collective(what.task, what.members, what.cost.links);
}

void CollectiveExchange::reduce_scatter(TensorId tensor, const SliceRead& read) {
  const Layout& readers = placement_.layout(read.layout);
  Collected what = collective(Collective::ReduceScatter, TaskKind::ReduceScatter, tensor,
                              copies_.made(tensor).layout, tables_.tensors[tensor].bytes);
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

void CollectiveExchange::all_gather_parts(TensorId parameter, std::span<const Instance> parts) {
  const LayoutId homes = copies_.owners(parameter);
  Collected what = collective(Collective::AllGather, TaskKind::AllGather, parameter, homes,
                              tables_.tensors[parameter].bytes);
  what.task.part = tasks_.axis(placement_.layout(homes).all_of(copies_.divided_axis(parameter)));
  for (const Instance& part : parts) emitter_.read(part);
  for (std::size_t i = 0; i < what.members.size(); ++i)
    add_total(what, parameter, i,
              emitter_.write(parameter, what.members[i].device, what.task.bytes, kWhole));
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
  return reduce && readers_.are_owners(tensor) && readers_.allow_sum_in_place(tensor) &&
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
  std::vector<Bucket> open;  // each has other members
  for (const TensorId gradient : fusible_gradients()) {
    const Bytes bytes = tables_.tensors[gradient].bytes;
    auto bucket = std::ranges::find_if(open, [&](const Bucket& known) {
      return have_same_devices(layout_of(known.gradients.front()), layout_of(gradient));
    });
    if (bucket == open.end()) bucket = open.insert(open.end(), Bucket());
    if (!bucket->gradients.empty() && bucket->bytes + bytes > limit) reduce(*bucket);
    bucket->gradients.push_back(gradient);
    bucket->bytes += bytes;
  }
  for (Bucket& bucket : open) reduce(bucket);
}

// One AllReduce for all gradients of the bucket, which is empty afterwards.
void CollectiveExchange::reduce(Bucket& bucket) {
  if (bucket.gradients.size() == 1)
    all_reduce(bucket.gradients.front());
  else
    all_reduce(bucket.gradients, bucket.bytes);
  bucket = {};
}

}  // namespace strato
