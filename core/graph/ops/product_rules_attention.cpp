#include <algorithm>

#include "core/graph/ops/product_rules.h"

namespace strato {
namespace {

constexpr double kSoftmax = 13, kRotation = 6, kNormalization = 9;

// The extents of one attention: heads of queries and of keys, what a head has of each query and
// key, and of each value.
struct Heads {
  std::int64_t batch = 1, queries = 1, keys = 1, count = 1, key_count = 1, size = 1, value = 1;
  std::int64_t hidden = 0;  // pairs of a query and a key that a causal attention does not look at

  double flops() const {
    return double(batch) * double(count) * (double(queries) * double(keys) - double(hidden)) *
           (2 * double(size) + 2 * double(value) + kSoftmax);
  }
};
using HeadsRule = Heads (*)(const OpReader&);

// Query i looks at no key beyond `past` + i: what is right of the diagonal is never computed.
std::int64_t hidden_pairs(std::int64_t queries, std::int64_t keys, std::int64_t past) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  const std::int64_t longest = std::min(keys - past - 1, kMost);  // keys that the first has not
  const std::int64_t rows = std::max<std::int64_t>(0, std::min({longest, queries, kMost}));
  return rows * longest - rows * (rows - 1) / 2;
}

std::int64_t heads_of(const OpReader& op, std::string_view attribute) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  return std::clamp<std::int64_t>(op->integer(attribute, 1), 1, kMost);
}

std::int64_t past_of(const OpReader& op, std::size_t input) {
  return op.in(input).size() == 4 ? op.in(input)[2] : 0;
}

// Attention of ONNX: query, key, value, mask, past key, past value, lengths; [batch, heads,
// positions, size] or [batch, positions, heads x size].
Heads onnx_heads(const OpReader& op) {
  const auto count = [&op](std::size_t input) {
    const bool split = op.in(input).size() == 4;
    return split ? op.in(input)[1] : heads_of(op, input == 0 ? "q_num_heads" : "kv_num_heads");
  };
  const auto size = [&](std::size_t input) {
    const Shape& shape = op.in(input);
    return shape.size() == 4 ? shape[3] : extent(shape, 2) / count(input);
  };
  const auto positions = [&op](std::size_t input) {
    return extent(op.in(input), op.in(input).size() == 4 ? 2 : 1);
  };
  Heads heads = {extent(op.in(0), 0),
                 positions(0),
                 added(positions(1), past_of(op, 4)),
                 count(0),
                 count(1),
                 size(0),
                 size(2)};
  if (op->integer("is_causal", 0) != 0)
    heads.hidden = hidden_pairs(heads.queries, heads.keys, past_of(op, 4));
  return heads;
}

// MultiHeadAttention and GroupQueryAttention of com.microsoft: [batch, positions, heads x size];
// without a key, the query holds all three.
Heads packed_heads(const OpReader& op, std::string_view key_heads, std::size_t past_key) {
  const Shape &query = op.in(0), &key = op.in(1), &value = op.in(2);
  Heads heads = {.batch = extent(query, 0),
                 .queries = extent(query, 1),
                 .keys = extent(query, 1),
                 .count = heads_of(op, "num_heads"),
                 .key_count = heads_of(op, key_heads)};
  if (op.has_input(1))
    heads.size = extent(query, 2) / heads.count;
  else
    heads.size =
        query.size() == 5 ? query[4] : extent(query, 2) / (heads.count + 2 * heads.key_count);
  heads.value = heads.size;
  if (op.has_input(1)) {
    const bool split = key.size() == 4;  // [batch, heads, positions, size]: of a cross attention
    heads.keys = extent(key, split ? 2 : 1);
    if (op.has_input(2))
      heads.value = split ? extent(value, 3) : extent(value, 2) / heads.key_count;
  }
  heads.keys = added(heads.keys, past_of(op, past_key));
  return heads;
}

Heads multi_head(const OpReader& op) { return packed_heads(op, "num_heads", 6); }
Heads group_query(const OpReader& op) { return packed_heads(op, "kv_num_heads", 3); }

// The result as the query is, keys and values with what was there before, and the scores.
TensorTypes attention_shape(const OpReader& op, const Heads& h) {
  const DataType type = op.input(0).type;
  Shape result = {h.batch, h.queries, multiplied(h.count, h.value)};
  if (op.in(0).size() == 4) result = {h.batch, h.count, h.queries, h.value};
  return {{type, std::move(result)},
          {type, {h.batch, h.key_count, h.keys, h.size}},
          {type, {h.batch, h.key_count, h.keys, h.value}},
          {type, {h.batch, h.count, h.queries, h.keys}}};
}

// Query, key and value in one op; the bias that com.microsoft adds to them by itself.
void attention_gradient(GradientWriter& writer) {
  const std::vector<std::size_t> wanted = writer.wanted(3);
  if (!wanted.empty()) writer.add("Grad", "grad", {x(0), x(1), x(2), y(0)}, wanted);
  if (writer.wants(3)) writer.add("GradBias", "grad_bias", {}, {3});
}

// As flash attention has it (Dao et al. 2022, algorithms 1 and 2): of the scores only the logarithm
// of each row's sum is kept, and the backward pass computes them again: five products for two.
constexpr double kFlashGradient = 2.5;
void flash_gradient(GradientWriter& writer) {
  const OpReader& forward = writer.forward();
  const Heads heads = onnx_heads(forward);
  const bool is_double = forward.input(0).type == DataType::F64;
  const std::size_t sums = writer.save_output("log_sums", is_double ? DataType::F64 : DataType::F32,
                                              {heads.batch, heads.count, heads.queries});
  std::vector<Saved> reads = {x(0), x(1), x(2), y(0), y(sums)};
  if (forward.has_input(3)) reads.push_back(x(3));
  writer.add("Grad", "grad", reads, writer.wanted(3));
}

constexpr std::size_t kHeadAxis = 1, kPositionAxis = 2;

// Each head is computed on its own, where heads are an axis, and each query beside all keys: what a
// context that is divided has gathered (Llama 3 Team 2024, 3.3.2). Where several heads of queries
// share one of keys, the axes of the letter differ in extent.
std::optional<AxisLetters> attention_axes(const OpReader& op) {
  AxisLetters letters = all_mixed(op);
  const Heads heads = onnx_heads(op);
  for (std::size_t i = 0; i < 3; ++i)
    if (op.in(i).size() != 4) return letters;
  if (heads.key_count < 1 || heads.count % heads.key_count != 0) return letters;
  for (std::size_t i = 0; i < std::min<std::size_t>(letters.inputs.size(), 4); ++i)
    if (letters.inputs[i].size() == 4) letters.inputs[i][kHeadAxis] = 'h';
  letters.inputs[0][kPositionAxis] = 'q';
  if (letters.inputs.size() > 3 && letters.inputs[3].size() >= 2)
    letters.inputs[3][letters.inputs[3].size() - 2] = 'q';
  for (std::size_t i = 0; i < letters.outputs.size(); ++i) {
    std::string& output = letters.outputs[i];
    if (output.size() >= 3) output[kHeadAxis] = 'h';
    // The result and the rows' sums; keys and values that are handed on have positions of theirs.
    if (output.size() == 3 || (i == 0 && output.size() == 4)) output[kPositionAxis] = 'q';
  }
  return letters;
}

std::optional<AxisLetters> rotated_axes(const OpReader& op) {
  AxisLetters letters = all_mixed(op);
  if (op.in(0).size() != 4) return letters;
  letters.inputs[0][kHeadAxis] = 'h';
  const auto has_positions = [&](std::size_t i) {  // [batch, positions, pairs], or the positions
    return op.in(i).size() >= 2 && op.in(i)[1] == op.in(0)[kPositionAxis] &&
           letters.inputs[i].size() == op.in(i).size();
  };
  const bool listed = op.has_input(3);
  if (is_floating(op.input(1).type) &&
      (listed ? has_positions(3) : has_positions(1) && has_positions(2))) {
    letters.inputs[0][kPositionAxis] = 'p';
    for (std::size_t i = listed ? 3 : 1; i < (listed ? 4 : 3); ++i) letters.inputs[i][1] = 'p';
  }
  set_outputs(letters, letters.inputs[0]);
  return letters;
}

OpRule attention(ShapeRule shape, FlopsRule flops, InputSet samples) {
  return {.family = OpFamily::MatMul,
          .shape = std::move(shape),
          .flops = std::move(flops),
          .batch = samples_first(samples, all_inputs),
          .gradient = attention_gradient,
          .differentiable = inputs({0, 1, 2, 3}),
          .gradient_work = 2};
}

OpRule attention_of(HeadsRule heads, InputSet samples) {
  return attention([heads](const OpReader& op) { return attention_shape(op, heads(op)); },
                   [heads](const OpReader& op) { return heads(op).flops(); }, samples);
}

// Attention of com.microsoft: x, weights [in, query + key + value], bias, mask, past
// [2, batch, heads, positions, size]. The products with the weights are inside.

std::vector<std::int64_t> projected(const OpReader& op) {
  const auto given = op->integers("qkv_hidden_sizes");
  const std::int64_t third = extent(op.in(1), -1) / 3;
  return given.size() == 3 ? given : std::vector<std::int64_t>{third, third, third};
}

std::size_t past_input(const OpReader& op) { return op->type == "QAttention" ? 8 : 4; }

Heads projected_heads(const OpReader& op) {
  const Shape &in = op.in(0), &past = op.in(past_input(op));
  const std::int64_t heads = heads_of(op, "num_heads"), positions = extent(in, 1);
  const auto sizes = projected(op);
  const std::int64_t keys = added(positions, past.size() == 5 ? past[3] : 0);
  return {extent(in, 0), positions, keys, heads, heads, sizes[0] / heads, sizes[2] / heads};
}

double projecting_flops(const OpReader& op) {
  return 2 * product(op.in(0)) * double(extent(op.in(1), -1)) + projected_heads(op).flops();
}

TensorTypes projecting_shape(const OpReader& op) {
  const Heads heads = projected_heads(op);
  const DataType type = op.input(0).type;
  return {{type, {heads.batch, heads.queries, projected(op)[2]}},
          {type, {2, heads.batch, heads.count, heads.keys, heads.size}}};
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
          .left_out = inputs({1}),
          .shape = embedded_shape,
          .flops = per_element(kNormalization + 2),
          .batch = samples_first(0, all_inputs),
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
  OpRule onnx = attention_of(onnx_heads, inputs({1, 2, 4, 5}));
  onnx.min_inputs = 3;
  onnx.axes = attention_axes;
  onnx.gradient = flash_gradient;
  onnx.differentiable = inputs({0, 1, 2});
  onnx.gradient_work = kFlashGradient;
  return {
      {{"Attention"}, std::move(onnx)},
      {{"GroupQueryAttention"}, attention_of(group_query, inputs({1, 2, 3, 4}))},
      {{"MultiHeadAttention"}, attention_of(multi_head, inputs({1, 2, 6, 7}))},
      {{"ProjectedAttention", "QAttention"}, projecting_attention()},
      {{"EmbedLayerNormalization"}, embedding()},
      // x and tables of sines; the places of the positions carry the samples, too.
      {{"RotaryEmbedding"},
       {.min_inputs = 3,
        .axes = rotated_axes,
        .flops = per_element(kRotation),
        .batch = samples_first(0, all_inputs),
        .gradient = gradient({x(1), x(2), x(3)})}},
  };
}

}  // namespace strato
