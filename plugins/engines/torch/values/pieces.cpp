#include "plugins/engines/torch/values/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "plugins/engines/torch/values/extents.h"

namespace strato::torch_engine {
namespace {

bool is_batched(const Tensor& tensor) { return tensor.batch.kind == BatchKind::Batched; }

AxisRange samples_of(const Part& part, std::int64_t batch) {
  if (part.is_samples()) return part.first();
  return {kBatchAxis, 0, static_cast<std::int32_t>(batch)};
}

AxisRange slice_of(const Tensor& tensor, const Part& part, int axis) {
  if (const AxisRange* range = part.along(axis)) return *range;
  return {static_cast<std::int8_t>(axis), 0,
          static_cast<std::int32_t>(tensor.shape[static_cast<std::size_t>(axis)])};
}

// [outer, runs, samples, rest]: the third axis counts samples.
at::Tensor by_samples(const at::Tensor& value, const Tensor& tensor, std::int64_t samples) {
  const auto axis = static_cast<std::size_t>(tensor.batch.axis);
  const std::int64_t outer = extent_product(tensor.shape, 0, axis);
  const std::int64_t runs = tensor.batch.blocks;
  const std::int64_t all = outer * runs * std::max<std::int64_t>(samples, 1);
  return value.reshape({outer, runs, samples, all == 0 ? 0 : value.numel() / all});
}

}  // namespace

bool holds(const Tensor& tensor, const Part& outer, const Part& inner, std::int64_t batch) {
  if (outer == inner || outer.is_whole()) return true;
  if (outer.is_slice()) {
    return inner.is_slice() && std::ranges::all_of(outer.cuts(), [&](const AxisRange& range) {
             return range.contains(slice_of(tensor, inner, range.axis));
           });
  }
  if (!outer.is_samples() || inner.is_slice()) return false;
  return outer.first().contains(samples_of(inner, batch));
}

at::Tensor cut(const at::Tensor& value, const Tensor& tensor, const Part& from, const Part& to,
               std::int64_t batch) {
  if (from == to) return value;
  if (!to.cuts().empty()) {
    at::Tensor part = value;
    for (const AxisRange& range : to.cuts()) {
      const AxisRange have = slice_of(tensor, from, range.axis);
      part = part.narrow(range.axis, range.begin - have.begin, range.size());
    }
    return part;
  }
  if (!to.is_samples() || !is_batched(tensor)) return value;
  const AxisRange have = samples_of(from, batch), want = to.first();
  const at::Tensor part =
      by_samples(value, tensor, have.size()).narrow(2, want.begin - have.begin, want.size());
  return part.reshape(shape_of(tensor, to, batch));
}

at::Tensor joined(const std::vector<at::Tensor>& parts, const Tensor& tensor,
                  const std::vector<Part>& held, const Part& to, std::int64_t batch) {
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return held[i].first().begin; });
  const bool slices = held[order[0]].is_slice();
  CHECK(slices || is_batched(tensor),
        "joins pieces of \"" + tensor.name + "\", which has no batch");
  std::vector<at::Tensor> sorted;
  for (const std::size_t i : order) {
    sorted.push_back(slices ? parts[i] : by_samples(parts[i], tensor, held[i].first().size()));
  }
  if (slices) return at::cat(sorted, held[order[0]].first().axis);
  return at::cat(sorted, 2).reshape(shape_of(tensor, to, batch));
}

}  // namespace strato::torch_engine
