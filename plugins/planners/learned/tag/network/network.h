// TAG's heterogeneous graph network with its decoder (TAG 4.2.1, Fig. 2), on LibTorch, which stays
// in network.cpp.
//
// Op groups and device groups are nodes; edges carry tensors, links and placements. Four layers of
// multi-head attention: h_u' = sum over edge types t of gamma_t * sum over v of
// a_uv * sigma(W_t (h_v o e_uv) + b_t), gamma 1 between nodes of a type and 0.1 otherwise. The
// decoder scores every action of the next group from (sum_j E_dev[j] P_j) o E_op[next] o O, and a
// softmax over the legal actions makes the prior.
//
// The paper's decoder is one dense layer. Its score is a sum of a part of the placement, a part of
// the group and a part of the mode, so the group's part cancels in the softmax. The default has one
// hidden layer between, residual connections with layer norm, and the columns marked (+) in
// feature_maker.h; `paper` switches all three off.
//
// Errors: InputError for files, with what to do. Not thread safe, but for forward() on one that
// does not learn. LibTorch's number of threads changes nothing in results beyond rounding.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugins/planners/learned/kit/network/trained_network.h"
#include "plugins/planners/learned/tag/network/feature_maker.h"

namespace strato::tag {

struct NetworkSize {
  int width = 48;  // length of embeddings; a multiple of heads
  int layers = 4;
  int heads = 4;
  bool paper = false;
  friend bool operator==(const NetworkSize&, const NetworkSize&) = default;
};

// The network learns from examples: at this state the search went to the actions with these
// frequencies.
struct Example {
  std::shared_ptr<const ProblemFeatures> problem;
  std::shared_ptr<const StateFeatures> state;
  std::vector<float> target;  // one an action, sum 1, 0 where illegal
  float weight = 1;
};

using LearnOptions = learned::OptimizerOptions;

class Model;  // model.h

class Network final : public learned::TrainedNetwork {
 public:
  static Network make(const NetworkSize& size, std::uint64_t seed);
  static Network load(const std::filesystem::path& file);
  static Network parse(std::string_view bytes, const std::string& file);  // name in messages only

  const NetworkSize& size() const;

  // Rows of probabilities over all actions, 0 where illegal; one a query. All queries are of one
  // problem. A row does not depend on what else is in the batch, beyond rounding.
  std::vector<std::vector<float>> forward(const ProblemFeatures& problem,
                                          std::span<const StateFeatures* const> queries) const;

  // Weighted mean cross entropy, nats. Examples may be of many problems; those of one problem that
  // stand side by side are computed together.
  double loss(std::span<const Example> examples) const;
  // One step of AdamW, clipped, along its gradient; returns the loss before it. With a rate of 0
  // nothing moves.
  double learn(std::span<const Example> examples, const LearnOptions& options);

 private:
  explicit Network(std::unique_ptr<Model> model);
  Model& model() const;
  learned::Weights empty_weights() const override;
};

// Weights that are shipped: home_directory()/resources/weights/tag.bin.
std::filesystem::path bundled_weights();

// The network as the tree search's prior: features, one forward pass a batch, and a memory.
//
// Remembers what it was asked, so that a continued or hand-edited search asks the network only for
// what is new. Not thread-safe; the network is referred to and must not learn meanwhile.
class NetworkPrior final : public PriorProvider {
 public:
  // G = (1 - mix) * network + mix * uniform, over the legal actions.
  NetworkPrior(const Network& network, double mix) : network_(network), mix_(mix) {}

  std::vector<std::vector<float>> priors(const Problem& problem,
                                         const std::vector<Decision>& actions,
                                         std::span<const PriorQuery> queries) override;
  std::size_t remembered() const { return known_.size(); }

 private:
  void prepare(const Problem& problem, const std::vector<Decision>& actions);
  std::vector<float> mixed(const StateFeatures& state, std::vector<float> row) const;

  const Network& network_;
  const double mix_;
  Digest problem_;  // that maker_ and known_ belong to
  std::unique_ptr<FeatureMaker> maker_;
  std::unordered_map<Digest, std::vector<float>> known_;  // by partial strategy, group and feedback
};

}  // namespace strato::tag
