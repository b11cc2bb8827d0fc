#include "plugins/planners/learned/tag/network/prior.h"

#include <utility>

namespace strato::tag {
namespace {

constexpr std::size_t kMostRemembered = 100'000;

Digest key_of(const PriorQuery& query) {
  return Hasher()
      .digest(query.partial.digest())
      .number(query.next.value())
      .number(query.score.step_time.value)
      .number(query.score.overflow.value)
      .finish();
}

}  // namespace

NetworkPrior::NetworkPrior(std::shared_ptr<const Network> network, double mix)
    : network_(std::move(network)), mix_(mix) {}

void NetworkPrior::prepare(const Problem& problem, const std::vector<Decision>& actions) {
  const Digest digest = problem.digest();
  if (maker_ != nullptr && digest == problem_ && actions == maker_->actions()) return;
  problem_ = digest;
  maker_ = std::make_unique<FeatureMaker>(problem, actions);
  known_.clear();
}

std::vector<float> NetworkPrior::mixed(const StateFeatures& state, std::vector<float> row) const {
  double legal = 0;
  for (float flag : state.legal) legal += flag;
  for (std::size_t a = 0; a < row.size(); ++a)
    row[a] = static_cast<float>((1 - mix_) * row[a] + mix_ * state.legal[a] / legal);
  return row;
}

std::vector<std::vector<float>> NetworkPrior::priors(const Problem& problem,
                                                     const std::vector<Decision>& actions,
                                                     std::span<const PriorQuery> queries) {
  prepare(problem, actions);
  if (known_.size() > kMostRemembered) known_.clear();
  std::vector<Digest> keys;
  std::vector<StateFeatures> states;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    keys.push_back(key_of(queries[i]));
    if (known_.contains(keys.back())) continue;
    states.push_back(maker_->state(queries[i]));
    asked.push_back(i);
  }
  std::vector<const StateFeatures*> pointers;
  for (const StateFeatures& state : states) pointers.push_back(&state);
  std::vector<std::vector<float>> fresh = network_->forward(*maker_->problem(), pointers);
  for (std::size_t i = 0; i < fresh.size(); ++i)
    known_.emplace(keys[asked[i]], mixed(states[i], std::move(fresh[i])));
  std::vector<std::vector<float>> rows;
  for (const Digest& key : keys) rows.push_back(known_.at(key));
  return rows;
}

}  // namespace strato::tag
