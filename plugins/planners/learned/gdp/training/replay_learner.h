// method=replay (not in the paper): pairs of a model and a cluster are searched for good placements
// (teacher.h), and every step learns from a few of all pairs met so far, so that nothing is
// forgotten.
#pragma once

#include "plugins/planners/learned/gdp/training/policy_learner.h"

namespace strato::gdp {

class ReplayLearner final : public PolicyLearner {
 public:
  ReplayLearner(const TrainingOptions& options, const TrainSettings& settings,
                const PluginRegistry* heuristics);

  void collect(std::int64_t step, const Phase& phase, const std::stop_token& stop) override;
  std::optional<InputError> nothing_to_learn() const override;
  std::optional<double> learn(std::int64_t step, double rate, const Phase& phase,
                              const std::stop_token& stop) override;
  double rate() const override { return settings_.rate; }
  std::string experience() const override;
  void restore(const learned::Collected& collected, std::string_view experience,
               const std::string& file) override;

 private:
  LessonMemory memory_;
};

}  // namespace strato::gdp
