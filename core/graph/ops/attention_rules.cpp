#include "core/graph/ops/attention_rules.h"

#include <algorithm>

#include "core/graph/rules/shape_rules.h"

namespace strato {
namespace {

constexpr double kSoftmax = 13, kRotation = 6, kNormalization = 9;

// Extents of one attention; `value` is what a head has of each value.
struct Heads {
  double batch = 1, queries = 1, keys = 1, count = 1, size = 1, value = 1;
  double flops() const {
    return batch * count * queries * keys * (2 * size + 2 * value + kSoftmax);
  }
};

std::int64_t heads_of(const OpReader& op, std::string_view attribute) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  return std::clamp<std::int64_t>(op->integer(attribute, 1), 1, kMost);
}

// Samples first in all that carries them; masks and what is else may be whole.
BatchRule samples_first(InputSet always) {
  return [always](BatchFlow& flow) {
    bool follows = flow.axis(0) == 0;
    for (std::size_t i = 1; i < flow.op.input_count(); ++i) {
      if (!flow.op.has_input(i)) continue;
      if (contains(always, i)) follows = flow.requires_batch(i, 0) && follows;
      follows = follows && flow.axis(i) <= 0;
    }
    for (std::size_t i = 1; follows && i < flow.op.output_count(); ++i) {
      if (extent(flow.op.out(i), 0) == extent(flow.op.out(), 0)) flow.set(i, flow.on(0));
    }
    return flow.on_if(follows, 0);
  };
}

// ---- Attention of ONNX: query, key, value, mask, past key, past value, lengths; [batch, heads,
// positions, size] or [batch, positions, heads x size].

struct SplitHeads {
  std::int64_t batch, heads, positions, size;
};
SplitHeads split_heads(const OpReader& op, std::size_t input, std::string_view attribute) {
  const Shape& shape = op.in(input);
  if (shape.size() == 4) return {shape[0], shape[1], shape[2], shape[3]};
  const std::int64_t heads = heads_of(op, attribute);
  return {extent(shape, 0), heads, extent(shape, 1), extent(shape, 2) / heads};
}

std::int64_t past_of(const OpReader& op, std::size_t input) {
  return op.in(input).size() == 4 ? op.in(input)[2] : 0;
}

Heads onnx_heads(const OpReader& op) {
  const SplitHeads query = split_heads(op, 0, "q_num_heads"),
                   value = split_heads(op, 2, "kv_num_heads");
  return {
      double(query.batch), double(query.positions), double(added(value.positions, past_of(op, 4))),
      double(query.heads), double(query.size),      double(value.size)};
}

TensorTypes onnx_attention_shape(const OpReader& op) {
  const SplitHeads query = split_heads(op, 0, "q_num_heads"),
                   key = split_heads(op, 1, "kv_num_heads"),
                   value = split_heads(op, 2, "kv_num_heads");
  const DataType type = op.input(0).type;
  const std::int64_t keys = added(key.positions, past_of(op, 4));
  Shape result = op.in(0).size() == 4
                     ? Shape{query.batch, query.heads, query.positions, value.size}
                     : Shape{query.batch, query.positions, multiplied(query.heads, value.size)};
  return {{type, std::move(result)},
          {type, {key.batch, key.heads, keys, key.size}},
          {type, {key.batch, key.heads, keys, value.size}},
          {type, {query.batch, query.heads, query.positions, keys}}};
}

// ---- MultiHeadAttention and GroupQueryAttention of com.microsoft: [batch, positions, heads x
// size]; without a key, the query holds all three.

struct Packed {
  std::string_view key_heads;  // attribute
  std::size_t past_key;        // input
};

Heads packed_heads(const OpReader& op, const Packed& packed) {
  const std::int64_t heads = heads_of(op, "num_heads"), key_heads = heads_of(op, packed.key_heads);
  const Shape &query = op.in(0), &key = op.in(1), &value = op.in(2);
  std::int64_t size = extent(query, 2) / heads, keys = extent(query, 1);
  if (!op.has_input(1))
    size = query.size() == 5 ? query[4] : extent(query, 2) / (heads + 2 * key_heads);
  std::int64_t value_size = size;
  if (op.has_input(1)) {
    const bool split = key.size() == 4;  // [batch, heads, positions, size]: of a cross attention
    keys = extent(key, split ? 2 : 1);
    if (op.has_input(2)) value_size = split ? extent(value, 3) : extent(value, 2) / key_heads;
  }
  return {double(extent(query, 0)),
          double(extent(query, 1)),
          double(added(keys, past_of(op, packed.past_key))),
          double(heads),
          double(size),
          double(value_size)};
}

TensorTypes packed_shape(const OpReader& op, const Packed& packed) {
  const Heads heads = packed_heads(op, packed);
  const DataType type = op.input(0).type;
  const std::int64_t key_heads = heads_of(op, packed.key_heads);
  return {
      {type,
       {as_extent(heads.batch), as_extent(heads.queries), as_extent(heads.count * heads.value)}},
      {type, {as_extent(heads.batch), key_heads, as_extent(heads.keys), as_extent(heads.size)}},
      {type, {as_extent(heads.batch), key_heads, as_extent(heads.keys), as_extent(heads.value)}}};
}

// Query, key and value in one op; the bias that com.microsoft adds to them by itself.
void attention_gradient(GradientWriter& writer) {
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < 3; ++i) {
    if (writer.wants(i)) wanted.push_back(i);
  }
  if (!wanted.empty()) writer.add("Grad", "grad", {x(0), x(1), x(2), y(0)}, wanted);
  if (writer.wants(3)) writer.add("GradBias", "grad_bias", {}, {3});
}

OpRule attention(ShapeRule shape, FlopsRule flops, InputSet samples) {
  return {.family = OpFamily::MatMul,
          .shape = std::move(shape),
          .flops = std::move(flops),
          .batch = samples_first(samples),
          .gradient = attention_gradient,
          .differentiable = inputs({0, 1, 2, 3}),
          .gradient_work = 2};
}

OpRule packed_attention(Packed packed, InputSet samples) {
  return attention([packed](const OpReader& op) { return packed_shape(op, packed); },
                   [packed](const OpReader& op) { return packed_heads(op, packed).flops(); },
                   samples);
}

// ---- Attention of com.microsoft: x, weights [in, query + key + value], bias, mask, past
// [2, batch, heads, positions, size]. The products with the weights are inside.

std::vector<std::int64_t> projected(const OpReader& op) {
  const auto given = op->integers("qkv_hidden_sizes");
  const std::int64_t third = extent(op.in(1), -1) / 3;
  return given.size() == 3 ? given : std::vector<std::int64_t>{third, third, third};
}

std::size_t past_input(const OpReader& op) { return op->type == "QAttention" ? 8 : 4; }

double projecting_flops(const OpReader& op) {
  const std::int64_t heads = heads_of(op, "num_heads");
  const auto sizes = projected(op);
  const Shape &in = op.in(0), &past = op.in(past_input(op));
  const double positions = double(extent(in, 1));
  const double keys = positions + (past.size() == 5 ? double(past[3]) : 0);
  const Heads each = {
      double(extent(in, 0)),   positions, keys, double(heads), double(sizes[0] / heads),
      double(sizes[2] / heads)};
  return 2 * product(in) * double(extent(op.in(1), -1)) + each.flops();
}

TensorTypes projecting_shape(const OpReader& op) {
  const std::int64_t heads = heads_of(op, "num_heads");
  const auto sizes = projected(op);
  const Shape &in = op.in(0), &past = op.in(past_input(op));
  const DataType type = op.input(0).type;
  const std::int64_t positions = extent(in, 1);
  Shape present = {2, extent(in, 0), heads, positions, sizes[0] / heads};
  if (past.size() == 5) present = {past[0], past[1], past[2], added(past[3], positions), past[4]};
  return {{type, {extent(in, 0), positions, sizes[2]}}, {type, present}};
}

BatchAnswer projecting_batch(BatchFlow& flow) {
  bool follows = flow.axis(0) == 0;
  for (std::size_t i = 1; i < flow.op.input_count(); ++i) {
    const bool is_past = i == past_input(flow.op);
    follows = (is_past ? flow.requires_batch(i, 1) : flow.axis(i) < (i > 2 ? 1 : 0)) && follows;
  }
  if (follows && flow.op.output_count() > 1) flow.set(1, flow.on(1));
  return flow.on_if(follows, 0);
}

OpRule projecting_attention() {
  OpRule rule = attention(projecting_shape, projecting_flops, 0);
  rule.min_inputs = 2;
  rule.batch = projecting_batch;
  rule.gradient = gradients({{"GradInput", "grad_input", 0, {x(1), y(0)}},
                             {"GradWeight", "grad_weight", 1, {x(0)}},
                             {"GradBias", "grad_bias", 2, {}}});
  rule.differentiable = inputs({0, 1, 2});
  rule.gradient_work = 1;
  return rule;
}

// ---- beside attention

// Words, segments, three tables (words, positions, segments), scale and shift, mask: looked up,
// added and normalised.
TensorTypes embedded_shape(const OpReader& op) {
  const Shape& words = op.in(0);
  const DataType type = op.input(2).type;
  const Shape result = {extent(words, 0), extent(words, 1), extent(op.in(2), 1)};
  return {{type, result}, {DataType::I32, {extent(words, 0)}}, {type, result}};
}

OpRule embedding() {
  return {.min_inputs = 4,
          .shape = embedded_shape,
          .flops = per_element(kNormalization + 2),
          .batch = samples_first(0),
          .gradient = gradients({{"GradWords", "grad_words", 2, {x(0)}},
                                 {"GradPositions", "grad_positions", 3, {}},
                                 {"GradSegments", "grad_segments", 4, {x(1)}},
                                 {"GradScale", "grad_scale", 5, {y(0)}},
                                 {"GradShift", "grad_shift", 6, {}}}),
          .differentiable = inputs({2, 3, 4, 5, 6}),
          .lookups = inputs({2, 3, 4})};
}

}  // namespace

OpRules attention_rules() {
  OpRule onnx = attention(
      onnx_attention_shape, [](const OpReader& op) { return onnx_heads(op).flops(); },
      inputs({1, 2, 4, 5}));
  onnx.min_inputs = 3;
  onnx.differentiable = inputs({0, 1, 2});
  return {
      {{"Attention"}, std::move(onnx)},
      {{"GroupQueryAttention"}, packed_attention({"kv_num_heads", 3}, inputs({1, 2, 3, 4}))},
      {{"MultiHeadAttention"}, packed_attention({"num_heads", 6}, inputs({1, 2, 6, 7}))},
      {{"ProjectedAttention", "QAttention"}, projecting_attention()},
      {{"EmbedLayerNormalization"}, embedding()},
      // x and tables of sines; the places of the positions carry the samples, too.
      {{"RotaryEmbedding"},
       {.min_inputs = 3,
        .flops = per_element(kRotation),
        .batch = samples_first(0),
        .gradient = gradient({x(1), x(2), x(3)})}},
  };
}

}  // namespace strato
