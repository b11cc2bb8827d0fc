#include "plugins/planners/learned/tag/training/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace strato::tag {
namespace {

constexpr double kMost = 1'000'000;
constexpr OptionRange kPart{0, 1}, kTolerance{1e-4, 10};

constexpr std::array<std::pair<const char*, bool Targets::*>, 3> kTargets = {
    {{"visits", &Targets::visits}, {"best", &Targets::best}, {"values", &Targets::values}}};

std::string to_text(const Targets& targets) {
  std::string text;
  for (const auto& [name, target] : kTargets)
    if (targets.*target) text += (text.empty() ? "" : "+") + std::string(name);
  return text;
}

void choose(Targets& targets, const std::string& name, const std::string& text) {
  const auto* found = std::ranges::find(kTargets, name, [](const auto& t) { return t.first; });
  if (found == kTargets.end())
    refuse_option("targets", text, fmt::format("\"{}\" is no target", name),
                  "give visits, best or values, or some of them: best+values");
  targets.*(found->second) = true;
}

Targets parse_targets(const std::string& text) {
  if (text == "both") return {true, true, false};
  Targets targets{false, false, false};
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('+', at), text.size());
    choose(targets, text.substr(at, end - at), text);
    at = end + 1;
  }
  return targets;
}

}  // namespace

// In the order of the fingerprint that checkpoints have.
OptionTable TrainSettings::option_table() {
  OptionTable table = {
      {"targets", [this](const std::string& text) { targets = parse_targets(text); },
       [this] { return to_text(targets); },
       "visits (the paper), best, values, or several: best+values",
       "what the network learns to predict"},
      {"iterations", iterations, {1, kMost}, "evaluations of a search"},
      {"polish", polish, {0, 0.95}, "part of them spent on local improvement"},
      {"visits", visits, {2, kMost}, "least visits of a vertex to learn from (the paper: 800)"},
      {"depths", depths, {1, kMost}, "vertices of the best strategy to learn from"},
      {"temperature", temperature, kTolerance,
       "of values: tolerated difference of times, as a part"},
      {"uniform", uniform, {0, 1}, "part of the searches with a uniform prior"},
      {"known", known, kPart,
       "part of them that goes on from the best known; 0: each stands alone"},
      {"feedback", feedback, {0, 1}, "part of the examples that see runtime feedback"},
      {"groups", groups, {1, kMost}, "op groups at most"},
      {"searches", searches, {1, kMost}, "searches a round"},
      {"updates", updates, {1, kMost}, "steps of the optimizer a round"},
      {"minibatch", minibatch, {1, kMost}, "examples a step"},
      {"buffer", buffer, {1, kMost}, "latest examples that are learned from"},
      {"rate", learn.rate, {0, 1}, "learning rate at its highest"},
      {"weight-decay", learn.weight_decay, {0, 1}, "of AdamW"},
      {"clip", learn.clip, {1e-6, 1e6}, "most length of the gradient"},
      {"width", size.width, {1, 1024}, "length of the network's embeddings"},
      {"layers", size.layers, {1, 64}, "of the network"},
      {"heads", size.heads, {1, 1024}, "of its attention"},
      {"network", size.paper, {"default", "paper"}, "default, or paper: as in TAG 4.2.1"}};
  return table.add(run.option_table());
}

TrainSettings TrainSettings::from(const TrainingOptions& options) {
  refuse_unknown_options("the trainer of 'tag'", list_options<TrainSettings>(), options.set);
  TrainSettings settings = read_options<TrainSettings>(options.set);
  if (settings.size.width % settings.size.heads != 0)
    refuse_option("width", std::to_string(settings.size.width),
                  fmt::format("is no multiple of the {} heads", settings.size.heads),
                  "give a multiple, or another number of heads");
  return settings;
}

}  // namespace strato::tag
