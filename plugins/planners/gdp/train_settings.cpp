#include "plugins/planners/gdp/train_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "plugins/planners/gdp/planner_options.h"

namespace strato::gdp {
namespace {

constexpr int kMost = 100'000;

void refuse_unknown(const TrainingOptions& options) {
  const std::vector<OptionHelp> known = TrainSettings::help();
  for (const auto& [key, value] : options.set) {
    if (std::ranges::find(known, key, &OptionHelp::name) != known.end()) continue;
    std::string list;
    for (const OptionHelp& option : known) list += (list.empty() ? "" : ", ") + option.name;
    throw InputError("", "--set " + key + "=" + value, "the trainer of 'gdp' has no such option",
                     "it has: " + list);
  }
}

}  // namespace

std::vector<OptionHelp> TrainSettings::help() {
  const TrainSettings d;
  const auto text = [](auto value) { return fmt::format("{}", value); };
  return {
      {"method", "replay",
       "replay: imitate the best known placements of all pairs of a model and a cluster met so "
       "far; "
       "ppo: learn from own trials on one pair after another (GDP-batch, as in the paper)"},
      {"rate", text(d.rate) + ", ppo " + text(d.ppo.learn.rate), "of learning (Adam)"},
      {"memory", text(d.memory), "replay: the latest pairs, which are learned from"},
      {"first", text(d.first), "replay: pairs before the first step"},
      {"visits", text(d.visits), "replay: new pairs at once"},
      {"updates", text(d.updates), "replay: steps from new pairs to new pairs"},
      {"minibatch", text(d.minibatch), "replay: pairs that a step learns from"},
      {"search", text(d.search), "replay: evaluations of the search for a pair's best placement"},
      {"whole", text(d.whole), "replay: part of the pairs whose units go to one device each"},
      {"rounds", text(d.rounds), "ppo: in a visit of a model on a cluster"},
      {"rollouts", text(d.ppo.rollouts), "ppo: placements tried a round"},
      {"minibatches", text(d.ppo.minibatches), "ppo: steps an epoch"},
      {"epochs", text(d.ppo.epochs), "ppo: times that a round is learned from"},
      {"entropy", text(d.ppo.learn.entropy), "ppo: weight of the policy's entropy"},
      {"imitation", "1", "ppo: weight of giving the best placement as the answer; 0: PPO alone"},
      {"attention", "true", "false: every unit on its own"},
      {"superposition", "true", "false: layers are not conditioned on the graph"},
      {"start", "", "weights to begin with; empty: fresh ones"},
      {"device", "cpu", "where the network computes: cpu, cuda"},
      {"held-out", text(d.held_out), "pairs that only measure; 0: none"},
      {"report", text(d.report), "steps from point to point of the curve"},
      {"patience", text(d.patience), "seconds until a silent process is taken for lost"},
  };
}

TrainSettings TrainSettings::from(const TrainingOptions& options) {
  refuse_unknown(options);
  PlannerOptions given;
  given.set = options.set;
  TrainSettings s;
  if (given.choice("method", "replay", {"replay", "ppo"}) == "ppo") s.method = Method::Ppo;
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, int*>>{{"memory", &s.memory},
                                                           {"first", &s.first},
                                                           {"visits", &s.visits},
                                                           {"updates", &s.updates},
                                                           {"minibatch", &s.minibatch},
                                                           {"search", &s.search},
                                                           {"rounds", &s.rounds},
                                                           {"rollouts", &s.ppo.rollouts},
                                                           {"minibatches", &s.ppo.minibatches},
                                                           {"epochs", &s.ppo.epochs},
                                                           {"report", &s.report}})
    *value = whole_option(given, key, *value, kMost);
  if (given.text("held-out", "") == "0")
    s.held_out = 0;
  else
    s.held_out = whole_option(given, "held-out", s.held_out, kMost);
  s.rate = number_option(given, "rate", s.rate, 1);
  s.ppo.learn.rate = number_option(given, "rate", s.ppo.learn.rate, 1);
  s.whole = number_option(given, "whole", s.whole, 1);
  s.ppo.learn.entropy = number_option(given, "entropy", s.ppo.learn.entropy, 100);
  s.ppo.learn.imitation = number_option(given, "imitation", 1, 100);
  s.size.attention = given.boolean("attention", true);
  s.size.superposition = given.boolean("superposition", true);
  s.start = given.text("start", "");
  s.device = given.text("device", s.device);
  s.patience = std::max(1.0, number_option(given, "patience", s.patience, 1e6));
  return s;
}

}  // namespace strato::gdp
