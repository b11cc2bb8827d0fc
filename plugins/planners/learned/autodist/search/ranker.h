// The learned simulator Q (AutoDist 2.4, Equation 3): scores plans of one model on one cluster,
// higher is faster, trained with a ranking loss on what trials showed.
//
// A variable-length LSTM over the rows of PlanFeatures; its last state and the mean of all states
// give a correction to the predefined model's estimate. Before it has learned anything the
// correction is zero: it starts as the predefined model and morphs into a learned one. Its weights
// persist from call to call of learn(). On LibTorch, which stays in ranker.cpp. One thread.
//
// And which proposals go to trial by its scores (AutoDist 2.4, "Filtering"; algorithm 1, lines 2, 4
// and 5).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "plugins/planners/learned/autodist/plan/communication_model.h"

namespace strato::autodist {

// What it sees of a plan: a row for each variable, in the order in which gradients are made
// (AutoDist 2.4: raw features, and the predefined model's components as further ones), and the
// components of the whole plan. Where a model has very many variables, neighbours share a row:
// their means.
inline constexpr std::size_t kRawFeatures = 25;
inline constexpr std::size_t kFeatures = kRawFeatures + kComponents;
inline constexpr std::size_t kMostRows = 64;

struct PlanFeatures {
  std::vector<float> rows;                 // at most kMostRows, of kFeatures each
  std::array<float, kComponents> whole{};  // relative to plain data parallelism's total
};

class Featurizer {
 public:
  explicit Featurizer(const SyncTask& task);
  PlanFeatures of(const SyncPlan& plan) const;
  std::size_t row_count() const { return std::min(kMostRows, task_.variables.size()); }

 private:
  const SyncTask& task_;
  const CommunicationModel model_;
  double reference_ = 1;                   // seconds of data parallelism in the predefined model
  std::vector<std::vector<float>> fixed_;  // by variable: what no plan changes
};

struct RankerOptions {
  int width = 32;  // of the LSTM's state
  double rate = 5e-3;
  int batch = 96;  // trials of one step, all pairs of them
};

class Ranker {
 public:
  Ranker(const RankerOptions& options, std::uint64_t seed);
  ~Ranker();

  // All plans of one model.
  std::vector<double> scores(std::span<const PlanFeatures* const> plans) const;
  // `steps` steps of Adam on the pairwise logistic loss: of two plans the one with the smaller cost
  // shall have the higher score. Costs are compared only. Returns the mean loss.
  double learn(std::span<const PlanFeatures* const> plans, std::span<const double> costs, int steps,
               Random& random);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A trial with the score that it was given before anything was learned from it.
struct Judged {
  double score = 0;  // higher: thought to be faster
  double cost = 0;   // lower: is faster
};

// Part of the pairs that are in the right order; pairs of equal cost do not count. Nothing: there
// are no pairs.
std::optional<double> ranking_accuracy(std::span<const Judged> trials);

// The fidelity level: the highest score for which the trials with at most this score are ranked
// with at least this accuracy. Nothing: there is none, or fewer than `fewest` trials are below it.
std::optional<double> fidelity_level(std::span<const Judged> recent, double accuracy,
                                     std::size_t fewest = 4);

// A number for each variable's config; equal configs of a variable have equal numbers, and labels
// of messages do not matter.
std::vector<std::uint64_t> tokens_of(const SyncPlan& plan);

// The same for plans in which every variable is sent in the same way: messages, servers and numbers
// of parts may differ.
std::uint64_t kind_of(const SyncPlan& plan);

// Up to `count` of the proposals, for their scores and for how different they are: greedily the one
// that adds most to sum of scores (scaled to 0..1) + `diversity` * part of the configs that no
// chosen one has. That sum is submodular (Chen et al. 2018b, "Learning to optimize tensor
// programs", 3.3).
std::vector<std::size_t> choose_diverse(std::span<const double> scores,
                                        std::span<const std::vector<std::uint64_t>> tokens,
                                        std::size_t count, double diversity);

}  // namespace strato::autodist
