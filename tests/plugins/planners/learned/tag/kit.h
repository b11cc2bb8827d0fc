// Problems, states and networks for the tests of TAG's network.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "plugins/planners/learned/tag/network/feature_maker.h"
#include "plugins/planners/learned/tag/network/network.h"
#include "tests/plugins/shipped.h"

namespace strato::tag {

inline constexpr NetworkSize kTiny{.width = 8, .layers = 2, .heads = 2};

// Decides the first `depth` groups by random actions and asks for the next one.
class RandomState {
 public:
  RandomState(const Problem& problem, const FeatureMaker& maker, std::size_t depth,
              std::uint64_t seed) {
    partial_.groups.resize(problem.grouping->size());
    Random random(seed);
    for (std::size_t g = 0; g < depth; ++g)
      partial_.groups[GroupId(g)] = maker.actions()[random.below(maker.actions().size())];
    score_ = simulate_strategy(problem, complete(partial_, *problem.cluster)).score;
    features_ =
        std::make_shared<const StateFeatures>(maker.state({partial_, GroupId(depth), score_}));
  }
  const Strategy& partial() const { return partial_; }
  const Score& score() const { return score_; }
  const StateFeatures& features() const { return *features_; }
  std::shared_ptr<const StateFeatures> shared() const { return features_; }

 private:
  Strategy partial_;
  Score score_;
  std::shared_ptr<const StateFeatures> features_;
};

inline FeatureMaker maker_of(const Problem& problem, const ActionOptions& options = {}) {
  return {problem, make_actions(problem, options)};
}

}  // namespace strato::tag
