#include "plugins/planners/search/mcmc/chain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"

namespace strato::mcmc {

CostScale::CostScale(const Cluster& cluster, Nanos data_parallel)
    : time_(static_cast<double>(std::max<std::int64_t>(data_parallel.value, 1))) {
  memory_ = 0;
  for (std::size_t d = 0; d < cluster.device_count(); ++d)
    memory_ += static_cast<double>(cluster.gpu(DeviceId(d)).memory.value);
}

double CostScale::cost(const Score& score) const {
  constexpr double kInfeasible = 1e6, kBytes = 1e3;
  const double time = static_cast<double>(score.step_time.value) / time_;
  if (score.feasible) return time;
  return kInfeasible + time +
         kBytes * static_cast<double>(score.overflow.value) / std::max(memory_, 1.0);
}

Chain::Chain(Strategy start, const Score& score, const CostScale& scale, const Grouping& groups,
             std::span<const Decision> actions, double beta, std::uint64_t seed)
    : at_(std::move(start)),
      best_(at_),
      best_score_(score),
      cost_(scale.cost(score)),
      best_cost_(cost_),
      scale_(scale),
      actions_(actions),
      beta_(beta),
      random_(seed) {
  CHECK(at_.groups.size() == groups.size() && at_.is_complete(), "a complete strategy");
  for (std::size_t g = 0; g < groups.size(); ++g) {
    has_parameters_.push_back(groups.group(GroupId(g)).parameter_bytes.value > 0);
    const bool other = std::ranges::any_of(actions_, [&](const Decision& action) {
      return action != *at_.groups[GroupId(g)] &&
             (has_parameters_[g] != 0 || action.mode != Mode::ReplicatePs);
    });
    if (other) changeable_.emplace_back(g);
  }
}

std::vector<Strategy> Chain::propose(std::size_t most) {
  constexpr int kPatience = 100;
  proposals_.clear();
  if (changeable_.empty()) return proposals_;
  const std::size_t count = std::clamp<std::size_t>(most, 1, ahead_);
  for (int attempt = 0; attempt < kPatience && proposals_.size() < count; ++attempt) {
    const GroupId group = changeable_[random_.below(changeable_.size())];
    const Decision& action = actions_[random_.below(actions_.size())];
    // Without gradients to sum, parameter servers are AllReduce.
    if (action.mode == Mode::ReplicatePs && has_parameters_[group.index()] == 0) continue;
    if (action == *at_.groups[group]) continue;
    proposals_.push_back(at_);
    proposals_.back().groups[group] = action;
  }
  return proposals_;
}

// Equation of the acceptance: min(1, exp(beta (cost(S) - cost(S*)))).
bool Chain::passes(double cost) {
  return cost <= cost_ || random_.uniform() < std::exp(beta_ * (cost_ - cost));
}

bool Chain::accept(std::span<const Score> scores) {
  constexpr std::size_t kMostAhead = 8;
  CHECK(scores.size() == proposals_.size(), "one score a proposal");
  for (std::size_t i = 0; i < scores.size(); ++i) {
    ++steps_;
    const double cost = scale_.cost(scores[i]);
    if (!passes(cost)) continue;
    ++acceptances_;
    at_ = std::move(proposals_[i]);
    cost_ = cost;
    ahead_ = 1;
    if (!scores[i].better_than(best_score_)) return false;
    best_ = at_;
    best_score_ = scores[i];
    best_cost_ = cost;
    improved_at_ = steps_;
    return true;
  }
  ahead_ = std::min(2 * ahead_, kMostAhead);
  return false;
}

bool Chain::is_stuck() const {
  const auto neighbours = static_cast<std::int64_t>(changeable_.size() * actions_.size());
  const std::int64_t since = steps_ - improved_at_;
  return since > neighbours && 2 * since > steps_;
}

}  // namespace strato::mcmc
