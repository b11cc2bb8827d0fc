#include "plugins/planners/learned/gdp/training/policy_learner.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/parallel.h"
#include "plugins/planners/learned/gdp/training/ppo_learner.h"
#include "plugins/planners/learned/gdp/training/replay_learner.h"
#include "plugins/planners/learned/kit/training/random_stream.h"

namespace strato::gdp {

PolicyLearner::PolicyLearner(const TrainingOptions& options, const TrainSettings& settings,
                             const PluginRegistry* heuristics)
    : options_(options),
      settings_(settings),
      pairs_(options, settings.groups, settings.run.held_out),
      teacher_{settings.search, heuristics},
      network_(settings.run.start.empty() ? Network::make(settings.size, options.seed)
                                          : Network::load(settings.run.start)) {}

std::string PolicyLearner::fingerprint() const {
  return settings_.fingerprint() + pairs_.problems().fingerprint();
}

std::string PolicyLearner::old_fingerprint() const {
  std::string text = fmt::format("seed={} {}", options_.seed, pairs_.problems().digest().hex());
  for (const auto& [key, value] : options_.set)
    if (key != "report" && key != "device" && key != "patience") text += " " + key + "=" + value;
  if (options_.processes > 1)
    text += fmt::format(" processes={} rank={}", options_.processes, options_.rank);
  return text;
}

// The network is not asked.
void PolicyLearner::hold_out(const Phase& phase, const std::stop_token& stop) {
  if (options_.rank > 0) return;
  phase("searching what only measures");
  held_out_.resize(static_cast<std::size_t>(settings_.run.held_out));
  parallel_for(held_out_.size(), options_.threads, [&](std::size_t i) {
    const auto number = static_cast<std::int64_t>(i);
    held_out_[i].lesson =
        std::make_unique<Lesson>(pairs_, pairs_.held_out_pair(number), network_.size().neighbours);
    held_out_[i].answer = held_out_[i].lesson->search(
        teacher_, learned::random_stream(options_.seed, "held out", number), stop);
  });
  std::erase_if(held_out_, [](const HeldOut& one) { return one.answer.empty(); });
}

void PolicyLearner::measure(TrainingPoint& point) {
  if (held_out_.empty()) return;
  double loss = 0, logarithm = 0;
  const auto count = static_cast<double>(held_out_.size());
  for (const HeldOut& one : held_out_) {
    const GraphFeatures& features = one.lesson->task().features();
    loss += network_.loss({&features, one.answer}) / count;
    logarithm += std::log(one.lesson->ratio(network_.probabilities(features))) / count;
  }
  point.held_out_loss = loss;
  point.held_out_ratio = std::exp(logarithm);
}

std::unique_ptr<PolicyLearner> make_learner(const TrainingOptions& options,
                                            const TrainSettings& settings,
                                            const PluginRegistry* heuristics) {
  if (settings.method == TrainSettings::Method::Ppo)
    return std::make_unique<PpoLearner>(options, settings, heuristics);
  return std::make_unique<ReplayLearner>(options, settings, heuristics);
}

}  // namespace strato::gdp
