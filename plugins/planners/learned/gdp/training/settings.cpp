#include "plugins/planners/learned/gdp/training/settings.h"

#include <fmt/format.h>

namespace strato::gdp {

OptionTable TrainSettings::option_table() {
  constexpr OptionRange kCount{1, 100'000}, kPart{0, 1}, kWeight{0, 100};
  // One option for the rates of both methods.
  const auto read_rate = [this, kPart](const std::string& text) {
    OptionTable({{"rate", rate, kPart, ""}, {"rate", ppo.learn.rate, kPart, ""}})
        .read({{"rate", text}});
  };
  const auto write_rate = [this] {
    return fmt::format("{}", method == Method::Ppo ? ppo.learn.rate : rate);
  };
  OptionTable table = {
      {"method",
       method,
       {"replay", "ppo"},
       "replay: imitate the best known placements of all pairs of a model and a cluster met so "
       "far; "
       "ppo: learn from own trials on one pair after another (GDP-batch, as in the paper)"},
      {"rate", read_rate, write_rate, "from 0 to 1",
       fmt::format("of learning (Adam); of ppo {}", PpoOptions().learn.rate)},
      {"memory", memory, kCount, "replay: the latest pairs, which are learned from"},
      {"first", first, kCount, "replay: pairs before the first step"},
      {"visits", visits, kCount, "replay: new pairs at once"},
      {"updates", updates, kCount, "replay: steps from new pairs to new pairs"},
      {"minibatch", minibatch, kCount, "replay: pairs that a step learns from"},
      {"search", search, kCount, "replay: evaluations of the search for a pair's best placement"},
      {"whole", whole, kPart, "replay: part of the pairs whose units go to one device each"},
      {"rounds", rounds, kCount, "ppo: in a visit of a model on a cluster"},
      {"rollouts", ppo.rollouts, kCount, "ppo: placements tried a round"},
      {"minibatches", ppo.minibatches, kCount, "ppo: steps an epoch"},
      {"epochs", ppo.epochs, kCount, "ppo: times that a round is learned from"},
      {"entropy", ppo.learn.entropy, kWeight, "ppo: weight of the policy's entropy"},
      {"imitation", ppo.learn.imitation, kWeight,
       "ppo: weight of giving the best placement as the answer; 0: PPO alone"},
      {"attention", size.attention, "false: every unit on its own"},
      {"superposition", size.superposition, "false: layers are not conditioned on the graph"}};
  return table.add(run.option_table());
}

TrainSettings TrainSettings::from(const TrainingOptions& options) {
  refuse_unknown_options("the trainer of 'gdp'", list_options<TrainSettings>(), options.set);
  return read_options<TrainSettings>(options.set);
}

}  // namespace strato::gdp
