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

Model::Transformer Model::transformer() {
  const std::int64_t width = size.width, inner = size.inner;
  const std::int64_t attention = static_cast<std::int64_t>(size.heads) * size.head_width;
  Transformer t{};
  t.before_attention = parameters.norm(width);
  t.before_inner = parameters.norm(width);
  if (size.attention) {
    t.query = parameters.matrix(width, attention);
    t.key = parameters.matrix(width, attention);
    t.value = parameters.matrix(width, attention);
    t.out = parameters.matrix(attention, width, 0.5);
  }
  t.inner = parameters.dense(width, inner);
  t.outer = parameters.dense(inner, width, 0.5);
  return t;
}

Model::Model(const NetworkSize& of) : size(of) {
  const std::int64_t width = size.graph_width;
  type_rows_ = parameters.declare({kTypes, width}, 0.1);
  unit_in_ = parameters.dense(kUnitColumns, width);
  for (int i = 0; i < size.graph_layers; ++i)
    aggregates_.push_back({parameters.dense(width, width), parameters.matrix(width, width),
                           parameters.matrix(width, width), parameters.declare({width}, 0),
                           size.paper ? learned::Norm{} : parameters.norm(width)});
  to_width_ = parameters.matrix(width, size.width);
  if (size.superposition) {
    conditioner_ = transformer();
    condition_out_ = parameters.matrix(size.width, size.width, 0.1);
  }
  for (int i = 0; i < size.layers; ++i) layers_.push_back(transformer());
  last_ = parameters.norm(size.width);
  place_ = parameters.matrix(size.width, size.width);
  if (!size.paper) choice_in_ = parameters.matrix(kChoiceColumns, size.width);
  choice_rows_ = parameters.declare({kChoiceRows, size.width}, 0.5);
  if (!size.stepwise) return;
  placed_in_ = parameters.matrix(kChoiceColumns, size.graph_width);
  placed_rows_ = parameters.declare({kChoiceRows, size.graph_width}, 0.5);
  turn_in_ = parameters.matrix(kTurnColumns, size.graph_width);
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
  at::Tensor seen = apply(unit_in_, unit) + parameters[type_rows_].index_select(0, graph.type);
  if (size.stepwise) {
    CHECK(graph.placed.defined(), "a step-wise policy is told what is placed where");
    seen = seen + product(graph.turn, turn_in_) +
           product(graph.choice.index_select(0, graph.placed), placed_in_) +
           parameters[placed_rows_].index_select(0, graph.placed.remainder(kChoiceRows));
  }
  at::Tensor h = at::relu(seen);
  const at::Tensor nobody = at::zeros({1, size.graph_width}, h.options());
  for (const Aggregate& a : aggregates_) {
    const at::Tensor sent = at::sigmoid(apply(a.neighbour, h));
    const at::Tensor heard = at::cat({sent, nobody})
                                 .index_select(0, graph.adjacent)
                                 .view({graph.units, graph.neighbours, size.graph_width})
                                 .amax(1);
    const at::Tensor next =
        at::relu(product(h, a.own) + product(heard, a.from_neighbours) + parameters[a.bias]);
    h = size.paper ? next : apply(a.norm, h + next);
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
  if (size.attention) x = x + attend(t, conditioned(apply(t.before_attention, x)), attention);
  const at::Tensor inner = at::relu(apply(t.inner, conditioned(apply(t.before_inner, x))));
  return x + product(inner, t.outer.weight) + parameters[t.outer.bias];
}

at::Tensor Model::log_probabilities(const Inputs& graph, std::vector<at::Tensor>* attention) const {
  at::Tensor x = product(embed(graph), to_width_), condition;
  if (size.superposition)
    condition = 1 + at::tanh(product(run(conditioner_, x, {}), condition_out_));
  for (const Transformer& layer : layers_) x = run(layer, x, condition, attention);
  x = apply(last_, x);
  if (condition.defined()) x = x * condition;
  at::Tensor choice = parameters[choice_rows_].index_select(0, graph.choice_row);
  if (!size.paper) choice = choice + product(graph.choice, choice_in_);
  const at::Tensor scores = at::matmul(product(x, place_), choice.t());
  return at::log_softmax(scores / std::sqrt(static_cast<double>(size.width)), 1);
}

}  // namespace strato::gdp
