#include "plugins/planners/learned/autodist/plan/warm_starts.h"

#include <algorithm>
#include <map>

#include "core/base/digest.h"

namespace strato::autodist {
namespace {

bool is_sampled(const SyncPart& part) {
  return part.sequence.empty() &&
         (part.encoding == Encoding::None || part.encoding == Encoding::SparseRows);
}

}  // namespace

std::optional<Strategy> base_of(const Strategy& strategy) {
  if (strategy.grouping || strategy.groups.empty()) return std::nullopt;
  const auto& first = *strategy.groups.begin();
  const bool replicated =
      first && first->mode == Mode::ReplicateAllReduce && first->devices.size() > 1;
  if (!replicated) return std::nullopt;
  for (const auto& decision : strategy.groups)
    if (decision != first) return std::nullopt;
  Strategy base;
  base.groups = strategy.groups;
  return base;
}

std::optional<SyncPlan> plan_of(const SyncTask& task, const Strategy& strategy) {
  const std::optional<Strategy> base = base_of(strategy);
  if (!base || base->groups != task.base.groups) return std::nullopt;
  SyncPlan plan = plain_plan(task);
  std::map<OpId, std::size_t> place;
  for (std::size_t v = 0; v < plan.size(); ++v) place[plan[v].update] = v;
  for (const VariableSync& variable : strategy.variables) {
    const auto at = place.find(variable.update);
    if (at == place.end() || !std::ranges::all_of(variable.parts, is_sampled)) return std::nullopt;
    plan[at->second] = {variable};
  }
  for (const OpSplit& split : strategy.splits) {
    const auto at = place.find(split.op);
    if (at == place.end() || task.variables[at->second].sharded != split) return std::nullopt;
    plan[at->second] = in_one(task.variables[at->second], {}, true);
  }
  return plan;
}

std::optional<WarmStart> best_start(std::vector<Strategy> strategies, Evaluator& evaluator) {
  if (strategies.empty()) return std::nullopt;
  const std::vector<Score> scores = evaluator.evaluate(strategies);
  const auto best = std::ranges::min_element(
      scores, [](const Score& a, const Score& b) { return a.better_than(b); });
  return WarmStart{std::move(strategies[static_cast<std::size_t>(best - scores.begin())]), *best};
}

std::vector<Strategy> completed(std::span<const Strategy> known, const Cluster& cluster) {
  std::vector<Strategy> result;
  for (const Strategy& strategy : known) result.push_back(complete(strategy, cluster));
  return result;
}

std::string digest_of_starts(std::span<const Strategy> known) {
  if (known.empty()) return {};
  Hasher hasher;
  for (const Strategy& strategy : known) hasher.text(strategy.digest().hex());
  return hasher.finish().hex();
}

}  // namespace strato::autodist
