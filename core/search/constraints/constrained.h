// Planners that know nothing of constraints are held to them: what they ask about is repaired
// before it is evaluated, so that they look for the best of what is allowed.
#pragma once

#include "core/search/api/planner.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/tree/search_tree.h"

namespace strato {

// `inner` and `constraints` must outlive it.
class RepairingEvaluator final : public Evaluator {
 public:
  RepairingEvaluator(Evaluator& inner, const BoundConstraints& constraints)
      : Evaluator(inner.cluster()), inner_(inner), constraints_(constraints) {}
  std::vector<Score> score(std::span<const CompleteStrategy> strategies) override;

 private:
  Evaluator& inner_;
  const BoundConstraints& constraints_;
};

class RepairingObserver final : public Observer {
 public:
  RepairingObserver(Observer& inner, const BoundConstraints& constraints)
      : inner_(inner), constraints_(constraints) {}
  void on_progress(const Progress& progress) override { inner_.on_progress(progress); }
  void on_improvement(const Strategy& strategy, const Score& score,
                      const Progress& progress) override;
  void on_tree(std::shared_ptr<const SearchTree> tree) override { inner_.on_tree(std::move(tree)); }

 private:
  Observer& inner_;
  const BoundConstraints& constraints_;
};

// The result as it is allowed, scored again; a fact tells what had to be changed.
void hold_to_constraints(PlanResult& result, const BoundConstraints& constraints,
                         const Problem& problem, Evaluator& evaluator);

// The planner's result under the constraints; null: there are none.
PlanResult plan_within(const BoundConstraints* constraints, Planner& planner,
                       const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                       Observer& observer, std::stop_token stop,
                       std::shared_ptr<const SearchTree> resume);

}  // namespace strato
