#include "core/plugin/api/planner_function.h"

#include <algorithm>

namespace strato {

namespace {

class RefinedPlanner final : public Planner {
 public:
  RefinedPlanner(std::unique_ptr<Planner> planner, std::unique_ptr<Refiner> refiner)
      : planner_(std::move(planner)), refiner_(std::move(refiner)) {}

  std::string name() const override { return planner_->name() + "+" + refiner_->name(); }
  bool is_baseline() const override { return planner_->is_baseline(); }
  bool wants_feedback() const override { return planner_->wants_feedback(); }

  // The planner's and the refiner's; an option that both have is given to both.
  std::vector<OptionHelp> options() const override {
    std::vector<OptionHelp> all = planner_->options();
    for (OptionHelp& option : refiner_->options()) {
      const auto same = [&](const OptionHelp& other) { return other.name == option.name; };
      if (std::ranges::none_of(all, same)) all.push_back(std::move(option));
    }
    return all;
  }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override {
    PlanResult planned =
        planner_->plan(problem, evaluator, options, observer, stop, std::move(resume));
    return refiner_->refine(problem, evaluator, std::move(planned), options, observer, stop);
  }

 private:
  std::unique_ptr<Planner> planner_;
  std::unique_ptr<Refiner> refiner_;
};

}  // namespace

PlanResult best_of(const PlanRequest& request, std::vector<Strategy> strategies) {
  const std::vector<Score> scores = request.evaluator.evaluate(strategies);
  const std::size_t best = best_of(scores);
  PlanResult result;
  result.strategy = std::move(strategies[best]);
  result.score = scores[best];
  result.evaluations = std::ssize(scores);
  request.observer.on_improvement(result.strategy, result.score,
                                  {result.evaluations, result.evaluations, 0, result.score});
  return result;
}

std::unique_ptr<Planner> refined_planner(std::unique_ptr<Planner> planner,
                                         std::unique_ptr<Refiner> refiner) {
  return std::make_unique<RefinedPlanner>(std::move(planner), std::move(refiner));
}

}  // namespace strato
