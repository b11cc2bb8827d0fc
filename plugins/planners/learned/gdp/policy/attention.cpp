#include "plugins/planners/learned/gdp/policy/attention.h"

#include <algorithm>
#include <utility>

namespace strato::gdp {
namespace {

class PolicyAttention final : public Attention {
 public:
  PolicyAttention(AttentionWeights weights, Units units)
      : weights_(std::move(weights)), units_(std::move(units)), ops_(weights_.units, 0) {
    for (const std::int32_t unit : units_.of_op) ++ops_[static_cast<std::size_t>(unit)];
  }

  std::vector<double> of(std::span<const OpId> ops) const override {
    std::vector<std::int32_t> looking;
    for (const OpId op : ops) looking.push_back(units_.of_op.at(op.index()));
    std::ranges::sort(looking);
    looking.erase(std::unique(looking.begin(), looking.end()), looking.end());
    const std::vector<double> by_unit = mean_attention(weights_, looking);
    std::vector<double> by_op;
    for (const std::int32_t unit : units_.of_op)
      by_op.push_back(by_unit[static_cast<std::size_t>(unit)] /
                      ops_[static_cast<std::size_t>(unit)]);
    return by_op;
  }

 private:
  const AttentionWeights weights_;
  const Units units_;
  std::vector<int> ops_;  // by unit: how many
};

}  // namespace

std::vector<double> mean_attention(const AttentionWeights& weights,
                                   std::span<const std::int32_t> units) {
  std::vector<double> sum(static_cast<std::size_t>(weights.units), 0.0);
  for (const std::int32_t unit : units) weights.add(unit, 1.0 / std::ssize(units), sum);
  return sum;
}

std::shared_ptr<const Attention> attention_of(const Network& network, const GraphFeatures& graph,
                                              Units units) {
  AttentionWeights weights = network.attention(graph);
  if (weights.weight.empty()) return nullptr;
  return std::make_shared<const PolicyAttention>(std::move(weights), std::move(units));
}

}  // namespace strato::gdp
