// Buckets: gradients that the same devices all-reduce travel as one message (Horovod's tensor
// fusion, PyTorch DDP's buckets).
//
// Every gradient is taken once, in the order in which they are made, so a bucket is complete as
// soon as it can be: it depends on its gradients only, becomes ready when the last of them is
// there, and overlaps with the backward pass that goes on. Like the AllReduce of one gradient it
// works in place, on buffers that lie side by side from the start, so nothing is copied. Gradients
// that need anything else (a server, a copy of their own, another reader before the updates, just a
// slice on each device) stay as they are.
#include <algorithm>

#include "core/base/error.h"
#include "core/program/exchange/exchange.h"

namespace strato {

// Will the whole tensor be asked for by its owners, all of them, and after the backward pass only?
bool Exchange::is_fusible(TensorId tensor) {
  const Made& made = made_[tensor];
  if (made.form != Form::Partials || made.root.valid() || made.extras >= 0 || made.no_collective)
    return false;
  const auto consumers = tables_.graph->consumers(tensor);
  const bool reduce = !consumers.empty() && is_reduced_at_once(tensor, consumers.front()) &&
                      !placement_.variable(consumers.front());
  return reduce && needed_by_owners_only(tensor) && may_reduce_in_place(tensor) &&
         !is_scattered(tensor, slice_read_by(consumers.front(), tensor));
}

void Exchange::list_fusible() {
  fusible_.clear();
  for (OpId op : tables_.early)
    for (TensorId output : tables_.outputs(op))
      if (is_fusible(output)) fusible_.push_back(output);
  // A view of a gradient is made when the gradient is.
  const auto last = [&](TensorId tensor) {
    const Made& made = made_[tensor];
    return made_at(made, placement_.layout(made.layout).shards.size() - 1).task;
  };
  std::stable_sort(fusible_.begin(), fusible_.end(),
                   [&](TensorId a, TensorId b) { return last(a) < last(b); });
}

bool Exchange::same_members(TensorId a, TensorId b) const {
  const auto& of_a = placement_.layout(made_[a].layout).shards;
  const auto& of_b = placement_.layout(made_[b].layout).shards;
  return made_[a].layout == made_[b].layout ||
         std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                    [](const Shard& x, const Shard& y) { return x.device == y.device; });
}

void Exchange::fuse_gradients(Bytes limit) {
  CHECK(limit > Bytes(0), "a bucket without room");
  list_fusible();
  std::size_t open = 0;  // the first ones are in use, each with other members
  for (TensorId gradient : fusible_) {
    const Bytes bytes = tables_.tensors[gradient].bytes;
    std::size_t at = 0;
    while (at < open && !same_members(buckets_[at].gradients.front(), gradient)) ++at;
    if (at == open && ++open > buckets_.size()) buckets_.emplace_back();
    Bucket& bucket = buckets_[at];
    if (!bucket.gradients.empty() && bucket.bytes + bytes > limit) reduce(bucket);
    bucket.gradients.push_back(gradient);
    bucket.bytes += bytes;
  }
  for (std::size_t i = 0; i < open; ++i) reduce(buckets_[i]);
}

// One AllReduce for all gradients of the bucket, which is empty afterwards.
void Exchange::reduce(Bucket& bucket) {
  const TensorId first = bucket.gradients.front();
  if (bucket.gradients.size() == 1) {
    all_reduce(first);
  } else {
    const CollectiveCost& cost =
        collective_cost(Collective::AllReduce, made_[first].layout, bucket.bytes);
    Task task = communication(TaskKind::AllReduce, first);
    task.device = members_.front();
    task.bytes = bucket.bytes;
    task.duration = cost.duration;
    task.latency = std::min(cost.latency, cost.duration);
    const TaskId id = emitter_.next_task();
    for (TensorId gradient : bucket.gradients) {
      task.priority = std::min(task.priority, priority_of(gradient));
      const Made made = made_[gradient];
      for (std::size_t i = 0; i < members_.size(); ++i) {
        const Instance partial = made_at(made, i);
        emitter_.read(partial);
        remember(gradient, {partial.buffer, id, members_[i], 0, tables_.batch});
      }
    }
    emitter_.commit_collective(task, members_, cost.links);
  }
  bucket.gradients.clear();
  bucket.bytes = Bytes(0);
}

}  // namespace strato
