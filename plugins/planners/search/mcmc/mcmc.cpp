#include "plugins/planners/search/mcmc/mcmc.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <list>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/search/api/reporter.h"
#include "core/search/evaluate/actions.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/search/mcmc/chain.h"
#include "plugins/planners/search/mcmc/starts.h"

namespace strato::mcmc {
namespace {

struct Settings {
  double beta = 2000;
  int restarts = 1;
  bool per_op = false;

  OptionTable option_table() {
    return {
        {"beta", beta, {0}, "how strictly slower proposals are refused; 0: never"},
        {"restarts", restarts, {0, 1000}, "chains that start from random strategies"},
        {"per-op", per_op, "every layer has a configuration of its own, not every op group"},
    };
  }
};

class ChainSearch {
 public:
  ChainSearch(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
              Observer& observer)
      : problem_(problem),
        evaluator_(evaluator),
        options_(options),
        settings_(read_options<Settings>(options.set)),
        actions_(make_actions(problem, {})),
        report_(observer) {}

  PlanResult run(std::stop_token stop) {
    start();
    while (!stop.stop_requested() && spent() < 1 && spent() - improved_at_ < 0.5 && round()) {
      give_up_those_behind();
      report_.progress(progress(), false);
    }
    report_.progress(progress(), true);
    return result();
  }

 private:
  void start() {
    const auto groups = settings_.per_op ? groups_by_layers(problem_) : problem_.grouping;
    std::vector<Start> starts =
        make_starts(problem_, groups, actions_, options_.seeds, settings_.restarts, options_.seed);
    std::vector<Strategy> strategies;
    for (const Start& start : starts) strategies.push_back(start.strategy);
    const std::vector<Score> scores = evaluate(strategies);
    scale_ = CostScale(*problem_.cluster, scores.front().step_time);
    const std::size_t other = best_other_uniform(starts, scores);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      consider(strategies[i], scores[i]);
      if (i > 0 && i < others_end(starts) && i != other) continue;
      groups_.push_back(starts[i].groups);  // lives as long as its chain
      chains_.emplace_back(std::move(strategies[i]), scores[i], scale_, *starts[i].groups, actions_,
                           settings_.beta, chain_seed(i));
    }
    first_chains_ = chains_.size();
  }

  static std::size_t others_end(const std::vector<Start>& starts) {
    return static_cast<std::size_t>(std::ranges::find(starts, "expert", &Start::name) -
                                    starts.begin());
  }

  // One chain from a strategy with one configuration beside data parallelism is enough.
  static std::size_t best_other_uniform(const std::vector<Start>& starts,
                                        const std::vector<Score>& scores) {
    std::size_t best = 1;
    for (std::size_t i = 2; i < others_end(starts); ++i)
      if (scores[i].better_than(scores[best])) best = i;
    return best;
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
    struct Part {
      Chain* chain;
      std::size_t count;
    };
    std::vector<Strategy> batch;
    std::vector<Part> parts;
    for (Chain& chain : chains_) {
      const std::int64_t left = options_.iterations - iterations_ - std::ssize(batch);
      if (chain.is_stuck() || (options_.budget_seconds <= 0 && left <= 0)) continue;
      const std::int64_t most = options_.budget_seconds > 0 ? 1 << 20 : left;
      std::vector<Strategy> proposals = chain.propose(static_cast<std::size_t>(most));
      if (!proposals.empty()) parts.push_back({&chain, proposals.size()});
      std::ranges::move(proposals, std::back_inserter(batch));
    }
    if (batch.empty()) return false;
    const std::vector<Score> scores = evaluate(batch);
    iterations_ += std::ssize(batch);
    std::size_t at = 0;
    for (const Part& part : parts) {
      if (part.chain->accept(std::span(scores).subspan(at, part.count)))
        consider(part.chain->best(), part.chain->best_score());
      at += part.count;
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
    return evaluator_.evaluate(batch);
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
    result.note = std::to_string(first_chains_) + " chains, " + std::to_string(steps) +
                  " proposals, " + std::to_string(acceptances) + " accepted, " +
                  std::to_string(actions_.size()) + " configurations";
    return result;
  }

  const Problem& problem_;
  Evaluator& evaluator_;
  const PlannerOptions& options_;
  const Settings settings_;
  const std::vector<Decision> actions_;
  Reporter report_;
  CostScale scale_{*problem_.cluster, Nanos(1)};
  std::vector<std::shared_ptr<const Grouping>> groups_;
  std::list<Chain> chains_;
  std::size_t first_chains_ = 0;
  Strategy best_;
  std::optional<Score> best_score_;
  std::int64_t iterations_ = 0, evaluations_ = 0;
  double improved_at_ = 0;  // of the budget
  std::int64_t steps_given_up_ = 0, acceptances_ = 0;
};

class Mcmc final : public Planner {
 public:
  std::string name() const override { return "mcmc"; }
  std::vector<OptionHelp> options() const override { return list_options<Settings>(); }
  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree>) override {
    return ChainSearch(problem, evaluator, options, observer).run(std::move(stop));
  }
};

}  // namespace
std::unique_ptr<Planner> make_mcmc() { return std::make_unique<Mcmc>(); }

}  // namespace strato::mcmc
