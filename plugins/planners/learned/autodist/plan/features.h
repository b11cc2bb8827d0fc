// The features that the learned simulator sees of a plan: a row for each variable, in the order in
// which gradients are made (AutoDist 2.4: raw features, and the predefined model's components as
// further ones), and the components of the whole plan. Where a model has very many variables,
// neighbours share a row: their means.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "plugins/planners/learned/autodist/plan/communication_model.h"

namespace strato::autodist {

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

}  // namespace strato::autodist
