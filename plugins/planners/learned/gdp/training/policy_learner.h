// The base of the two methods of training `gdp` ("GDP-batch", GDP 3.3 and 4.3): one policy learns
// from many graphs on many clusters, and is measured on pairs that nothing is learned from.
#pragma once

#include <memory>
#include <vector>

#include "plugins/planners/learned/gdp/training/lessons.h"
#include "plugins/planners/learned/gdp/training/settings.h"
#include "plugins/planners/learned/kit/training/learner.h"

namespace strato::gdp {

class PolicyLearner : public learned::Learner {
 public:
  std::string fingerprint() const;
  // As versions before wrote it (old_checkpoint.h).
  std::string old_fingerprint() const;

  learned::TrainedNetwork& network() override { return network_; }
  // The first one of several processes measures.
  void hold_out(const Phase& phase, const std::stop_token& stop) override;
  // Measures how near the policy is to the best known placements.
  void measure(TrainingPoint& point) override;
  learned::Collected collected() const override { return collected_; }

 protected:
  // `options` and the heuristics must outlive it. Throws InputError.
  PolicyLearner(const TrainingOptions& options, const TrainSettings& settings,
                const PluginRegistry* heuristics);
  // Every process has numbers of its own.
  std::int64_t of_this_process(std::int64_t number) const {
    return number * options_.processes + options_.rank;
  }

  const TrainingOptions& options_;
  const TrainSettings settings_;
  const TrainingPairs pairs_;
  const TeacherOptions teacher_;
  Network network_;
  learned::Collected collected_;

 private:
  struct HeldOut {
    std::unique_ptr<Lesson> lesson;
    Placement answer;
  };
  std::vector<HeldOut> held_out_;
};

// That of the settings' method. Throws InputError.
std::unique_ptr<PolicyLearner> make_learner(const TrainingOptions& options,
                                            const TrainSettings& settings,
                                            const PluginRegistry* heuristics);

}  // namespace strato::gdp
