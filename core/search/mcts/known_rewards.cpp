#include "core/search/mcts/known_rewards.h"

#include <algorithm>
#include <span>

namespace strato {

Digest digest_of(const ActionVector& actions) {
  return Hasher().numbers(std::span<const std::int32_t>(actions)).finish();
}

KnownRewards::KnownRewards(const Cluster& cluster, bool graded) : graded_(graded) {
  for (const DeviceGroup& group : cluster.groups())
    largest_memory_ = std::max(largest_memory_,
                               static_cast<double>(cluster.gpu_types()[group.type].memory.value));
}

float KnownRewards::reward_of(const Score& score) const {
  if (score.feasible)
    return static_cast<float>(
        std::max(baseline_ / std::max(score.step_time, Nanos(1)) - 1, -0.9999));
  if (!graded_) return -1;
  const auto overflow = static_cast<double>(score.overflow.value);
  return static_cast<float>(-1 - overflow / (overflow + largest_memory_));
}

KnownRewards::Known KnownRewards::learn(const ActionVector& actions, const Score& score) {
  // A vertex with a time was evaluated: so a time is at least one nanosecond.
  const Known known{reward_of(score), std::max<std::int64_t>(score.step_time.value, 1)};
  learn(actions, known);
  return known;
}

void KnownRewards::learn(const ActionVector& actions, const Known& known) {
  known_.emplace(digest_of(actions), known);
}

const KnownRewards::Known* KnownRewards::find(const Digest& actions) const {
  const auto found = known_.find(actions);
  return found == known_.end() ? nullptr : &found->second;
}

bool KnownRewards::contains(const ActionVector& actions) const {
  return find(digest_of(actions)) != nullptr;
}

}  // namespace strato
