#include "plugins/engines/torch/values/pieces.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/graph/value/op_reader.h"
#include "core/program/value/program_task.h"

namespace strato::torch_engine {
namespace {

bool is_batched(const Tensor& tensor) { return tensor.batch.kind == BatchKind::Batched; }

// [outer, runs, samples, rest]: the third axis counts samples.
at::Tensor by_samples(const at::Tensor& value, const Tensor& tensor, std::int64_t samples) {
  const auto axis = static_cast<std::size_t>(tensor.batch.axis);
  const std::int64_t outer = c10::multiply_integers(value.sizes().slice(0, axis));
  const std::int64_t runs = tensor.batch.blocks;
  const std::int64_t all = outer * runs * std::max<std::int64_t>(samples, 1);
  return value.reshape({outer, runs, samples, all == 0 ? 0 : value.numel() / all});
}

constexpr std::int64_t kNumber = 8;        // bytes
constexpr std::uint64_t kProbes = 0x10c4;  // the seed of low rank's random vectors

// Rows of the tensor, or its elements.
at::Tensor as_rows(const at::Tensor& value, Encoding encoding) {
  if (encoding == Encoding::TopK) return value.reshape({-1, 1});
  return value.reshape({value.size(0), -1});
}

at::Tensor records(const at::Tensor& numbers, const at::Tensor& rows, std::int64_t slots) {
  const std::int64_t used = numbers.numel();
  at::Tensor all_numbers = at::zeros({slots, 1}, numbers.options());
  at::Tensor all_rows = at::zeros({slots, rows.size(1)}, rows.options());
  all_numbers.narrow(0, 0, used).copy_(numbers.view({used, 1}));
  all_rows.narrow(0, 0, used).copy_(rows);
  return at::cat({all_numbers.view(at::kByte), all_rows.view(at::kByte)}, 1).flatten();
}

// In floats where the gradient has fewer bits.
at::Tensor as_matrix(const at::Tensor& value) {
  const bool wide = value.scalar_type() == at::kDouble;
  return value.reshape({value.size(0), -1}).to(wide ? at::kDouble : at::kFloat);
}

// Columns that are orthogonal and have length 1, whatever the matrix (Householder).
at::Tensor orthonormal(const at::Tensor& matrix) { return std::get<0>(at::linalg_qr(matrix)); }

at::Tensor low_rank(const at::Tensor& value, std::int64_t rank) {
  const at::Tensor matrix = as_matrix(value);
  at::Generator random = at::detail::createCPUGenerator(kProbes);
  const at::Tensor probes = at::randn({matrix.size(1), rank}, random, matrix.options());
  const at::Tensor once = orthonormal(matrix.mm(probes));
  const at::Tensor columns = orthonormal(matrix.mm(matrix.t().mm(once)));
  const at::Tensor rows = matrix.t().mm(columns);
  return at::cat({columns, rows}, 0).t().to(value.scalar_type()).contiguous();
}

at::Tensor low_rank_sum(const at::Tensor& message, at::IntArrayRef shape, at::ScalarType type) {
  const std::int64_t rows = shape[0];
  const at::Tensor all = message.clone(at::MemoryFormat::Contiguous).view(type);
  const std::int64_t columns = c10::multiply_integers(shape) / rows;
  const at::Tensor factors = as_matrix(all.view({-1, rows + columns}));
  const at::Tensor left = factors.narrow(1, 0, rows), right = factors.narrow(1, rows, columns);
  return left.t().mm(right).to(type).reshape(shape).contiguous();
}

}  // namespace

bool holds(const Graph& graph, TensorId tensor, const Part& outer, const Part& inner) {
  if (outer.is_partial_sum() || inner.is_partial_sum()) return outer == inner || outer.is_whole();
  return std::ranges::all_of(outer.ranges(), [&](const AxisRange& range) {
    return range.contains(range_along(graph, tensor, inner, range.axis));
  });
}

at::Tensor cut(const at::Tensor& value, const Graph& graph, TensorId id, const Part& from,
               const Part& to) {
  if (from == to) return value;
  at::Tensor part = value;
  for (const AxisRange& range : to.cuts()) {
    const AxisRange have = range_along(graph, id, from, range.axis);
    part = part.narrow(range.axis, range.begin - have.begin, range.size());
  }
  const Tensor& tensor = graph.tensor(id);
  const AxisRange have = range_along(graph, id, from, kBatchAxis);
  const AxisRange want = range_along(graph, id, to, kBatchAxis);
  if (!is_batched(tensor) || have == want) return part;
  part = by_samples(part, tensor, have.size()).narrow(2, want.begin - have.begin, want.size());
  return part.reshape(shape_of(tensor, to, graph.batch()));
}

at::Tensor joined(const std::vector<at::Tensor>& parts, const Graph& graph, TensorId id,
                  const std::vector<Part>& held, const Part& to) {
  const Tensor& tensor = graph.tensor(id);
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // A piece of a whole that says it is a partial sum was summed up in place.
  const int axis = joined_axis(to.is_partial_sum() ? held[0] : held[0].summed_up(), to);
  const bool slices = axis != kBatchAxis;
  std::ranges::stable_sort(
      order, {}, [&](std::size_t i) { return range_along(graph, id, held[i], axis).begin; });
  CHECK(slices || is_batched(tensor),
        "joins pieces of \"" + tensor.name + "\", which has no batch");
  std::vector<at::Tensor> sorted;
  for (const std::size_t i : order) {
    const AxisRange samples = range_along(graph, id, held[i], kBatchAxis);
    sorted.push_back(slices ? parts[i] : by_samples(parts[i], tensor, samples.size()));
  }
  if (slices) return at::cat(sorted, axis);
  return at::cat(sorted, 2).reshape(shape_of(tensor, to, graph.batch()));
}

at::Tensor encoded(const at::Tensor& value, Encoding encoding, std::int64_t slots) {
  if (encoding == Encoding::Half) return value.to(at::kHalf, false, true).contiguous();  // a copy
  if (encoding == Encoding::LowRank) return low_rank(value, slots).view(at::kByte).flatten();
  const at::Tensor rows = as_rows(value, encoding);
  at::Tensor numbers;
  if (encoding == Encoding::TopK) {
    numbers = std::get<1>(rows.flatten().abs().topk(slots));
  } else {
    CHECK(encoding == Encoding::SparseRows, "an encoding that makes no message");
    numbers = rows.ne(0).any(1).nonzero().flatten();
    CHECK(numbers.numel() <= slots, "more rows have a gradient than were looked up");
  }
  return records(numbers.contiguous(), rows.index_select(0, numbers), slots);
}

at::Tensor decoded(const at::Tensor& message, Encoding encoding, at::IntArrayRef shape,
                   at::ScalarType type) {
  if (encoding == Encoding::Half) return message.to(type).view(shape);
  if (encoding == Encoding::LowRank) return low_rank_sum(message, shape, type);
  at::Tensor value = at::zeros(shape, at::TensorOptions().dtype(type));
  at::Tensor rows = as_rows(value, encoding);  // shares the memory
  const std::int64_t unit = kNumber + rows.size(1) * static_cast<std::int64_t>(rows.element_size());
  const at::Tensor all = message.view({-1, unit});
  const auto own = at::MemoryFormat::Contiguous;  // contiguous() keeps the stride of a lone record
  const at::Tensor numbers = all.narrow(1, 0, kNumber).clone(own).view(at::kLong).flatten();
  const at::Tensor found = all.narrow(1, kNumber, unit - kNumber).clone(own).view(type);
  rows.index_add_(0, numbers, found);
  return value;
}

}  // namespace strato::torch_engine
