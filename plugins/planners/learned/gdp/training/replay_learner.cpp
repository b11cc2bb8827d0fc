#include "plugins/planners/learned/gdp/training/replay_learner.h"

#include "plugins/planners/learned/kit/training/random_stream.h"

namespace strato::gdp {

ReplayLearner::ReplayLearner(const TrainingOptions& options, const TrainSettings& settings,
                             const PluginRegistry* heuristics)
    : PolicyLearner(options, settings, heuristics),
      memory_(pairs_, settings.whole, network_.size().neighbours, settings.memory) {}

// All that is due: a process that took over a later step searches what it lacks.
void ReplayLearner::collect(std::int64_t step, const Phase& phase, const std::stop_token& stop) {
  while (collected_.searches < settings_.first + step / settings_.updates * settings_.visits) {
    const int count = collected_.searches == 0 ? settings_.first : settings_.visits;
    // Every process searches pairs of its own.
    const std::int64_t first =
        collected_.searches * options_.processes + std::int64_t{options_.rank} * count;
    phase("placing " + pairs_.problems().name(pairs_.pair(first, settings_.whole).key));
    if (!memory_.search(first, count, teacher_, stop)) return;
    collected_.searches += count;
    collected_.examples = static_cast<std::int64_t>(memory_.size());
    phase("learning");
  }
}

std::optional<InputError> ReplayLearner::nothing_to_learn() const {
  if (collected_.searches == 0 || memory_.size() > 0) return std::nullopt;
  return InputError("", "training", "none of the models fits on the clusters that were tried",
                    "add larger clusters or smaller batches");
}

std::optional<double> ReplayLearner::learn(std::int64_t step, double rate, const Phase&,
                                           const std::stop_token&) {
  Random random(learned::random_stream(options_.seed, "minibatch", of_this_process(step)));
  return network_.imitate(memory_.minibatch(settings_.minibatch, random), rate);
}

std::string ReplayLearner::experience() const { return write_lessons(memory_.records()); }

void ReplayLearner::restore(const learned::Collected& collected, std::string_view experience,
                            const std::string& file) {
  collected_ = collected;
  memory_.restore(read_lessons(experience, file));
  collected_.examples = static_cast<std::int64_t>(memory_.size());
}

}  // namespace strato::gdp
