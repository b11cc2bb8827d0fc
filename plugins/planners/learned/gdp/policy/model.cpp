#include "plugins/planners/learned/gdp/policy/model.h"

#include <cmath>

#include "core/base/error.h"

namespace strato::gdp {

Inputs::Inputs(const GraphFeatures& graph, const at::Device& device)
    : units(graph.units), neighbours(graph.neighbours) {
  const auto put = [&](const at::Tensor& row) { return row.clone().to(device); };
  unit = put(learned::view_of(graph.unit)).view({units, kUnitColumns});
  type = put(learned::view_of(graph.type));
  adjacent = put(learned::view_of(graph.adjacent));
  choice = put(learned::view_of(graph.choice)).view({graph.choices, kChoiceColumns});
  choice_row = at::arange(graph.choices, type.options()).remainder(kChoiceRows);
  if (graph.placed.empty()) return;
  placed = put(learned::view_of(graph.placed));
  turn = put(learned::view_of(graph.turn)).view({units, kTurnColumns});
}

Model::Aggregate Model::aggregate() {
  const std::int64_t width = size.graph_width;
  return {parameters.matrix(width, width), parameters.declare({width}, 0),
          parameters.matrix(width, width), parameters.matrix(width, width),
          parameters.declare({width}, 0),  size.paper ? Norm{} : norm(width)};
}

Model::Norm Model::norm(std::int64_t width) {
  return {parameters.declare({width}, 0, 1), parameters.declare({width}, 0)};
}

Model::Transformer Model::transformer() {
  const std::int64_t width = size.width, inner = size.inner;
  const std::int64_t attention = static_cast<std::int64_t>(size.heads) * size.head_width;
  Transformer t{};
  t.before_attention = norm(width);
  t.before_inner = norm(width);
  if (size.attention) {
    t.query = parameters.matrix(width, attention);
    t.key = parameters.matrix(width, attention);
    t.value = parameters.matrix(width, attention);
    t.out = parameters.matrix(attention, width, 0.5);
  }
  t.inner = parameters.matrix(width, inner);
  t.inner_bias = parameters.declare({inner}, 0);
  t.outer = parameters.matrix(inner, width, 0.5);
  t.outer_bias = parameters.declare({width}, 0);
  return t;
}

Model::Model(const NetworkSize& of) : size(of) {
  type_rows_ = parameters.declare({kTypes, size.graph_width}, 0.1);
  unit_in_ = parameters.matrix(kUnitColumns, size.graph_width);
  unit_bias_ = parameters.declare({size.graph_width}, 0);
  for (int i = 0; i < size.graph_layers; ++i) aggregates_.push_back(aggregate());
  to_width_ = parameters.matrix(size.graph_width, size.width);
  if (size.superposition) {
    conditioner_ = transformer();
    condition_out_ = parameters.matrix(size.width, size.width, 0.1);
  }
  for (int i = 0; i < size.layers; ++i) layers_.push_back(transformer());
  last_ = norm(size.width);
  place_ = parameters.matrix(size.width, size.width);
  if (!size.paper) choice_in_ = parameters.matrix(kChoiceColumns, size.width);
  choice_rows_ = parameters.declare({kChoiceRows, size.width}, 0.5);
  if (!size.stepwise) return;
  placed_in_ = parameters.matrix(kChoiceColumns, size.graph_width);
  placed_rows_ = parameters.declare({kChoiceRows, size.graph_width}, 0.5);
  turn_in_ = parameters.matrix(kTurnColumns, size.graph_width);
}

at::Tensor Model::product(const at::Tensor& rows, std::size_t weight) const {
  return at::matmul(rows, parameters[weight]);
}

at::Tensor Model::normed(const at::Tensor& rows, const Norm& norm) const {
  return at::layer_norm(rows, {rows.size(1)}, parameters[norm.scale], parameters[norm.shift]);
}

// GDP Equations 2 and 3, with a residual connection and a norm where it is not the paper's variant:
// without them units of deep graphs grow alike, and learning is slow. A row of zeros stands for the
// neighbours that are not there: no maximum of sigmoids is below it.
at::Tensor Model::embed(const Inputs& graph) const {
  at::Tensor unit = graph.unit;
  if (size.paper) {  // type and shape alone
    unit = unit.clone();
    unit.narrow(1, kUnitColumns - kCostColumns, kCostColumns).zero_();
  }
  at::Tensor seen = product(unit, unit_in_) + parameters[unit_bias_] +
                    parameters[type_rows_].index_select(0, graph.type);
  if (size.stepwise) {
    CHECK(graph.placed.defined(), "a step-wise policy is told what is placed where");
    seen = seen + product(graph.turn, turn_in_) +
           product(graph.choice.index_select(0, graph.placed), placed_in_) +
           parameters[placed_rows_].index_select(0, graph.placed.remainder(kChoiceRows));
  }
  at::Tensor h = at::relu(seen);
  const at::Tensor nobody = at::zeros({1, size.graph_width}, h.options());
  for (const Aggregate& a : aggregates_) {
    const at::Tensor sent = at::sigmoid(product(h, a.neighbour) + parameters[a.neighbour_bias]);
    const at::Tensor heard = at::cat({sent, nobody})
                                 .index_select(0, graph.adjacent)
                                 .view({graph.units, graph.neighbours, size.graph_width})
                                 .amax(1);
    const at::Tensor next =
        at::relu(product(h, a.own) + product(heard, a.from_neighbours) + parameters[a.bias]);
    h = size.paper ? next : normed(h + next, a.norm);
  }
  return h;
}

// Multi-head attention within segments and to the segment before. [N, width] to [N, width].
at::Tensor Model::attend(const Transformer& t, const at::Tensor& rows,
                         std::vector<at::Tensor>* attention) const {
  const std::int64_t units = rows.size(0), length = std::min<std::int64_t>(size.segment, units);
  const std::int64_t segments = (units + length - 1) / length, padded = segments * length;
  const std::int64_t heads = size.heads, head = size.head_width;
  const at::Tensor all =
      at::constant_pad_nd(rows, {0, 0, 0, padded - units}).view({segments, length, size.width});
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
  if (size.attention) x = x + attend(t, conditioned(normed(x, t.before_attention)), attention);
  const at::Tensor inner =
      at::relu(product(conditioned(normed(x, t.before_inner)), t.inner) + parameters[t.inner_bias]);
  return x + product(inner, t.outer) + parameters[t.outer_bias];
}

at::Tensor Model::log_probabilities(const Inputs& graph, std::vector<at::Tensor>* attention) const {
  at::Tensor x = product(embed(graph), to_width_), condition;
  if (size.superposition)
    condition = 1 + at::tanh(product(run(conditioner_, x, {}), condition_out_));
  for (const Transformer& layer : layers_) x = run(layer, x, condition, attention);
  x = normed(x, last_);
  if (condition.defined()) x = x * condition;
  at::Tensor choice = parameters[choice_rows_].index_select(0, graph.choice_row);
  if (!size.paper) choice = choice + product(graph.choice, choice_in_);
  const at::Tensor scores = at::matmul(product(x, place_), choice.t());
  return at::log_softmax(scores / std::sqrt(static_cast<double>(size.width)), 1);
}

}  // namespace strato::gdp
