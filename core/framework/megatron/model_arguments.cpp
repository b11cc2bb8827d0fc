#include "core/framework/megatron/model_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "core/base/at.h"

namespace strato::frameworks {
namespace {

using OpsOfPlace = std::vector<const Op*>;

template <class Is>
const Op* first_op(const OpsOfPlace& ops, const Is& is) {
  const auto found = std::ranges::find_if(ops, [&](const Op* op) { return is(*op); });
  return found == ops.end() ? nullptr : *found;
}
const Op* of_type(const OpsOfPlace& ops, std::string_view type) {
  return first_op(ops, [&](const Op& op) { return op.type == type; });
}
const Op* named(const OpsOfPlace& ops, std::string_view end) {
  return first_op(ops, [&](const Op& op) { return op.name.ends_with(end); });
}
const Op* activation_in(const OpsOfPlace& ops, bool shared) {
  return first_op(ops, [&](const Op& op) {
    return op.name.ends_with("/activation") &&
           (op.name.find("shared_expert") != std::string::npos) == shared;
  });
}
bool has_experts(const OpsOfPlace& ops) { return of_type(ops, "DispatchTokens") != nullptr; }

double number_in(const Tensor& tensor, std::int64_t index) {
  const auto size = static_cast<std::size_t>(size_of(tensor.type));
  const auto begin = static_cast<std::size_t>(index) * size;
  if (!tensor.data || tensor.data->size() < begin + size) return 0;
  std::uint32_t bits = 0;
  if (tensor.type == DataType::F32) {
    std::memcpy(&bits, tensor.data->data() + begin, 4);
  } else if (tensor.type == DataType::BF16) {
    std::uint16_t high = 0;
    std::memcpy(&high, tensor.data->data() + begin, 2);
    bits = std::uint32_t{high} << 16;
  }
  float number = 0;
  std::memcpy(&number, &bits, 4);
  return number;
}

class ModelReader {
 public:
  ModelReader(const Graph& graph, const ModelLayers& layers)
      : graph_(graph), layers_(layers), ops_(at(layers.count) + 2) {
    for (const OpId op : graph.ops().ids())
      if (graph.op(op).phase == Phase::Forward)
        ops_[at(layers.place_of[op.index()])].push_back(&graph.op(op));
  }

  ModelArguments read() && {
    add("--num-layers", layers_.count);
    read_table();
    read_attention();
    read_feed_forward();
    read_experts();
    read_norms();
    read_positions();
    read_type();
    return std::move(found_);
  }

 private:
  template <class Value>
  void add(const char* name, const Value& value) {
    found_.arguments.push_back({name, fmt::format("{}", value)});
  }
  void flag(const char* name) { found_.arguments.push_back({name, ""}); }
  void unknown(std::string what) { found_.unknown.push_back(std::move(what)); }

  const OpsOfPlace& in_front() const { return ops_.front(); }
  const OpsOfPlace& layer(std::int32_t number) const { return ops_[at(number) + 1]; }
  const OpsOfPlace& last_layer() const { return layer(layers_.count - 1); }

  const Shape& input_shape(const Op& op, std::size_t input) const {
    static const Shape kNone;
    const bool there = input < op.inputs.size() && op.inputs[input].valid();
    return there ? graph_.tensor(op.inputs[input]).shape : kNone;
  }
  const Shape& output_shape(const Op& op) const { return graph_.tensor(op.outputs[0]).shape; }

  // ---- in front of the layers and behind them

  void read_table() {
    const Op* table = of_type(in_front(), "Gather");
    if (table == nullptr || input_shape(*table, 0).size() != 2)
      return unknown("the table of words is not found: add --hidden-size and --vocab-size");
    hidden_ = input_shape(*table, 0)[1];
    add("--hidden-size", hidden_);
    vocabulary_ = input_shape(*table, 0)[0];
  }

  void read_norms() {
    const Op* norm = of_type(last_layer(), "RMSNormalization");
    if (norm == nullptr) norm = of_type(last_layer(), "LayerNormalization");
    if (norm == nullptr)
      return unknown("norms are not found: add --normalization and --norm-epsilon");
    add("--normalization", norm->type == "RMSNormalization" ? "RMSNorm" : "LayerNorm");
    add("--norm-epsilon", norm->real("epsilon", 1e-5));
  }

  void read_positions() {
    const Op* turned = of_type(last_layer(), "RotaryEmbedding");
    const Op* table = named(in_front(), "/positions");
    if (turned != nullptr) {
      add("--position-embedding-type", "rope");
      read_rotary_base(*turned);
      add("--max-position-embeddings", sequence_);
    } else if (table != nullptr) {
      add("--position-embedding-type", "learned_absolute");
      add("--max-position-embeddings", sequence_);
    } else {
      unknown("positions are neither turned nor a table: add --position-embedding-type");
    }
    if (!layers_.tied) flag("--untie-embeddings-and-output-weights");
    if (vocabulary_ > 0) add("--vocab-size", vocabulary_);
  }

  // Pair i of n turns by base^(-i / n) radians a position, whose sine is in the table: the base
  // that is nearest to all of them by least squares of logarithms.
  void read_rotary_base(const Op& turned) {
    const Tensor* sines = nullptr;
    for (const TensorId input : turned.inputs)
      if (input.valid() && graph_.tensor(input).name.ends_with("rotary_emb/sines"))
        sines = &graph_.tensor(input);
    double sum = 0, weight = 0;
    const std::int64_t pairs = sines == nullptr ? 0 : sines->shape.back();
    for (std::int64_t i = 1; i < pairs; ++i) {
      const double sine = number_in(*sines, pairs + i);
      if (sine <= 0) continue;
      const double part = static_cast<double>(i) / static_cast<double>(pairs);
      sum -= part * std::log(std::asin(sine));
      weight += part * part;
    }
    if (weight == 0)
      return unknown("--rotary-base is not found: add it (rope_theta of the config)");
    const double base = std::exp(sum / weight);
    const int digits = sines->type == DataType::F32 ? 3 : 2;  // that rounding leaves
    const double last_digit = std::pow(10, std::floor(std::log10(base)) + 1 - digits);
    add("--rotary-base", static_cast<std::int64_t>(std::round(base / last_digit) * last_digit));
    unknown(
        fmt::format("--rotary-base is read to {} digits, and scaled rotations (rope_scaling) "
                    "are not read: see that they are the config's",
                    digits));
  }

  void read_type() {
    const DataType type = graph_.tensor(last_layer().back()->outputs[0]).type;
    if (type == DataType::BF16) flag("--bf16");
    if (type == DataType::F16) flag("--fp16");
    if (sequence_ > 0) add("--seq-length", sequence_);
  }

  // ---- of a layer

  void read_attention() {
    const Op* attention = of_type(last_layer(), "Attention");
    if (attention == nullptr || input_shape(*attention, 0).size() != 4) {
      unknown(
          "attention is written out: add --num-attention-heads, --kv-channels, "
          "--num-query-groups and --seq-length");
      return;
    }
    const Shape &query = input_shape(*attention, 0), &value = input_shape(*attention, 2);
    const std::int64_t heads = query[1], key_heads = input_shape(*attention, 1)[1];
    sequence_ = query[2];
    add("--num-attention-heads", heads);
    if (const Op* latent = named(last_layer(), ".kv_a_proj_with_mqa"); latent != nullptr)
      return read_latent_attention(*latent, query[3], value[3]);
    if (hidden_ != heads * query[3]) add("--kv-channels", query[3]);
    if (key_heads != heads) {
      flag("--group-query-attention");
      add("--num-query-groups", key_heads);
    }
    if (named(last_layer(), ".q_norm") != nullptr) flag("--qk-layernorm");
    has_bias_of_queries_ = named(last_layer(), "q_proj/bias") != nullptr;
  }

  void read_latent_attention(const Op& down, std::int64_t key_size, std::int64_t value_size) {
    const Op* norm = named(last_layer(), ".kv_a_layernorm");
    if (norm == nullptr) return unknown("add what --multi-latent-attention needs");
    const std::int64_t rank = input_shape(*norm, 0).back();
    const std::int64_t turned = output_shape(down).back() - rank;
    flag("--multi-latent-attention");
    if (const Op* query = named(last_layer(), ".q_a_proj"); query != nullptr)
      add("--q-lora-rank", output_shape(*query).back());
    add("--kv-lora-rank", rank);
    add("--qk-head-dim", key_size - turned);
    add("--qk-pos-emb-head-dim", turned);
    add("--v-head-dim", value_size);
    flag("--qk-layernorm");  // of the short vectors
  }

  void read_feed_forward() {
    const Op* activation = nullptr;
    for (std::int32_t i = 0; i < layers_.count && activation == nullptr; ++i)
      if (!has_experts(layer(i))) activation = activation_in(layer(i), false);
    const Op* any = activation != nullptr ? activation : activation_in(last_layer(), false);
    if (any == nullptr) return unknown("add --ffn-hidden-size and the activation function");
    add("--ffn-hidden-size", output_shape(*any).back());
    const bool gated = std::ranges::any_of(
        ops_, [](const OpsOfPlace& ops) { return named(ops, "/gated") != nullptr; });
    tell_of_activation(*any, gated);
    const bool biased = first_op(last_layer(), [&](const Op& op) {
                          return op.name.ends_with("/bias") && !op.name.ends_with("q_proj/bias") &&
                                 !op.name.ends_with("k_proj/bias") &&
                                 !op.name.ends_with("v_proj/bias");
                        }) != nullptr;
    if (!biased) flag("--disable-bias-linear");
    if (!biased && has_bias_of_queries_) flag("--add-qkv-bias");
  }

  void tell_of_activation(const Op& op, bool gated) {
    const bool is_gelu = op.type == "Gelu", is_swish = op.type == "Swish";
    if (is_swish && gated) return flag("--swiglu");
    if (op.type == "QuickGelu" && gated) return flag("--quick-geglu");
    if (is_gelu && !gated) return;  // what Megatron-LM does unasked
    unknown(fmt::format("the feed-forward part has {}{}: no argument is known for it", op.type,
                        gated ? " with a gate" : ""));
  }

  void read_experts() {
    const Op* sent = of_type(last_layer(), "DispatchTokens");
    if (sent == nullptr) return;
    add("--num-experts", sent->integer("experts", 0));
    add("--moe-router-topk", input_shape(*sent, 1).back());
    if (const Op* activation = activation_in(last_layer(), false); activation != nullptr)
      add("--moe-ffn-hidden-size", output_shape(*activation).back());
    if (const Op* shared = activation_in(last_layer(), true); shared != nullptr)
      add("--moe-shared-expert-intermediate-size", output_shape(*shared).back());
    if (named(last_layer(), "/scores") != nullptr) {
      add("--moe-router-score-function", "sigmoid");
      flag("--moe-router-enable-expert-bias");
    }
    read_which_layers_have_experts();
    flag("--moe-grouped-gemm");
    unknown(
        "routers of the model may limit groups of experts, scale weights and add a loss: "
        "see --moe-router-num-groups, --moe-router-topk-scaling-factor, --moe-aux-loss-coeff");
    unknown("planned is that each expert computes as many tokens, and drops the others");
  }

  void read_which_layers_have_experts() {
    std::string pattern;
    for (std::int32_t first = 0, last = 0; first < layers_.count; first = last) {
      const bool has = has_experts(layer(first));
      while (last < layers_.count && has_experts(layer(last)) == has) ++last;
      pattern += fmt::format("{}[{}]*{}", pattern.empty() ? "" : "+", has ? 1 : 0, last - first);
    }
    if (pattern.find("[0]") != std::string::npos) add("--moe-layer-freq", "(" + pattern + ")");
  }

  const Graph& graph_;
  const ModelLayers& layers_;
  std::vector<OpsOfPlace> ops_;  // of the forward pass, by place
  std::int64_t hidden_ = 0, vocabulary_ = 0, sequence_ = 0;
  bool has_bias_of_queries_ = false;
  ModelArguments found_;
};

}  // namespace

ModelArguments model_arguments(const Graph& graph, const ModelLayers& layers) {
  return ModelReader(graph, layers).read();
}

}  // namespace strato::frameworks
