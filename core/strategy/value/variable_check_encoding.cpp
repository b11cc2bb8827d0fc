// Sizes the messages of variables by what gradients are made of.
#include <algorithm>
#include <initializer_list>
#include <set>
#include <string_view>

#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

// Counts the rows that look-ups touch: with samples of the batch, and always.
struct LookedUp {
  std::int64_t by_batch = 0, fixed = 0;
};

// Adds those that a gradient's rows come from; false: they come from something else, too.
bool add_look_ups(const Graph& graph, TensorId gradient, const Tensor& parameter, LookedUp& rows) {
  const OpId producer = graph.tensor(gradient).producer;
  if (!producer.valid()) return false;
  const Op& op = graph.op(producer);
  if (op.type == "GatherGrad" && op.inputs.size() >= 2) {
    const auto rank = static_cast<std::int64_t>(parameter.shape.size());
    const std::int64_t axis = op.integer("axis", 0);
    const Tensor& indices = graph.tensor(op.inputs[1]);
    const bool batched = indices.batch.kind == BatchKind::Batched;
    (batched ? rows.by_batch : rows.fixed) += indices.elements();
    return graph.tensor(gradient).shape == parameter.shape && (axis == 0 || axis == -rank);
  }
  if (op.type != "AddN" && op.type != "Add" && op.type != "Identity") return false;
  return std::ranges::all_of(op.inputs, [&](TensorId input) {
    return input.valid() && add_look_ups(graph, input, parameter, rows);
  });
}

LookedUp look_ups(const Graph& graph, OpId update) {
  const TensorId parameter = parameter_of(graph, update);
  if (!parameter.valid() || graph.tensor(parameter).shape.empty()) return {};
  LookedUp rows;
  const TensorId gradient = graph.op(update).inputs[1];
  return add_look_ups(graph, gradient, graph.tensor(parameter), rows) ? rows : LookedUp();
}

bool is_one_of(const std::string& type, std::initializer_list<std::string_view> types) {
  return std::ranges::find(types, type) != types.end();
}

// A window of one point in one group is a matrix product over samples and places.
bool is_pointwise(const Graph& graph, const Op& convolution) {
  if (convolution.integer("group", 1) != 1 || convolution.inputs.size() < 2) return false;
  const Shape& window = graph.tensor(convolution.inputs[1]).shape;
  return window.size() > 2 &&
         std::all_of(window.begin() + 2, window.end(), [](std::int64_t each) { return each == 1; });
}

// Over the samples: what it reads are samples, what it makes is their sum.
bool is_product(const Graph& graph, const Op& op, TensorId made) {
  if (!op.forward.valid() || graph.tensor(made).batch.kind != BatchKind::Partial) return false;
  const Op& forward = graph.op(op.forward);
  const bool multiplies = is_one_of(forward.type, {"MatMul", "FusedMatMul", "Gemm"}) ||
                          (forward.type == "Conv" && is_pointwise(graph, forward));
  const auto samples = std::ranges::count_if(op.inputs, [&](TensorId input) {
    return input.valid() && graph.tensor(input).batch.kind == BatchKind::Batched;
  });
  return multiplies && samples == 2 && op.inputs.size() == 2;
}

// Adds those that the tensor is the sum of; false: something else is in it.
bool add_products(const Graph& graph, TensorId made, std::set<OpId>& products) {
  const OpId producer = graph.tensor(made).producer;
  if (!producer.valid()) return false;
  const Op& op = graph.op(producer);
  if (is_product(graph, op, made)) {
    products.insert(producer);
    return true;
  }
  const bool sum = is_one_of(op.type, {"AddN", "Add", "Sum"});
  const bool same = op.view || is_one_of(op.type, {"Identity", "Transpose", "TransposeGrad"});
  if (op.inputs.empty() || !(sum || same)) return false;
  return std::all_of(
      op.inputs.begin(), sum ? op.inputs.end() : op.inputs.begin() + 1,
      [&](TensorId input) { return input.valid() && add_products(graph, input, products); });
}

std::int64_t factor_bytes(const Graph& graph, OpId update, std::int64_t samples) {
  std::set<TensorId> factors;
  for (const OpId product : gradient_products(graph, update))
    for (const TensorId input : graph.op(product).inputs) factors.insert(input);
  __int128 bytes = 0;
  for (const TensorId factor : factors) bytes += graph.tensor(factor).bytes().value;
  return static_cast<std::int64_t>((bytes * samples + graph.batch() - 1) / graph.batch());
}

// The rows that a message of sparse rows has, of so many of a part.
std::int64_t encoded_rows(const Graph& graph, OpId update, std::int64_t rows,
                          std::int64_t samples) {
  const LookedUp all = look_ups(graph, update);
  const auto of_batch = static_cast<__int128>(all.by_batch) * samples + graph.batch() - 1;
  const std::int64_t touched = static_cast<std::int64_t>(of_batch / graph.batch()) + all.fixed;
  return std::clamp<std::int64_t>(touched, 1, std::max<std::int64_t>(1, rows));
}

}  // namespace

TensorId parameter_of(const Graph& graph, OpId update) {
  const Op& op = graph.op(update);
  if (op.phase != Phase::Update || op.inputs.size() < 2 || !op.inputs[0].valid() ||
      !op.inputs[1].valid())
    return {};
  return graph.update_of(op.inputs[0]) == update ? op.inputs[0] : TensorId();
}

std::int64_t looked_up_rows(const Graph& graph, OpId update) {
  const LookedUp rows = look_ups(graph, update);
  return rows.by_batch + rows.fixed;
}

std::vector<OpId> gradient_products(const Graph& graph, OpId update) {
  std::set<OpId> products;
  if (!parameter_of(graph, update).valid() ||
      !add_products(graph, graph.op(update).inputs[1], products))
    return {};
  return {products.begin(), products.end()};
}

bool is_matrix(const Tensor& variable) {
  return is_floating(variable.type) && variable.shape.size() >= 2;
}

Bytes encoded_bytes(const Graph& graph, OpId update, Encoding encoding, const Part& part,
                    std::int64_t samples) {
  constexpr std::int64_t kNumber = 8;  // bytes of a row's number or an element's place
  constexpr std::int64_t kLowRank = 4;
  const Tensor& variable = graph.tensor(graph.op(update).inputs[0]);
  const std::int64_t element = size_of(variable.type);
  const Shape shape = shape_of(variable, part, graph.batch());
  const std::int64_t elements = elements_of(variable, part, graph.batch());
  const std::int64_t rows = shape.empty() ? 1 : shape[0];
  const std::int64_t columns = elements / std::max<std::int64_t>(1, rows);
  std::int64_t bytes = elements * element;
  if (encoding == Encoding::SparseRows) {
    bytes = encoded_rows(graph, update, rows, samples) * (columns * element + kNumber);
  } else if (encoding == Encoding::TopK) {
    bytes = std::max<std::int64_t>(1, (elements + 99) / 100) * (element + kNumber);
  } else if (encoding == Encoding::Half) {
    bytes = elements * 2;
  } else if (encoding == Encoding::SufficientFactors) {
    bytes = factor_bytes(graph, update, samples);
  } else if (encoding == Encoding::LowRank) {
    const std::int64_t rank = std::max<std::int64_t>(1, std::min({kLowRank, rows, columns}));
    bytes = rank * (rows + columns) * element;
  }
  return Bytes(std::max<std::int64_t>(1, bytes));
}

}  // namespace strato
