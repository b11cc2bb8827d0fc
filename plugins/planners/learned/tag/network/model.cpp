#include "plugins/planners/learned/tag/network/model.h"

namespace strato::tag {
namespace {

constexpr double kSameType = 1, kCrossType = 0.1;  // gamma (TAG 4.2.1)
constexpr double kAttentionSlope = 0.2;            // of GAT's leaky ReLU
// Attention is exp(logit) over its sum; in this range neither over- nor underflows.
constexpr double kMostLogit = 30;

const Columns& columns(bool paper) { return paper ? kPaperColumns : kColumns; }

// A view of the caller's floats, the first `used` columns.
at::Tensor view(const Table& table, std::int64_t used) {
  const auto rows = static_cast<std::int64_t>(table.rows);
  const auto all = static_cast<std::int64_t>(table.columns);
  return learned::view_of(table.values).view({rows, all}).narrow(1, 0, used);
}

// [rows, queries, used columns].
at::Tensor stack(std::span<const StateFeatures* const> queries, Table StateFeatures::*part,
                 std::int64_t used) {
  std::vector<at::Tensor> tables;
  for (const StateFeatures* query : queries) tables.push_back(view(query->*part, used));
  return at::stack(tables, 1);
}

at::Tensor stack_rows(std::span<const StateFeatures* const> queries,
                      const std::vector<float> StateFeatures::*part) {
  std::vector<at::Tensor> rows;
  for (const StateFeatures* query : queries) rows.push_back(learned::view_of(query->*part));
  return at::stack(rows, 1);
}

}  // namespace

Batch::Batch(const ProblemFeatures& problem, std::span<const StateFeatures* const> states,
             bool paper, const at::Device& where)
    : queries(static_cast<std::int64_t>(states.size())),
      ops(static_cast<std::int64_t>(problem.op_groups())),
      devices(static_cast<std::int64_t>(problem.device_groups())),
      actions(static_cast<std::int64_t>(problem.actions())) {
  const Columns& c = columns(paper);
  const auto put = [&](const at::Tensor& tensor) { return tensor.to(where).contiguous(); };
  op = put(view(problem.op, c.op));
  device = put(view(problem.device, c.device));
  op_op = put(view(problem.op_op, c.op_op));
  used = put(view(problem.used, devices));
  share = put(view(problem.share, devices));
  action = put(view(problem.action, c.action));
  sources = put(learned::indices_of(problem.sources));
  targets = put(learned::indices_of(problem.targets));
  incidence =
      (at::arange(ops, targets.options()).unsqueeze(1) == targets.unsqueeze(0)).to(at::kFloat);
  op_state = put(stack(states, &StateFeatures::op, c.op_state));
  device_state = put(stack(states, &StateFeatures::device, c.device_state));
  const at::Tensor links = view(problem.link, c.link).view({devices, devices, 1, c.link});
  const at::Tensor idle =
      stack_rows(states, &StateFeatures::idle).view({devices, devices, queries, 1});
  // Rows are from * M + to; messages gather at `to`.
  link = put(at::cat({links.expand({devices, devices, queries, c.link}), idle}, 3).transpose(0, 1));
  placement = stack(states, &StateFeatures::placement, c.placement)
                  .view({ops, devices, queries, c.placement});
  if (!paper) {
    const at::Tensor speed = view(problem.speed, devices).view({ops, devices, 1, 1});
    placement = at::cat({placement, speed.expand({ops, devices, queries, 1})}, 3);
    slice = put(stack(states, &StateFeatures::slice, c.slice));
  }
  placement = put(placement);
  forbidden = put((stack_rows(states, &StateFeatures::legal) - 1) * 1e9);
  std::vector<std::int32_t> rows;
  for (std::size_t b = 0; b < states.size(); ++b)
    rows.push_back(states[b]->next * static_cast<std::int32_t>(queries) +
                   static_cast<std::int32_t>(b));
  next = put(learned::indices_of(rows));
}

Model::Relation Model::relation(std::int64_t edge_columns) {
  const std::int64_t width = size.width, heads = size.heads;
  return {parameters.matrix(width, width), parameters.matrix(edge_columns, width),
          parameters.declare({width}, 0), parameters.matrix(width, heads),
          parameters.matrix(width, heads)};
}

Model::Model(const NetworkSize& of) : size(of) {
  const Columns& c = columns(size.paper);
  const std::int64_t width = size.width, placed = c.placement + (size.paper ? 0 : 1);
  op_in_ = parameters.matrix(c.op, width);
  op_state_in_ = parameters.matrix(c.op_state, width);
  op_bias_ = parameters.declare({width}, 0);
  device_in_ = parameters.matrix(c.device, width);
  device_state_in_ = parameters.matrix(c.device_state, width);
  device_bias_ = parameters.declare({width}, 0);
  for (int i = 0; i < size.layers; ++i) {
    Layer layer{};
    layer.op_op = relation(c.op_op);
    layer.device_device = relation(c.link + 1);
    layer.device_to_op = relation(placed);
    layer.op_to_device = relation(placed);
    if (!size.paper) {
      layer.op_norm = parameters.norm(width);
      layer.device_norm = parameters.norm(width);
    }
    layers_.push_back(layer);
  }
  const std::int64_t out = size.paper ? 1 : width;
  use_out_ = parameters.matrix(width, out);
  group_out_ = parameters.matrix(width, out);
  action_out_ = parameters.matrix(c.action, out);
  hidden_bias_ = parameters.declare({out}, 0);
  if (size.paper) return;
  share_out_ = parameters.matrix(width, out);
  slice_out_ = parameters.matrix(c.slice, out);
  score_out_ = parameters.matrix(out, 1, 0.1);
  slice_skip_ = parameters.declare({c.slice, 1}, 0);
}

void Model::start(std::uint64_t seed) {
  parameters.allocate(seed, device);
  if (size.paper) return;
  constexpr double kSlower = -3;  // a factor of ten in the rough time
  constexpr double kFollow = 2;
  at::Tensor skip = parameters[slice_skip_].detach();
  skip[0].fill_(kSlower);
  skip[3].fill_(kFollow);
}

// GAT: each head weighs the messages by softmax of leaky ReLU(key of the message + query of the
// target). Messages [.., .., B, width], targets broadcast against them; the sum goes over `over`.
at::Tensor Model::attend(const Relation& r, const at::Tensor& messages, const at::Tensor& target,
                         std::int64_t over) const {
  at::Tensor logits = at::leaky_relu(
      product(messages, r.key) + product(target, r.query).unsqueeze(over), kAttentionSlope);
  const at::Tensor weights = at::softmax(logits, over).unsqueeze(-1);
  std::vector<std::int64_t> split = messages.sizes().vec();
  split.back() = size.heads;
  split.push_back(size.width / size.heads);
  return (messages.reshape(split) * weights).sum(over).flatten(-2);
}

// Every source to every target.
at::Tensor Model::dense(const Relation& r, const at::Tensor& source, const at::Tensor& edge,
                        const at::Tensor& target, std::int64_t over) const {
  const at::Tensor from = (product(source, r.source) + parameters[r.bias]).unsqueeze(1 - over);
  return attend(r, product(edge, r.edge).add_(from).relu_(), target, over);
}

// Along the edges of the op groups, summed by the incidence matrix.
at::Tensor Model::op_from_op(const Relation& r, const Nodes& nodes, const Batch& batch) const {
  const std::int64_t edges = batch.sources.size(0), heads = size.heads, width = size.width;
  const at::Tensor edge = (product(batch.op_op, r.edge) + parameters[r.bias]).unsqueeze(1);
  const at::Tensor messages = product(nodes.op, r.source)
                                  .index_select(0, batch.sources)
                                  .add_(edge)
                                  .relu_();  // [E, B, width]
  const at::Tensor logits = at::leaky_relu(
      product(messages, r.key) + product(nodes.op, r.query).index_select(0, batch.targets),
      kAttentionSlope);
  const at::Tensor weights = at::exp(at::clamp(logits, -kMostLogit, kMostLogit));  // [E, B, heads]
  const at::Tensor weighted =
      messages.view({edges, batch.queries, heads, width / heads}) * weights.unsqueeze(-1);
  const at::Tensor sum = at::matmul(batch.incidence, weighted.view({edges, -1}));
  const at::Tensor total = at::matmul(batch.incidence, weights.view({edges, -1}));
  return (sum.view({batch.ops, batch.queries, heads, -1}) /
          total.view({batch.ops, batch.queries, heads, 1}))
      .flatten(-2);
}

Model::Nodes Model::layer(const Layer& layer, const Nodes& nodes, const Batch& batch) const {
  at::Tensor op =
      kSameType * op_from_op(layer.op_op, nodes, batch) +
      kCrossType * dense(layer.device_to_op, nodes.device, batch.placement, nodes.op, 1);
  at::Tensor device =
      kSameType * dense(layer.device_device, nodes.device, batch.link, nodes.device, 1) +
      kCrossType * dense(layer.op_to_device, nodes.op, batch.placement, nodes.device, 0);
  if (size.paper) return {op, device};
  return {apply(layer.op_norm, nodes.op + op), apply(layer.device_norm, nodes.device + device)};
}

at::Tensor Model::scores(const Nodes& nodes, const Batch& batch) const {
  const std::int64_t width = size.width, m = batch.devices, a = batch.actions, b = batch.queries;
  const at::Tensor group =
      product(nodes.op.reshape({batch.ops * b, width}).index_select(0, batch.next), group_out_);
  const auto placed = [&](const at::Tensor& part, std::size_t weight) {
    return at::matmul(part, product(nodes.device, weight).reshape({m, -1})).view({a, b, -1});
  };
  const at::Tensor action =
      (product(batch.action, action_out_) + parameters[hidden_bias_]).unsqueeze(1);
  at::Tensor hidden = placed(batch.used, use_out_) + group.unsqueeze(0) + action;
  if (size.paper) return hidden.squeeze(-1);
  hidden = hidden + placed(batch.share, share_out_) + product(batch.slice, slice_out_);
  return (product(at::relu(hidden), score_out_) + product(batch.slice, slice_skip_)).squeeze(-1);
}

at::Tensor Model::log_probabilities(const Batch& batch) const {
  Nodes nodes;
  nodes.op = at::relu((product(batch.op, op_in_) + parameters[op_bias_]).unsqueeze(1) +
                      product(batch.op_state, op_state_in_));
  nodes.device =
      at::relu((product(batch.device, device_in_) + parameters[device_bias_]).unsqueeze(1) +
               product(batch.device_state, device_state_in_));
  for (const Layer& each : layers_) nodes = layer(each, nodes, batch);
  return at::log_softmax(scores(nodes, batch) + batch.forbidden, 0);
}

}  // namespace strato::tag
