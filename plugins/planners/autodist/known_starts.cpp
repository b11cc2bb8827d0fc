#include "plugins/planners/autodist/known_starts.h"

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

KnownStarts KnownStarts::of(const SyncTask& task, std::span<const Strategy> known,
                            Evaluator& evaluator) {
  KnownStarts starts;
  std::vector<Strategy> tried;
  for (const Strategy& given : known) {
    Strategy strategy = complete(given, *task.problem.cluster);
    if (std::optional<SyncPlan> plan = plan_of(task, strategy)) {
      starts.plans.push_back(*std::move(plan));
      tried.insert(tried.begin() + std::ssize(starts.plans) - 1,
                   strategy_of(task, starts.plans.back()));
    }
    tried.push_back(std::move(strategy));
  }
  if (tried.empty()) return starts;
  const std::vector<Score> scores = evaluator.evaluate(tried);
  starts.scores.assign(scores.begin(), scores.begin() + std::ssize(starts.plans));
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (starts.best && !scores[i].better_than(starts.best_score)) continue;
    starts.best = tried[i];
    starts.best_score = scores[i];
  }
  return starts;
}

std::string digest_of_starts(std::span<const Strategy> known) {
  if (known.empty()) return {};
  Hasher hasher;
  for (const Strategy& strategy : known) hasher.text(strategy.digest().hex());
  return hasher.finish().hex();
}

}  // namespace strato::autodist
