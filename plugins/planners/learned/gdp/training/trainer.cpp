#include "plugins/planners/learned/gdp/training/trainer.h"

#include <fmt/format.h>

#include "plugins/planners/learned/gdp/training/old_checkpoint.h"
#include "plugins/planners/learned/gdp/training/policy_learner.h"
#include "plugins/planners/learned/kit/training/training.h"

namespace strato::gdp {
namespace {

class GdpTrainer final : public Trainer {
 public:
  explicit GdpTrainer(const PluginRegistry* heuristics) : heuristics_(heuristics) {}
  std::vector<OptionHelp> options() const override { return list_options<TrainSettings>(); }
  TrainingResult train(const TrainingOptions& options, TrainingObserver& observer,
                       std::stop_token stop) override {
    const TrainSettings settings = TrainSettings::from(options);
    const auto learner = make_learner(options, settings, heuristics_);
    const auto read_old = [&](std::string_view bytes, const std::string& file) {
      learned::Checkpoint checkpoint = read_old_checkpoint(bytes, file);
      if (checkpoint.fingerprint == learner->old_fingerprint())
        checkpoint.fingerprint = learned::full_fingerprint(options, learner->fingerprint());
      return checkpoint;
    };
    return learned::Training({"gdp", settings.run, learner->fingerprint(), read_old}, options,
                             *learner, observer, std::move(stop))
        .run();
  }

 private:
  const PluginRegistry* heuristics_;
};

}  // namespace

std::unique_ptr<Trainer> make_trainer(const PluginRegistry* heuristics) {
  return std::make_unique<GdpTrainer>(heuristics);
}

}  // namespace strato::gdp
