#include "plugins/planners/learned/gdp/policy/model.h"

#include <cmath>

#include "core/base/error.h"

namespace strato::gdp {
namespace {

template <class T>
at::Tensor tensor_of(const std::vector<T>& values, std::vector<std::int64_t> shape,
                     at::ScalarType type, const at::Device& device) {
  return at::from_blob(const_cast<T*>(values.data()), shape, type).clone().to(device);
}

}  // namespace

Inputs::Inputs(const GraphFeatures& graph, const at::Device& device)
    : units(graph.units), neighbours(graph.neighbours) {
  unit = tensor_of(graph.unit, {units, kUnitColumns}, at::kFloat, device);
  type = tensor_of(graph.type, {units}, at::kLong, device);
  adjacent = tensor_of(graph.adjacent, {units * neighbours}, at::kLong, device);
  choice = tensor_of(graph.choice, {graph.choices, kChoiceColumns}, at::kFloat, device);
  choice_row = at::arange(graph.choices, type.options()).remainder(kChoiceRows);
  if (graph.placed.empty()) return;
  placed = tensor_of(graph.placed, {units}, at::kLong, device);
  turn = tensor_of(graph.turn, {units, kTurnColumns}, at::kFloat, device);
}

Model::Aggregate Model::aggregate() {
  const std::int64_t width = size_.graph_width;
  return {parameters_.matrix(width, width), parameters_.declare({width}, 0),
          parameters_.matrix(width, width), parameters_.matrix(width, width),
          parameters_.declare({width}, 0),  size_.paper ? Norm{} : norm(width)};
}

Model::Norm Model::norm(std::int64_t width) {
  return {parameters_.declare({width}, 0, 1), parameters_.declare({width}, 0)};
}

Model::Transformer Model::transformer() {
  const std::int64_t width = size_.width, inner = size_.inner;
  const std::int64_t attention = static_cast<std::int64_t>(size_.heads) * size_.head_width;
  Transformer t{};
  t.before_attention = norm(width);
  t.before_inner = norm(width);
  if (size_.attention) {
    t.query = parameters_.matrix(width, attention);
    t.key = parameters_.matrix(width, attention);
    t.value = parameters_.matrix(width, attention);
    t.out = parameters_.matrix(attention, width, 0.5);
  }
  t.inner = parameters_.matrix(width, inner);
  t.inner_bias = parameters_.declare({inner}, 0);
  t.outer = parameters_.matrix(inner, width, 0.5);
  t.outer_bias = parameters_.declare({width}, 0);
  return t;
}

Model::Model(const NetworkSize& size, learned::Parameters& parameters)
    : size_(size), parameters_(parameters) {
  type_rows_ = parameters_.declare({kTypes, size.graph_width}, 0.1);
  unit_in_ = parameters_.matrix(kUnitColumns, size.graph_width);
  unit_bias_ = parameters_.declare({size.graph_width}, 0);
  for (int i = 0; i < size.graph_layers; ++i) aggregates_.push_back(aggregate());
  to_width_ = parameters_.matrix(size.graph_width, size.width);
  if (size.superposition) {
    conditioner_ = transformer();
    condition_out_ = parameters_.matrix(size.width, size.width, 0.1);
  }
  for (int i = 0; i < size.layers; ++i) layers_.push_back(transformer());
  last_ = norm(size.width);
  place_ = parameters_.matrix(size.width, size.width);
  if (!size.paper) choice_in_ = parameters_.matrix(kChoiceColumns, size.width);
  choice_rows_ = parameters_.declare({kChoiceRows, size.width}, 0.5);
  if (!size.stepwise) return;
  placed_in_ = parameters_.matrix(kChoiceColumns, size.graph_width);
  placed_rows_ = parameters_.declare({kChoiceRows, size.graph_width}, 0.5);
  turn_in_ = parameters_.matrix(kTurnColumns, size.graph_width);
}

at::Tensor Model::product(const at::Tensor& rows, std::size_t weight) const {
  return at::matmul(rows, parameters_[weight]);
}

at::Tensor Model::normed(const at::Tensor& rows, const Norm& norm) const {
  return at::layer_norm(rows, {rows.size(1)}, parameters_[norm.scale], parameters_[norm.shift]);
}

// GDP Equations 2 and 3, with a residual connection and a norm where it is not the paper's variant:
// without them units of deep graphs grow alike, and learning is slow. A row of zeros stands for the
// neighbours that are not there: no maximum of sigmoids is below it.
at::Tensor Model::embed(const Inputs& graph) const {
  at::Tensor unit = graph.unit;
  if (size_.paper) {  // type and shape alone
    unit = unit.clone();
    unit.narrow(1, kUnitColumns - kCostColumns, kCostColumns).zero_();
  }
  at::Tensor seen = product(unit, unit_in_) + parameters_[unit_bias_] +
                    parameters_[type_rows_].index_select(0, graph.type);
  if (size_.stepwise) {
    CHECK(graph.placed.defined(), "a step-wise policy is told what is placed where");
    seen = seen + product(graph.turn, turn_in_) +
           product(graph.choice.index_select(0, graph.placed), placed_in_) +
           parameters_[placed_rows_].index_select(0, graph.placed.remainder(kChoiceRows));
  }
  at::Tensor h = at::relu(seen);
  const at::Tensor nobody = at::zeros({1, size_.graph_width}, h.options());
  for (const Aggregate& a : aggregates_) {
    const at::Tensor sent = at::sigmoid(product(h, a.neighbour) + parameters_[a.neighbour_bias]);
    const at::Tensor heard = at::cat({sent, nobody})
                                 .index_select(0, graph.adjacent)
                                 .view({graph.units, graph.neighbours, size_.graph_width})
                                 .amax(1);
    const at::Tensor next =
        at::relu(product(h, a.own) + product(heard, a.from_neighbours) + parameters_[a.bias]);
    h = size_.paper ? next : normed(h + next, a.norm);
  }
  return h;
}

// Multi-head attention within segments and to the segment before. [N, width] to [N, width].
at::Tensor Model::attend(const Transformer& t, const at::Tensor& rows,
                         std::vector<at::Tensor>* attention) const {
  const std::int64_t units = rows.size(0), length = std::min<std::int64_t>(size_.segment, units);
  const std::int64_t segments = (units + length - 1) / length, padded = segments * length;
  const std::int64_t heads = size_.heads, head = size_.head_width;
  const at::Tensor all =
      at::constant_pad_nd(rows, {0, 0, 0, padded - units}).view({segments, length, size_.width});
  // Each segment sees the one before (nothing, for the first), then itself.
  const at::Tensor before =
      at::constant_pad_nd(all.detach().narrow(0, 0, segments - 1), {0, 0, 0, 0, 1, 0});
  const at::Tensor seen = at::cat({before, all}, 1);
  const auto split = [&](const at::Tensor& tensor) {  // [segments, heads, ., head]
    return tensor.view({segments, -1, heads, head}).transpose(1, 2);
  };
  const at::Tensor query = split(product(all, t.query));
  const at::Tensor key = split(product(seen, t.key)), value = split(product(seen, t.value));
  const at::Tensor place = at::arange(2 * length, rows.options().dtype(at::kLong)) - length;
  const at::Tensor begin =
      at::arange(segments, rows.options().dtype(at::kLong)).mul(length).unsqueeze(1);
  const at::Tensor unit = begin + place.unsqueeze(0);  // whom a column of `seen` stands for
  const at::Tensor mask = at::zeros(unit.sizes(), rows.options())
                              .masked_fill(unit.lt(0).logical_or(unit.ge(units)), -1e9)
                              .view({segments, 1, 1, 2 * length});
  const at::Tensor logits =
      at::matmul(query, key.transpose(2, 3)) / std::sqrt(static_cast<double>(head)) + mask;
  const at::Tensor weights = at::softmax(logits, -1);
  if (attention != nullptr) attention->push_back(weights.mean(1));
  const at::Tensor mixed = at::matmul(weights, value);
  return product(mixed.transpose(1, 2).reshape({padded, heads * head}), t.out).narrow(0, 0, units);
}

// Norms come before their layers, which keeps learning stable without a warm-up.
at::Tensor Model::run(const Transformer& t, const at::Tensor& rows, const at::Tensor& condition,
                      std::vector<at::Tensor>* attention) const {
  const auto conditioned = [&](const at::Tensor& x) {
    return condition.defined() ? x * condition : x;
  };
  at::Tensor x = rows;
  if (size_.attention) x = x + attend(t, conditioned(normed(x, t.before_attention)), attention);
  const at::Tensor inner = at::relu(product(conditioned(normed(x, t.before_inner)), t.inner) +
                                    parameters_[t.inner_bias]);
  return x + product(inner, t.outer) + parameters_[t.outer_bias];
}

at::Tensor Model::log_probabilities(const Inputs& graph, std::vector<at::Tensor>* attention) const {
  at::Tensor x = product(embed(graph), to_width_), condition;
  if (size_.superposition)
    condition = 1 + at::tanh(product(run(conditioner_, x, {}), condition_out_));
  for (const Transformer& layer : layers_) x = run(layer, x, condition, attention);
  x = normed(x, last_);
  if (condition.defined()) x = x * condition;
  at::Tensor choice = parameters_[choice_rows_].index_select(0, graph.choice_row);
  if (!size_.paper) choice = choice + product(graph.choice, choice_in_);
  const at::Tensor scores = at::matmul(product(x, place_), choice.t());
  return at::log_softmax(scores / std::sqrt(static_cast<double>(size_.width)), 1);
}

}  // namespace strato::gdp
