#include "plugins/planners/learned/tag/training/trainer.h"

#include "plugins/planners/learned/kit/training/training.h"
#include "plugins/planners/learned/tag/training/experience.h"
#include "plugins/planners/learned/tag/training/tag_learner.h"

namespace strato::tag {
namespace {

class TagTrainer final : public Trainer {
 public:
  std::vector<OptionHelp> options() const override { return list_options<TrainSettings>(); }
  TrainingResult train(const TrainingOptions& options, TrainingObserver& observer,
                       std::stop_token stop) override {
    const TrainSettings settings = TrainSettings::from(options);
    TagLearner learner(options, settings);
    return learned::Training({"tag", settings.run, learner.fingerprint(), read_old_checkpoint},
                             options, learner, observer, std::move(stop))
        .run();
  }
};

}  // namespace

std::unique_ptr<Trainer> make_trainer() { return std::make_unique<TagTrainer>(); }

}  // namespace strato::tag
