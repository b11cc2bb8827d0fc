#include "plugins/importers/transformers/build/attention.h"

#include <bit>
#include <cmath>
#include <limits>

namespace strato::transformers_import {
namespace {

constexpr std::int64_t kElementAxis = 3;  // of [batch, heads, positions, elements]

struct Heads {
  TensorId query, key, value;  // [batch, heads, positions, elements]
};

// Writes one attention of one layer.
class AttentionWriter {
 public:
  AttentionWriter(Writer& writer, const Attention& attention, const Shared& shared,
                  const std::string& prefix)
      : to_(writer), a_(attention), shared_(shared), prefix_(prefix) {}

  Heads plain(TensorId x, TensorId memory) {
    Heads heads;
    heads.query = by_heads(a_.query, x, a_.heads, a_.size);
    heads.key = by_heads(a_.key, memory, a_.key_heads, a_.size);
    heads.value = by_heads(a_.value, memory, a_.key_heads, a_.value_size);
    if (!a_.query_norm.empty()) heads.query = to_.normalized(prefix_ + a_.query_norm, heads.query);
    if (!a_.key_norm.empty()) heads.key = to_.normalized(prefix_ + a_.key_norm, heads.key);
    if (a_.turned > 0) {
      heads.query = turned(a_.query.name, heads.query);
      heads.key = turned(a_.key.name, heads.key);
    }
    return heads;
  }

  Heads latent(TensorId x) {
    const Latent& latent = *a_.latent;
    Heads heads;
    heads.query = latent_query(latent, x);
    const Linear down = {a_.scope + ".kv_a_proj_with_mqa", a_.key.bias};
    const TensorId both = to_.linear(down, prefix_, x, latent.key_rank + latent.turned);
    const auto parts = split(down.name, both, 2, latent.key_rank, latent.turned);
    const TensorId key = shared_key(parts[1], latent.turned);
    const TensorId vector = to_.normalized(prefix_ + a_.scope + ".kv_a_layernorm", parts[0]);
    const Linear up = {a_.scope + ".kv_b_proj"};
    const TensorId made = by_heads(up, vector, a_.heads, latent.plain + a_.value_size);
    const auto own = split(up.name, made, kElementAxis, latent.plain, a_.value_size);
    heads.key = joined(a_.scope + "/key", own[0], key);
    heads.value = own[1];
    return heads;
  }

  TensorId flash(const Heads& heads, bool causal) {
    std::vector<TensorId> inputs = {heads.query, heads.key, heads.value};
    if (shared_.bias.valid()) inputs.push_back(shared_.bias);
    Attributes attributes;
    if (causal) attributes.emplace_back("is_causal", kOne);
    if (a_.scale) attributes.emplace_back("scale", *a_.scale);
    if (a_.cap > 0) attributes.emplace_back("softcap", a_.cap);
    return to_.op(name("attention"), "Attention", std::move(inputs), std::move(attributes));
  }

  TensorId written_out(const Heads& heads) {
    const TensorId key =
        to_.transpose(name("key_turned"), repeated("key", heads.key, a_.size), {0, 1, 3, 2});
    const TensorId value = repeated("value", heads.value, a_.value_size);
    TensorId scores = to_.op(name("scores"), "MatMul", {heads.query, key});
    scores = to_.scaled(name("scale"), scores,
                        a_.scale.value_or(1 / std::sqrt(static_cast<double>(a_.size))));
    scores = capped(to_, prefix_ + a_.scope + "/cap", scores, a_.cap);
    if (shared_.bias.valid()) scores = to_.add(name("bias"), scores, shared_.bias);
    if (shared_.mask.valid()) scores = to_.add(name("mask"), scores, shared_.mask);
    TensorId weights = to_.op(name("softmax"), "Softmax", {scores}, {{"axis", -kOne}});
    weights = to_.dropped(name("dropout_of_weights"), weights, a_.dropout);
    return to_.op(name("context"), "MatMul", {weights, value});
  }

  TensorId output(TensorId by_heads, std::int64_t width) {
    const TensorId x = to_.transpose(name("by_positions"), by_heads, {0, 2, 1, 3});
    const Shape shape = to_.shape(x);
    const TensorId merged = to_.reshape(name("merged"), x, {shape[0], shape[1], -kOne});
    return to_.linear(a_.output, prefix_, merged, width);
  }

 private:
  std::string name(const std::string& what) const { return prefix_ + a_.scope + "/" + what; }

  TensorId by_heads(const Linear& layer, TensorId x, std::int64_t heads, std::int64_t size) {
    const std::string own = prefix_ + layer.name;
    const TensorId made = to_.linear(layer, prefix_, x, heads * size);
    const Shape shape = to_.shape(x);
    const TensorId split = to_.reshape(own + "/split", made, {shape[0], shape[1], heads, size});
    return to_.transpose(own + "/by_heads", split, {0, 2, 1, 3});
  }

  TensorId turned(const std::string& of, TensorId x) {
    Attributes attributes;
    if (a_.interleaved) attributes.emplace_back("interleaved", kOne);
    if (a_.turned < to_.shape(x).back()) attributes.emplace_back("rotary_embedding_dim", a_.turned);
    return to_.op(prefix_ + of + "/turned", "RotaryEmbedding",
                  {x, shared_.cosines, shared_.sines, shared_.places}, std::move(attributes));
  }

  // The first `first` elements along the axis, and the `second` ones behind them.
  std::vector<TensorId> split(const std::string& of, TensorId x, std::int64_t axis,
                              std::int64_t first, std::int64_t second) {
    Shape one = to_.shape(x), other = one;
    one[static_cast<std::size_t>(axis)] = first;
    other[static_cast<std::size_t>(axis)] = second;
    return to_.ops(prefix_ + of + "/parts", "Split", {x, to_.integers({first, second})},
                   {{"axis", axis}}, {one, other});
  }
  TensorId joined(const std::string& what, TensorId a, TensorId b) {
    return to_.op(prefix_ + what, "Concat", {a, b}, {{"axis", kElementAxis}});
  }

  TensorId latent_query(const Latent& latent, TensorId x) {
    Linear layer = {a_.scope + ".q_proj"};
    if (latent.query_rank > 0) {
      const Linear down = {a_.scope + ".q_a_proj", a_.query.bias};
      x = to_.linear(down, prefix_, x, latent.query_rank);
      x = to_.normalized(prefix_ + a_.scope + ".q_a_layernorm", x);
      layer.name = a_.scope + ".q_b_proj";
    }
    const TensorId all = by_heads(layer, x, a_.heads, a_.size);
    const auto parts = split(layer.name, all, kElementAxis, latent.plain, latent.turned);
    return joined(a_.scope + "/query", parts[0], turned(layer.name, parts[1]));
  }

  // [batch, positions, turned] -> [batch, heads, positions, turned]: the same for each head.
  TensorId shared_key(TensorId x, std::int64_t size) {
    const Shape shape = to_.shape(x);
    const TensorId one = to_.reshape(name("shared_key"), x, {shape[0], kOne, shape[1], size});
    const TensorId key = turned(a_.scope + "/shared_key", one);
    return to_.op(name("shared_key/expanded"), "Expand",
                  {key, to_.integers({kOne, a_.heads, kOne, kOne})});
  }

  // A copy of the keys or values for each head of queries.
  TensorId repeated(const std::string& what, TensorId x, std::int64_t size) {
    const std::int64_t times = a_.heads / a_.key_heads;
    if (times == 1) return x;
    const Shape shape = to_.shape(x);
    const TensorId apart =
        to_.reshape(name(what + "_apart"), x, {shape[0], a_.key_heads, kOne, shape[2], size});
    const TensorId many = to_.op(name(what + "_repeated"), "Expand",
                                 {apart, to_.integers({kOne, kOne, times, kOne, kOne})});
    return to_.reshape(name(what + "_of_heads"), many, {shape[0], a_.heads, shape[2], size});
  }

  Writer& to_;
  const Attention& a_;
  const Shared& shared_;
  const std::string& prefix_;
};

// Heads beyond a power of two have the slopes between.
double slope(std::int64_t head, std::int64_t heads) {
  constexpr double kLast = 8;
  const auto even = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const double place =
      head < even ? static_cast<double>(head) + 1 : static_cast<double>(head - even) + 0.5;
  return std::exp2(-kLast * place / static_cast<double>(even));
}

}  // namespace

void add_rotation(Writer& writer, Shared& shared, const Description& model, std::int64_t count) {
  const std::int64_t turned = model.stack.attention.turned, pairs = turned / 2;
  std::vector<double> speeds;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const double share = static_cast<double>(2 * i) / static_cast<double>(turned);
    speeds.push_back(std::pow(model.theta, -share));
  }
  const auto angle = [&](std::int64_t i) {
    const std::int64_t place = i / pairs;
    return static_cast<double>(place) * speeds[static_cast<std::size_t>(i % pairs)];
  };
  shared.cosines = writer.table("rotary_emb/cosines", {count, pairs},
                                [&](std::int64_t i) { return std::cos(angle(i)); });
  shared.sines = writer.table("rotary_emb/sines", {count, pairs},
                              [&](std::int64_t i) { return std::sin(angle(i)); });
  shared.places = writer.integer_table("rotary_emb/position_ids", {kOne, count},
                                       [](std::int64_t i) { return i; });
}

TensorId slopes(Writer& writer, std::int64_t heads, std::int64_t count) {
  return writer.table("alibi", {kOne, heads, kOne, count}, [=](std::int64_t i) {
    return slope(i / count, heads) * static_cast<double>(i % count);
  });
}

TensorId causal_mask(Writer& writer, std::int64_t count) {
  return writer.table("causal_mask", {count, count}, [=](std::int64_t i) {
    return i % count > i / count ? -std::numeric_limits<double>::infinity() : 0.0;
  });
}

TensorId write_attention(Writer& writer, const Attention& attention, const Shared& shared,
                         const std::string& prefix, TensorId x, TensorId memory, bool causal) {
  AttentionWriter part(writer, attention, shared, prefix);
  const std::int64_t width = writer.shape(x).back();
  const Heads heads = attention.latent ? part.latent(x) : part.plain(x, memory);
  return part.output(shared.flash ? part.flash(heads, causal) : part.written_out(heads), width);
}

}  // namespace strato::transformers_import
