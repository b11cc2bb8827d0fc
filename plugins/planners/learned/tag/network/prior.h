// The network as the tree search's prior: features, one forward pass a batch, and a memory.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "core/search/portfolio/tree_search.h"
#include "plugins/planners/learned/tag/network/feature_maker.h"
#include "plugins/planners/learned/tag/network/network.h"

namespace strato::tag {

// Remembers what it was asked, so that a continued or hand-edited search asks the network only for
// what is new. Not thread-safe; the network is shared and must not learn meanwhile.
class NetworkPrior final : public PriorProvider {
 public:
  // G = (1 - mix) * network + mix * uniform, over the legal actions.
  NetworkPrior(std::shared_ptr<const Network> network, double mix);

  std::vector<std::vector<float>> priors(const Problem& problem,
                                         const std::vector<Decision>& actions,
                                         std::span<const PriorQuery> queries) override;
  std::size_t remembered() const { return known_.size(); }

 private:
  void prepare(const Problem& problem, const std::vector<Decision>& actions);
  std::vector<float> mixed(const StateFeatures& state, std::vector<float> row) const;

  const std::shared_ptr<const Network> network_;
  const double mix_;
  Digest problem_;  // that maker_ and known_ belong to
  std::unique_ptr<FeatureMaker> maker_;
  std::unordered_map<Digest, std::vector<float>> known_;  // by partial strategy, group and feedback
};

}  // namespace strato::tag
