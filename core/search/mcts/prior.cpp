#include "core/search/mcts/prior.h"

namespace strato {
namespace {

class UniformPrior final : public PriorProvider {
 public:
  std::vector<std::vector<float>> priors(const Problem&, const std::vector<Decision>&,
                                         std::span<const PriorQuery> queries) override {
    return std::vector<std::vector<float>>(queries.size());
  }
  bool is_uniform() const override { return true; }
};

}  // namespace

std::unique_ptr<PriorProvider> make_uniform_prior() { return std::make_unique<UniformPrior>(); }

}  // namespace strato
