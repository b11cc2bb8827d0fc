#include "plugins/engines/torch/values/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "plugins/engines/torch/values/extents.h"

namespace strato::torch_engine {
namespace {

using Form = Piece::Form;

struct Range {
  std::int64_t begin = 0, end = 0;
};

bool is_batched(const Tensor& tensor) { return tensor.batch.kind == BatchKind::Batched; }

Range samples_of(const Piece& piece, std::int64_t batch) {
  if (piece.form == Form::Samples) return {piece.begin, piece.end};
  return {0, batch};
}

Range slice_of(const Tensor& tensor, const Piece& piece, int axis) {
  for (const AxisRange& range : ranges_of(piece))
    if (range.axis == axis) return {range.begin, range.end};
  return {0, tensor.shape[static_cast<std::size_t>(axis)]};
}

bool within(const Range& inner, const Range& outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
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

bool holds(const Tensor& tensor, const Piece& outer, const Piece& inner, std::int64_t batch) {
  if (outer == inner || outer.form == Form::Whole) return true;
  if (outer.form == Form::Slice) {
    return inner.form == Form::Slice &&
           std::ranges::all_of(ranges_of(outer), [&](const AxisRange& range) {
             return within(slice_of(tensor, inner, range.axis), {range.begin, range.end});
           });
  }
  if (outer.form != Form::Samples || inner.form == Form::Slice) return false;
  return within(samples_of(inner, batch), samples_of(outer, batch));
}

at::Tensor cut(const at::Tensor& value, const Tensor& tensor, const Piece& from, const Piece& to,
               std::int64_t batch) {
  if (from == to) return value;
  if (to.form == Form::Slice || (to.form == Form::Partial && to.axis >= 0)) {
    at::Tensor part = value;
    for (const AxisRange& range : ranges_of(to)) {
      const Range have = slice_of(tensor, from, range.axis);
      part = part.narrow(range.axis, range.begin - have.begin, range.end - range.begin);
    }
    return part;
  }
  if (to.form != Form::Samples || !is_batched(tensor)) return value;
  const Range have = samples_of(from, batch);
  const at::Tensor part = by_samples(value, tensor, have.end - have.begin)
                              .narrow(2, to.begin - have.begin, to.end - to.begin);
  return part.reshape(shape_of(tensor, to, batch));
}

at::Tensor joined(const std::vector<at::Tensor>& parts, const Tensor& tensor,
                  const std::vector<Piece>& pieces, const Piece& to, std::int64_t batch) {
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return pieces[a].begin < pieces[b].begin; });
  const bool slices = pieces[order[0]].form == Form::Slice;
  CHECK(slices || is_batched(tensor),
        "joins pieces of \"" + tensor.name + "\", which has no batch");
  std::vector<at::Tensor> sorted;
  for (const std::size_t i : order) {
    sorted.push_back(slices ? parts[i]
                            : by_samples(parts[i], tensor, pieces[i].end - pieces[i].begin));
  }
  if (slices) return at::cat(sorted, pieces[order[0]].axis);
  return at::cat(sorted, 2).reshape(shape_of(tensor, to, batch));
}

}  // namespace strato::torch_engine
