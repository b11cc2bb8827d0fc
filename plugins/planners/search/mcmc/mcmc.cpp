#include "plugins/planners/search/mcmc/mcmc.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>
#include <utility>

#include "core/base/random.h"
#include "core/schedule/dag/layers.h"
#include "core/search/evaluate/actions.h"
#include "core/search/evaluate/baselines.h"
#include "plugins/planners/search/mcmc/chain.h"

namespace strato::mcmc {
namespace {

// A complete strategy in the problem's groups, said in finer ones.
Strategy in_groups(const Problem& problem, const std::shared_ptr<const Grouping>& groups,
                   Strategy strategy) {
  if (groups == problem.grouping || strategy.grouping != nullptr) return strategy;
  IdVector<GroupId, std::optional<Decision>> decisions;
  for (const OpGroup& group : groups->groups())
    decisions.push_back(strategy.groups[problem.grouping->group_of(group.ops.front())]);
  strategy.groups = std::move(decisions);
  strategy.grouping = groups;
  return strategy;
}

// Every group whole on the device that an expert gives most of its work to.
IdVector<GroupId, std::optional<Decision>> expert(const Problem& problem, const Grouping& groups) {
  const std::vector<DeviceId> device_of = expert_devices(problem);
  const std::vector<Nanos> times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  IdVector<GroupId, std::optional<Decision>> decisions;
  for (const OpGroup& group : groups.groups()) {
    std::vector<Nanos> work(problem.cluster->device_count());
    for (const OpId op : group.ops)
      work[device_of[op.index()].index()] += times[op.index()] + Nanos(1);
    const auto most = std::ranges::max_element(work) - work.begin();
    decisions.emplace_back(decision_on_device(DeviceId(most)));
  }
  return decisions;
}

// Those that look fastest for the whole graph, such as data parallelism on the fast devices alone.
std::vector<Decision> fastest(const Problem& problem, const std::vector<Decision>& actions) {
  constexpr std::size_t kMost = 12;
  const ActionEstimate estimate(problem);
  std::vector<std::pair<double, std::size_t>> ranked;
  for (std::size_t a = 0; a < actions.size(); ++a)
    ranked.emplace_back(estimate.graph_seconds(actions[a]), a);
  std::ranges::sort(ranked);
  ranked.resize(std::min(ranked.size(), kMost));
  std::vector<Decision> result;
  for (const auto& [seconds, action] : ranked) result.push_back(actions[action]);
  return result;
}

// The problem's groups divided by layers (a forward op with its gradients and updates): FlexFlow's
// configuration per op.
std::shared_ptr<const Grouping> groups_by_layers(const Problem& problem) {
  const Layers layers = layers_of(*problem.graph);
  std::map<std::pair<GroupId, std::int32_t>, std::int32_t> parts;  // and their numbers
  const auto part_of = [&](std::size_t op) -> std::int32_t& {
    return parts[{problem.grouping->group_of(OpId(op)), layers.of_op[op]}];
  };
  std::vector<std::int32_t> group_of(layers.of_op.size());
  for (std::size_t op = 0; op < group_of.size(); ++op) part_of(op) = 0;
  if (parts.size() == problem.grouping->size()) return problem.grouping;
  std::int32_t next = 0;
  for (auto& [part, number] : parts) number = next++;
  for (std::size_t op = 0; op < group_of.size(); ++op) group_of[op] = part_of(op);
  const auto times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  return std::make_shared<const Grouping>(*problem.graph, group_of, times);
}

// The strategies from which chains start.
struct Starts {
  std::vector<Strategy> strategies;  // complete
  std::size_t expert = 0;  // its place; those before it have one configuration for all groups
};

// In `groups`: data parallelism first, the other simple baselines and other strategies with one
// configuration for all groups, the expert's placement, `random` strategies, then the options'
// seeds (in the problem's groups, or in their own, which they keep).
Starts make_starts(const Problem& problem, const std::shared_ptr<const Grouping>& groups,
                   const std::vector<Decision>& actions, const PlannerOptions& options,
                   std::int64_t random) {
  Starts starts;
  const auto add = [&](IdVector<GroupId, std::optional<Decision>> decisions) {
    Strategy& strategy = starts.strategies.emplace_back();
    strategy.groups = std::move(decisions);
    if (groups != problem.grouping) strategy.grouping = groups;
  };
  for (Baseline& baseline : simple_baselines(problem))
    starts.strategies.push_back(in_groups(problem, groups, std::move(baseline.strategy)));
  for (const Decision& decision : fastest(problem, actions))
    add(IdVector<GroupId, std::optional<Decision>>(groups->size(), decision));
  starts.expert = starts.strategies.size();
  add(expert(problem, *groups));
  Random source(options.seed ^ 0x2545f4914f6cdd1dULL);
  for (std::int64_t r = 0; r < random; ++r) {
    IdVector<GroupId, std::optional<Decision>> decisions;
    for (std::size_t g = 0; g < groups->size(); ++g)
      decisions.emplace_back(actions[source.below(actions.size())]);
    add(std::move(decisions));
  }
  for (const Strategy& seed : options.seeds)
    starts.strategies.push_back(in_groups(problem, groups, complete(seed, *problem.cluster)));
  return starts;
}

class ChainSearch {
 public:
  ChainSearch(const PlanRequest& request, const Settings& settings)
      : request_(request),
        options_(request.options),
        settings_(settings),
        actions_(make_actions(request.problem, {})),
        report_(request.observer) {}

  PlanResult run() {
    start();
    while (!request_.stop.stop_requested() && spent() < 1 && spent() - improved_at_ < 0.5 &&
           round()) {
      give_up_those_behind();
      report_.progress(progress(), false);
    }
    report_.progress(progress(), true);
    return result();
  }

 private:
  void start() {
    const Problem& problem = request_.problem;
    const auto groups = settings_.per_op ? groups_by_layers(problem) : problem.grouping;
    auto [strategies, expert] =
        make_starts(problem, groups, actions_, options_, settings_.restarts);
    const std::vector<Score> scores = evaluate(strategies);
    scale_ = CostScale(*problem.cluster, scores.front().step_time);
    // One chain from a strategy with one configuration beside data parallelism is enough.
    std::size_t uniform = 1;
    for (std::size_t i = 2; i < expert; ++i)
      if (scores[i].better_than(scores[uniform])) uniform = i;
    for (std::size_t i = 0; i < strategies.size(); ++i) {
      consider(strategies[i], scores[i]);
      if (i > 0 && i < expert && i != uniform) continue;
      const auto own = strategies[i].grouping ? strategies[i].grouping : problem.grouping;
      chains_.emplace_back(std::move(strategies[i]), scores[i], scale_, *own, actions_,
                           settings_.beta, chain_seed(i));
    }
    first_chains_ = chains_.size();
  }

  std::uint64_t chain_seed(std::size_t chain) const {
    return options_.seed * 0x9e3779b97f4a7c15ULL + 0xd1342543de82ef95ULL * (chain + 1);
  }

  // The spent part of the budget, 0 to 1.
  double spent() const {
    if (options_.budget_seconds > 0) return report_.elapsed() / options_.budget_seconds;
    return options_.iterations > 0
               ? static_cast<double>(iterations_) / static_cast<double>(options_.iterations)
               : 1;
  }

  // Every chain that is not stuck makes its next proposals. False when there was nothing to do.
  bool round() {
    std::vector<Strategy> batch;
    std::vector<std::pair<Chain*, std::size_t>> parts;  // and the number of its proposals
    for (Chain& chain : chains_) {
      const std::int64_t left = options_.iterations - iterations_ - std::ssize(batch);
      if (chain.is_stuck() || (options_.budget_seconds <= 0 && left <= 0)) continue;
      const std::int64_t most = options_.budget_seconds > 0 ? 1 << 20 : left;
      std::vector<Strategy> proposals = chain.propose(static_cast<std::size_t>(most));
      if (!proposals.empty()) parts.emplace_back(&chain, proposals.size());
      std::ranges::move(proposals, std::back_inserter(batch));
    }
    if (batch.empty()) return false;
    const std::vector<Score> scores = evaluate(batch);
    iterations_ += std::ssize(batch);
    std::span<const Score> left = scores;
    for (const auto& [chain, count] : parts) {
      if (chain->accept(left.first(count))) consider(chain->best(), chain->best_score());
      left = left.subspan(count);
    }
    return true;
  }

  // Half of the chains go on when a quarter of the budget is spent, and half of those after half.
  void give_up_those_behind() {
    const std::size_t halvings = spent() >= 0.5 ? 2 : spent() >= 0.25 ? 1 : 0;
    const std::size_t keep = std::max<std::size_t>(1, first_chains_ >> halvings);
    while (chains_.size() > keep) {
      auto worst = chains_.begin();
      for (auto chain = chains_.begin(); chain != chains_.end(); ++chain)
        if (chain->best_cost() >= worst->best_cost()) worst = chain;
      steps_given_up_ += worst->steps();
      acceptances_ += worst->acceptances();
      chains_.erase(worst);
    }
  }

  std::vector<Score> evaluate(const std::vector<Strategy>& batch) {
    evaluations_ += std::ssize(batch);
    return request_.evaluator.evaluate(batch);
  }

  void consider(const Strategy& strategy, const Score& score) {
    if (best_score_ && !score.better_than(*best_score_)) return;
    best_ = strategy;
    best_score_ = score;
    improved_at_ = spent();
    report_.improvement(best_, progress());
  }

  Progress progress() const { return {iterations_, evaluations_, report_.elapsed(), best_score_}; }

  PlanResult result() {
    std::int64_t steps = steps_given_up_, acceptances = acceptances_;
    for (const Chain& chain : chains_) {
      steps += chain.steps();
      acceptances += chain.acceptances();
    }
    PlanResult result;
    result.strategy = std::move(best_);
    result.score = *best_score_;
    result.evaluations = evaluations_;
    result.note = fmt::format("{} chains, {} proposals, {} accepted, {} configurations",
                              first_chains_, steps, acceptances, actions_.size());
    return result;
  }

  const PlanRequest& request_;
  const PlannerOptions& options_;
  const Settings& settings_;
  const std::vector<Decision> actions_;
  Reporter report_;
  CostScale scale_{*request_.problem.cluster, Nanos(1)};
  std::list<Chain> chains_;
  std::size_t first_chains_ = 0;
  Strategy best_;
  std::optional<Score> best_score_;
  std::int64_t iterations_ = 0, evaluations_ = 0;
  double improved_at_ = 0;  // of the budget
  std::int64_t steps_given_up_ = 0, acceptances_ = 0;
};

}  // namespace

OptionTable Settings::option_table() {
  return {
      {"beta", beta, {0}, "how strictly slower proposals are refused; 0: never"},
      {"restarts", restarts, {0, 1000}, "chains that start from random strategies"},
      {"per-op", per_op, "every layer has a configuration of its own, not every op group"},
  };
}

PlanResult plan(const PlanRequest& request, const Settings& settings) {
  return ChainSearch(request, settings).run();
}

}  // namespace strato::mcmc
