#include "core/program/exchange/gradient_fusion.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {

// Will the whole tensor be asked for by its owners, all of them, and after the backward pass only?
bool GradientFusion::is_fusible(TensorId tensor) {
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

std::vector<TensorId> GradientFusion::fusible_gradients() {
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

void GradientFusion::fuse(Bytes limit) {
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
void GradientFusion::reduce(Bucket& bucket) {
  if (bucket.gradients.size() == 1)
    collectives_.all_reduce(bucket.gradients.front());
  else
    collectives_.all_reduce(bucket.gradients, bucket.bytes);
  bucket = {};
}

}  // namespace strato
