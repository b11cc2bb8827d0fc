// method=ppo, as in the paper: a visit takes a random model to a random cluster and plays a few
// rounds of PPO there; then the next.
#pragma once

#include "plugins/planners/learned/gdp/training/policy_learner.h"

namespace strato::gdp {

class PpoLearner final : public PolicyLearner {
 public:
  PpoLearner(const TrainingOptions& options, const TrainSettings& settings,
             const PluginRegistry* heuristics)
      : PolicyLearner(options, settings, heuristics) {}

  void collect(std::int64_t, const Phase&, const std::stop_token&) override {}
  // Its loss is minus the mean reward of the last round.
  std::optional<double> learn(std::int64_t step, double rate, const Phase& phase,
                              const std::stop_token& stop) override;
  double rate() const override { return settings_.ppo.learn.rate; }
  std::string experience() const override { return {}; }
  void restore(const learned::Collected& collected, std::string_view, const std::string&) override {
    collected_ = collected;
  }

 private:
  std::optional<double> play_rounds(PlacementTask& task, std::int64_t step,
                                    const std::stop_token& stop);
};

}  // namespace strato::gdp
