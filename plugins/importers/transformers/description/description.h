// A transformer, whatever its family calls its parts: what a configuration is read into, and what
// the graph is written from. Plain values.
//
// Names are those of Hugging Face's checkpoints. Those of parts of a layer follow the layer's own
// ("model.layers.0." + "self_attn.q_proj"); an empty name: there is no such part. Counts are of
// elements, heads, layers or rows, all of them positive where the part is there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/value/graph.h"

namespace strato::transformers_import {

// Bounds of what a configuration may ask for: products of two stay within 63 bits.
inline constexpr std::int64_t kMostWidth = std::int64_t{1} << 24;
inline constexpr std::int64_t kMostHeads = std::int64_t{1} << 16;
inline constexpr std::int64_t kMostLayers = 10'000;
inline constexpr std::int64_t kMostExperts = std::int64_t{1} << 16;
inline constexpr std::int64_t kMostRows = std::int64_t{1} << 31;  // of tables of words, places

struct Linear {
  std::string name;
  bool bias = false;
};

enum class Activation { Gelu, GeluByTanh, QuickGelu, Relu, Swish, Tanh };

// Keys and values made of one short vector a token, of DeepSeek-V2 (2024, section 2.1). A head's
// query and key are `plain` elements and `turned` ones, and all heads share the turned ones of the
// key.
struct Latent {
  std::int64_t query_rank = 0;  // 0: queries are made of the token itself
  std::int64_t key_rank = 0, plain = 0, turned = 0;
};

struct Attention {
  std::string scope;  // "self_attn"
  std::int64_t heads = 1, key_heads = 1;
  std::int64_t size = 1, value_size = 1;  // of a head: of its queries and keys, of its values
  Linear query, key, value, output;
  std::string query_norm, key_norm;  // of each head
  std::int64_t turned = 0;           // the leading elements of a head that positions turn
  bool interleaved = false;          // pairs are neighbours, not half a head apart
  std::optional<double> scale;       // of the scores; nothing: one over the root of `size`
  double cap = 0;                    // of the scores, by the hyperbolic tangent; 0: there is none
  double dropout = 0;                // of the weights, where they are written out
  std::optional<Latent> latent;      // in place of query, key and value
};

struct FeedForward {
  std::string scope;  // "mlp"
  std::int64_t width = 1;
  Linear gate, up, down;
  Activation activation = Activation::Swish;  // of the gate's result where there is one
};

enum class Scores { Softmax, Sigmoid };

struct Experts {
  std::string router;
  std::int64_t count = 1, chosen = 1;
  FeedForward each;                   // its weights are stacked: [experts, in, out]
  std::optional<FeedForward> shared;  // computes every token
  std::string shared_gate;            // how much of it, a number a token
  Scores scores = Scores::Softmax;
  bool sum_to_one = false;  // the weights of a token's experts
  double scale = 1;         // of these weights
  std::string correction;   // of Sigmoid: added to the scores where experts are chosen
};

enum class Norm { Layer, Rms };
enum class Order {
  NormFirst,  // x + f(norm(x)); with a second norm: x + norm(f(norm(x)))
  NormLast,   // norm(x + f(x))
  Parallel,   // x + f(norm(x)) + g(norm(x))
};

// Layers that are alike, but that some have experts.
struct Stack {
  std::string layer_prefix;  // "model.layers."
  std::int64_t layers = 1;
  bool causal = true;
  Order order = Order::NormFirst;
  std::string attention_norm, attention_end_norm, feed_norm, feed_end_norm;  // in this order
  Attention attention;
  std::optional<Attention> cross;  // to what the other stack made
  std::string cross_norm;
  FeedForward feed;
  std::optional<Experts> experts;
  std::vector<bool> has_experts;  // by layer; empty: all, where there are any
  std::string final_norm;
  std::string bias_table;  // of T5: a number for each bucket of distances and head
};

enum class Positions { None, Rotary, Table, Slopes, Buckets };

struct Embedding {
  std::string table;
  std::int64_t rows = 1, width = 1;
  double scale = 1;
  std::string project_in, project_out;  // where `width` is not the layers'
  std::string norm;
  double dropout = 0;
  std::string segment_table;
  std::int64_t segments = 0;
};

// Of pixels in place of words: each patch is a token, and one more goes in front of them.
struct Patches {
  std::int64_t image = 1, patch = 1, channels = 1;
  std::string projection, class_token;
};

// What the last layer's result goes through: the parts that are there, in this order.
struct Head {
  bool first_token = false;  // only the first position's
  Linear transform;
  Activation activation = Activation::Gelu;
  std::string norm;
  double dropout = 0;
  std::string scores;  // the product with [width, size]
  std::int64_t size = 0;
  bool tied = false;      // that product is with the table of words
  std::string bias_name;  // of its bias
  double scale = 1;       // of what is scored
  double cap = 0;         // cap * tanh(scores / cap); 0: none
};

struct Description {
  std::string family;
  DataType type = DataType::F32;  // of activations: parameters are F32
  std::int64_t width = 1;
  Norm norm = Norm::Rms;
  double epsilon = 1e-5;
  double dropout = 0;  // of what is added to the residual stream
  Embedding embedding;
  std::optional<Patches> patches;
  Positions positions = Positions::None;
  double theta = 10'000;       // of Rotary
  std::string position_table;  // of Table: its first row that counts, and all of its rows
  std::int64_t first_row = 0, position_rows = 0;
  std::int64_t buckets = 4, farthest = 1;  // of Buckets: how many; beyond, all share the last
  std::int64_t usual_sequence = 1;
  std::optional<Stack> encoder;
  Stack stack;  // the decoder; or the encoder of a model that has nothing else
  Head head;
};

// Pixels: [batch, channels, image, image]; words: [batch, sequence].
std::string input_name(const Description& model);

}  // namespace strato::transformers_import
