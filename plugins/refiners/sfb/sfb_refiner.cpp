// The refiner "sfb" (PLANNER+sfb): sufficient factor broadcasting applied to a planned strategy,
// and tried in the simulator.
//
// The programs count bytes and flops; whether the network is busy at that moment, and whether
// anything waits for it, only a simulation tells. So their choice is a proposal:
//
// 1. What the program as printed proposes, and what the same program proposes with the cost model's
//    times (an AllGather's instead of D(D-1) transfers one after the other; latencies; then again,
//    with what is gathered by now for nothing), are simulated as a whole.
// 2. From the best of these and of the plan itself, each class of equal subgraphs, greatest gain
//    first, is put in or taken out, and stays so where the step gets faster; until a round changes
//    nothing, or kMostRounds.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "core/plugin/api/plugin.h"
#include "core/program/sfb/sfb.h"

namespace strato {
namespace {

enum class SfbCheck : std::uint8_t {
  Model,      // the integer programs' choice, all of it or, where the step gets slower, nothing
  Simulated,  // see above
};

struct SfbRefinement {
  SfbCheck check = SfbCheck::Simulated;
  double seconds_per_program = 1;
  int threads = 0;

  OptionTable option_table() {
    return {
        {"sfb-check",
         check,
         {"model", "simulated"},
         "simulated: try the integer programs' choices in the simulator, class by class, and keep "
         "what helps; model: all of them as the paper counts, or none"},
        {"sfb-time",
         seconds_per_program,
         {.low = 0, .high = 3600, .above_low = true},
         "seconds for each integer program, at most"}};
  }
};

constexpr int kMostRounds = 3;

using Ops = std::vector<OpId>;  // ascending

Ops united(const Ops& a, const Ops& b) {
  Ops all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}
Ops without(const Ops& a, const Ops& b) {
  Ops rest;
  std::ranges::set_difference(a, b, std::back_inserter(rest));
  return rest;
}

struct Class {  // gradients with equal subgraphs
  Ops ops;
  Nanos gain;
};

// Never worse than planned. A planned strategy's own duplicated ops stay.
class Refinement {
 public:
  Refinement(const Problem& problem, Evaluator& evaluator, PlanResult planned,
             const SfbRefinement& options, Observer& observer, std::stop_token stop)
      : problem_(problem_for(problem, planned.strategy)),
        evaluator_(evaluator),
        planned_(std::move(planned)),
        options_(options),
        observer_(observer),
        stop_(std::move(stop)),
        best_(planned_.strategy),
        best_score_(planned_.score) {}

  PlanResult run() {
    propose(SfbCosts::Printed, 1);
    if (options_.check == SfbCheck::Simulated) {
      propose(SfbCosts::CostModel, 2);
      by_classes();
    }
    PlanResult result = std::move(planned_);
    const std::string note = this->note(result.strategy, result.score);
    result.note += (result.note.empty() ? "" : "; ") + note;
    result.strategy = std::move(best_);
    result.score = std::move(best_score_);
    result.evaluations += evaluations_;
    return result;
  }

 private:
  void propose(SfbCosts costs, int times) {
    SfbOptions options;
    options.costs = costs;
    options.seconds_per_program = options_.seconds_per_program;
    options.threads = options_.threads;
    SfbSolver solver(problem_.graph, problem_.grouping, problem_.cluster, problem_.cost, options);
    Strategy all = planned_.strategy;
    for (int i = 0; i < times && !stop_.stop_requested(); ++i) {
      const SfbReport report = solver.apply(all, stop_);
      if (costs == SfbCosts::Printed) gradients_ = report.gradients.size();
      collect(report);
      try_out(all.duplicated);
    }
  }

  void collect(const SfbReport& report) {
    std::map<int, Class> classes;
    for (const SfbGradient& gradient : report.gradients) {
      if (gradient.duplicate.empty()) continue;
      Class& with = classes[gradient.subgraph];
      with.ops.insert(with.ops.end(), gradient.duplicate.begin(), gradient.duplicate.end());
      with.gain += gradient.before - gradient.after;
      producers_.insert(gradient.producer);
    }
    for (auto& [subgraph, with] : classes) {
      std::ranges::sort(with.ops);
      with.ops.erase(std::unique(with.ops.begin(), with.ops.end()), with.ops.end());
      const bool known =
          std::ranges::any_of(classes_, [&](const Class& c) { return c.ops == with.ops; });
      if (!known) classes_.push_back(std::move(with));
    }
  }

  bool try_out(const Ops& duplicated) {
    if (duplicated == best_.duplicated || stop_.stop_requested()) return false;
    Strategy strategy = best_;
    strategy.duplicated = duplicated;
    const Score score = evaluator_.evaluate(strategy);
    ++evaluations_;
    if (!improves(score)) return false;
    best_ = std::move(strategy);
    best_score_ = score;
    observer_.on_improvement(
        best_, best_score_,
        {.evaluations = planned_.evaluations + evaluations_, .best = best_score_});
    return true;
  }

  // Where nothing fits into memory, not even the plan, less overflow than the plan's is no aim by
  // itself: it would cost speed and still not fit.
  bool improves(const Score& score) const {
    if (score.feasible || best_score_.feasible) return score.better_than(best_score_);
    return score.overflow <= planned_.score.overflow && score.step_time < best_score_.step_time;
  }

  void by_classes() {
    std::ranges::stable_sort(classes_, std::ranges::greater(), &Class::gain);
    bool changed = true;
    for (int round = 0; changed && round < kMostRounds; ++round) {
      changed = false;
      for (const Class& with : classes_) {
        const bool in = std::ranges::includes(best_.duplicated, with.ops);
        const Ops other =
            in ? united(without(best_.duplicated, with.ops), planned_.strategy.duplicated)
               : united(best_.duplicated, with.ops);
        changed = try_out(other) || changed;
      }
    }
  }

  // Gradients that need no synchronisation any more, and what was duplicated for them.
  std::string note(const Strategy& before, const Score& score) const {
    const Ops added = without(best_.duplicated, before.duplicated);
    if (gradients_ == 0) return "SFB: no gradient has to be synchronised";
    if (added.empty())
      return fmt::format("SFB: of {} gradient ops none is better duplicated", gradients_);
    const auto is_added = [&](OpId op) { return std::ranges::binary_search(added, op); };
    std::map<std::string, int> count;
    for (const OpId op : added) ++count[problem_.graph->op(op).type];
    std::vector<std::pair<int, std::string>> types;
    for (const auto& [type, times] : count) types.emplace_back(-times, type);
    std::ranges::sort(types);
    std::vector<std::string> list;
    for (const auto& [less, type] : types | std::views::take(5))
      list.push_back(fmt::format("{} {}", type, -less));
    return fmt::format("SFB: {} of {} gradient ops duplicated, {:.1f} % faster; {} ops: {}{}",
                       std::ranges::count_if(producers_, is_added), gradients_,
                       100 * (score.step_time / best_score_.step_time - 1), added.size(),
                       fmt::join(list, ", "), types.size() > 5 ? ", ..." : "");
  }

  const Problem problem_;  // in the plan's groups
  Evaluator& evaluator_;
  PlanResult planned_;
  const SfbRefinement& options_;
  Observer& observer_;
  std::stop_token stop_;
  Strategy best_;
  Score best_score_;
  std::int64_t evaluations_ = 0;
  std::size_t gradients_ = 0;
  std::set<OpId> producers_;  // of gradients for which an integer program duplicates ops
  std::vector<Class> classes_;
};

class SfbRefiner final : public Refiner {
 public:
  std::string name() const override { return "sfb"; }
  std::vector<OptionHelp> options() const override { return list_options<SfbRefinement>(); }

  PlanResult refine(const Problem& problem, Evaluator& evaluator, PlanResult planned,
                    const PlannerOptions& options, Observer& observer,
                    std::stop_token stop) override {
    auto refinement = read_options<SfbRefinement>(options.set);
    refinement.threads = options.threads;
    return Refinement(problem, evaluator, std::move(planned), refinement, observer, std::move(stop))
        .run();
  }
};

std::unique_ptr<Refiner> make(std::string_view) { return std::make_unique<SfbRefiner>(); }

}  // namespace
}  // namespace strato

STRATOSCOPE_REFINER(strato::make)
