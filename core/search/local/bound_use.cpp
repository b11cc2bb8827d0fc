#include "core/search/local/bound_use.h"

#include <algorithm>

namespace strato {
namespace {

// Strategies times ops times devices: about a second of lowering.
constexpr double kMostWork = 4e6;
constexpr std::size_t kBeat = 64;

}  // namespace

Nanos ProgramBound::of(const Strategy& strategy) {
  LowerOptions options;
  options.fold = &fold_;
  lowering_.lower(CompleteStrategy(strategy, *cluster_), program_, options);
  ends_.assign(program_.tasks.size(), Nanos(0));
  busy_.assign(program_.resource_count(), Nanos(0));
  Nanos bound;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    for (const TaskId before : program_.dependencies[i])
      ends_[i] = std::max(ends_[i], ends_[before.index()]);
    const Nanos duration = program_.tasks[TaskId(i)].duration;
    bound = std::max(bound, ends_[i] += duration);
    for (const ResourceId resource : program_.resources[i])
      bound = std::max(bound, busy_[resource.index()] += duration);
  }
  return bound;
}

double SmallSpace::count_of(std::span<const std::vector<std::int32_t>> legal) {
  double count = 1;
  for (const auto& actions : legal) count *= static_cast<double>(actions.size());
  return count;
}

bool SmallSpace::is_small(const Problem& problem,
                          std::span<const std::vector<std::int32_t>> legal) {
  const auto tasks =
      static_cast<double>(problem.graph->op_count() * problem.cluster->device_count());
  return count_of(legal) * tasks <= kMostWork;
}

SmallSpace::SmallSpace(const Problem& problem, const std::vector<Decision>& actions,
                       std::vector<std::vector<std::int32_t>> legal, std::stop_token stop,
                       const std::function<void()>& beat)
    : legal_(std::move(legal)) {
  ranked_.resize(static_cast<std::size_t>(count_of(legal_)));
  for (std::size_t i = 0; i < ranked_.size(); ++i)
    ranked_[i].second = static_cast<std::uint32_t>(i);
  ProgramBound bound(problem);
  Strategy strategy;
  strategy.groups.resize(legal_.size());
  for (std::size_t i = 0; i < ranked_.size(); ++i) {
    if (stop.stop_requested()) {
      ranked_.clear();
      return;
    }
    if (beat && i % kBeat == 0) beat();
    const ActionVector chosen = this->strategy(i);
    for (std::size_t g = 0; g < chosen.size(); ++g)
      strategy.groups[GroupId(g)] = actions[static_cast<std::size_t>(chosen[g])];
    ranked_[i].first = bound.of(strategy);
  }
  std::ranges::sort(ranked_);
}

Nanos SmallSpace::bound_of(const ActionVector& strategy) const {
  std::size_t number = 0;
  for (std::size_t g = legal_.size(); g-- > 0;) {
    const auto found = std::ranges::find(legal_[g], strategy[g]);
    if (found == legal_[g].end()) return Nanos(0);
    number = number * legal_[g].size() + static_cast<std::size_t>(found - legal_[g].begin());
  }
  return std::ranges::find(ranked_, number, &std::pair<Nanos, std::uint32_t>::second)->first;
}

ActionVector SmallSpace::strategy(std::size_t place) const {
  std::size_t rest = ranked_[place].second;
  ActionVector actions;
  for (const auto& legal : legal_) {
    actions.push_back(legal[rest % legal.size()]);
    rest /= legal.size();
  }
  return actions;
}

void BoundPruning::begin_round(std::size_t most) {
  most_ = most;
  bounded_ = pruned_ = 0;
}

bool BoundPruning::prunes(const Strategy& strategy, const Score& to_beat) {
  constexpr std::size_t kFirst = 3, kOneIn = 3;
  if (!to_beat.feasible || pruned_ >= most_) return false;
  if (bounded_ >= kFirst && pruned_ * kOneIn < bounded_) return false;
  ++bounded_;
  const bool hopeless = bound_.of(strategy) >= to_beat.step_time;
  if (hopeless) ++pruned_;
  return hopeless;
}

BoundUse::BoundUse(const Problem& problem, std::span<const std::vector<std::int32_t>> legal,
                   bool use, bool prune)
    : small_(use && SmallSpace::is_small(problem, legal)) {
  if (use && prune && !small_) pruning_.emplace(problem);
}

void BoundUse::distrust() {
  contradicted_ = true;
  small_ = false;
  pruning_.reset();
}

void BoundUse::begin_round(const Strategy& incumbent, const Score& score, std::size_t batch) {
  constexpr std::size_t kMost = 4;  // pruned, for each that is evaluated
  if (!pruning_) return;
  pruning_->begin_round(kMost * batch);
  if (checked_ == incumbent) return;
  checked_ = incumbent;
  if (pruning_->is_contradicted_by(incumbent, score)) distrust();
}

}  // namespace strato
