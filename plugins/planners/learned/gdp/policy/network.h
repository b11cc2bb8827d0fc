// GDP's policy network (GDP 3): GraphSAGE embeds a graph, a Transformer-XL without positions places
// its units, every unit on its own given the embeddings (Equation 4). On LibTorch, which stays in
// network.cpp and model.cpp.
//
// Embedding, `graph_layers` times: h_N(v) = max over u of sigmoid(W h_u + b) (Equation 2), h_v' =
// relu(f(h_v, h_N(v))) (Equation 3); beyond the paper, a residual connection and a norm. Placement:
// units in graph order in segments; each attends to its segment and to the one before, whose states
// are those of the layer below and get no gradient (segment-level recurrence). Superposition
// (Equation 5): every dense layer of the placement network is fed c(x0) o x, x0 being the
// embeddings and c one more transformer layer.
//
// The paper's last layer has one column a device. Here it is the product with an embedding of the
// choice, made of what is known of its devices and of its index, so that one network serves
// clusters of any size; `paper` keeps the index alone.
//
// Errors: InputError for files. Not thread safe, but for probabilities() on one that does not
// learn.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/at.h"
#include "core/schedule/dag/dag.h"
#include "core/search/api/problem.h"
#include "plugins/planners/learned/kit/network/trained_network.h"

namespace strato::gdp {

// ---- The features that GDP's network sees of a graph and of the places that its ops may go to
// (GDP 3.1: "meta features, e.g. operation type, output shape, adjacent node ids"), as flat arrays,
// and nothing of LibTorch.
//
// Everything is relative, so that one network serves any graph and any cluster: times to the whole
// graph's, bytes as time on the cluster's mean path, memory to a device's. All values are finite
// and between -2 and 2. Columns marked (+) go beyond the paper; its variant is not shown them.

// Co-location: the ops that GDP places as one.
enum class Colocate {
  Parameters,  // what reads a parameter, and its update (TensorFlow's rule; Celeritas 6.1)
  Gradients,   // these, and every backward op with its forward op
};

// Units are numbered by their first ops.
struct Units {
  std::vector<std::int32_t> of_op;
  std::vector<OpId> leader;  // by unit: its first op that is forward, else its first op
  std::int32_t count = 0;
};
Units units_of(const Problem& problem, const Dag& dag, Colocate colocate);

inline constexpr std::int64_t kFamilies = 14;     // of ops: columns of a one-hot
inline constexpr std::int64_t kShapeColumns = 4;  // log2 of the output's first extents
inline constexpr std::int64_t kCostColumns = 19;  // (+) time 2, memory 2, bytes in and out, ...
inline constexpr std::int64_t kUnitColumns = kFamilies + kShapeColumns + kCostColumns;
inline constexpr std::int64_t kTypes = 128;        // rows of the table of op types (by their hash)
inline constexpr std::int64_t kChoiceColumns = 7;  // (+) devices, speed, memory, bandwidth, ...
inline constexpr std::int64_t kChoiceRows = 64;    // of the table of choices (by their index)
inline constexpr std::int64_t kTurnColumns = 2;    // decided in this round, decided now

struct GraphFeatures {
  std::int32_t units = 0, neighbours = 0, choices = 0;
  std::vector<float> unit;         // units x kUnitColumns
  std::vector<std::int64_t> type;  // by unit: row of the table of op types
  // units x neighbours: those with the most bytes between, in either direction; `units`: none.
  std::vector<std::int64_t> adjacent;
  std::vector<float> choice;  // choices x kChoiceColumns
  // A step-wise policy has these (Placeto); else they are empty. By unit: the choice it has now,
  // and units x kTurnColumns.
  std::vector<std::int64_t> placed;
  std::vector<float> turn;
};

// `choices`: what a unit may be told. At most `neighbours` of each unit (gs_knn of GDP table 3).
GraphFeatures features_of(const Problem& problem, const Dag& dag, const Units& units,
                          const std::vector<Decision>& choices, int neighbours);

// ---- The network.

struct NetworkSize {  // GDP table 3
  int graph_layers = 4, neighbours = 5, graph_width = 128;
  int layers = 2, width = 128, heads = 5, head_width = 25, inner = 256;
  int segment = 128;                            // units; not in the paper
  bool attention = true, superposition = true;  // GDP 4.4
  bool paper = false;
  bool stepwise = false;  // sees what is placed where (Placeto)
  friend bool operator==(const NetworkSize&, const NetworkSize&) = default;
};

// Units x choices.
struct Probabilities {
  std::int32_t units = 0, choices = 0;
  std::vector<float> logarithm;
  double entropy = 0;  // mean over units, nats
  std::span<const float> row(std::int32_t unit) const {
    return std::span(logarithm).subspan(at(unit * choices), at(choices));
  }
};

// A placement that was tried.
struct RollOut {
  std::vector<std::int32_t> choice_of;  // by unit
  std::vector<float> logarithm = {};  // of its probability, by unit, under the policy that drew it
  std::vector<float> drawn = {};      // by unit: 1, or 0 where it was given; empty: all drawn
  double advantage = 0;
};

// The attention that the placement of each unit pays to others: mean over layers and heads, sum 1.
// Row by row of units; column c of unit u stands for unit (u / length - 1) * length + c, if there
// is one.
struct AttentionWeights {
  std::int32_t units = 0, length = 0;  // of a segment
  std::vector<float> weight;           // units x 2 length; empty: the network has no attention
  // Adds those of `unit`, times `factor`, to `sum`, which is by unit.
  void add(std::int32_t unit, double factor, std::span<double> sum) const;
};

struct LearnOptions {
  double rate = 1e-3, clip_ratio = 0.2, entropy = 0.05;
  double imitation = 0;  // weight of the logarithm of `model_answer`'s probability
};

// A graph and what a teacher would tell its units.
struct Answer {
  const GraphFeatures* graph = nullptr;
  std::span<const std::int32_t> choice_of;  // by unit
};

class Model;  // model.h

class Network final : public learned::TrainedNetwork {
 public:
  static Network make(const NetworkSize& size, std::uint64_t seed);
  static Network load(const std::filesystem::path& file);
  static Network parse(std::string_view bytes, const std::string& file);  // name in messages only

  const NetworkSize& size() const;

  Probabilities probabilities(const GraphFeatures& graph) const;
  AttentionWeights attention(const GraphFeatures& graph) const;
  // One step of Adam on PPO's clipped objective (GDP 6.1), means over drawn units and trials, the
  // bonus for entropy, and (not in the paper) that of giving the model answer, a choice by unit;
  // may be empty. Returns the objective before it; with a rate of 0 nothing moves.
  double improve(const GraphFeatures& graph, std::span<const RollOut> trials,
                 const LearnOptions& options, std::span<const std::int32_t> model_answer = {});
  // One step of Adam at this rate on the mean of the answers' losses, which it returns as they were
  // before. A loss is the cross entropy, nats, mean over units.
  double imitate(std::span<const Answer> answers, double rate);
  double loss(const Answer& answer) const;

 private:
  explicit Network(std::unique_ptr<Model> model);
  Model& model() const;
  learned::Weights empty_weights() const override;
};

// Weights that are shipped: home_directory()/resources/weights/gdp.bin.
std::filesystem::path bundled_weights();

}  // namespace strato::gdp
