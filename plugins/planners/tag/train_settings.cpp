#include "plugins/planners/tag/train_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <limits>

#include "core/base/error.h"
#include "core/sim/timeline/feedback.h"

namespace strato::tag {
namespace {

constexpr int kMost = 1'000'000;

std::string to_text(const Targets& targets) {
  std::string text;
  const auto add = [&](bool chosen, const char* name) {
    if (chosen) text += (text.empty() ? "" : "+") + std::string(name);
  };
  add(targets.visits, "visits");
  add(targets.best, "best");
  add(targets.values, "values");
  return text;
}

[[noreturn]] void refuse(const std::string& key, const std::string& value,
                         const std::string& problem, const std::string& remedy) {
  throw InputError("", "--set " + key + "=" + value, problem, remedy);
}

Targets parse_targets(const std::string& text) {
  Targets targets;
  if (text == "both") {
    targets.visits = targets.best = true;
    return targets;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('+', at), text.size());
    const std::string name = text.substr(at, end - at);
    if (name == "visits") {
      targets.visits = true;
    } else if (name == "best") {
      targets.best = true;
    } else if (name == "values") {
      targets.values = true;
    } else {
      refuse("targets", text, "\"" + name + "\" is no target",
             "give visits, best or values, or some of them: best+values");
    }
    at = end + 1;
  }
  return targets;
}

// One option: its name, its help, and where it lives. Numbers have a range.
struct Field {
  const char* name;
  const char* help;
  bool shapes_training;  // a checkpoint made with another value is of no use
  std::function<std::string(const TrainSettings&)> text;
  std::function<void(TrainSettings&, const PlannerOptions&)> read;
};

Field whole(const char* name, const char* help, int& (*member)(TrainSettings&), int low,
            bool shapes = true) {
  return {name, help, shapes,
          [=](const TrainSettings& s) {
            TrainSettings copy = s;
            return std::to_string(member(copy));
          },
          [=](TrainSettings& s, const PlannerOptions& given) {
            const std::int64_t value = given.integer(name, member(s));
            if (value < low || value > kMost)
              refuse(name, std::to_string(value), "the value is out of range",
                     fmt::format("give a whole number from {} to {}", low, kMost));
            member(s) = static_cast<int>(value);
          }};
}

Field real(const char* name, const char* help, double& (*member)(TrainSettings&), double low,
           double high, bool shapes = true) {
  return {name, help, shapes,
          [=](const TrainSettings& s) {
            TrainSettings copy = s;
            return fmt::format("{}", member(copy));
          },
          [=](TrainSettings& s, const PlannerOptions& given) {
            const double value = given.number(name, member(s));
            if (!(value >= low && value <= high))
              refuse(name, given.text(name, ""), "the value is out of range",
                     fmt::format("give a number from {} to {}", low, high));
            member(s) = value;
          }};
}

Field word(const char* name, const char* help, std::string& (*member)(TrainSettings&),
           bool shapes) {
  return {name, help, shapes,
          [=](const TrainSettings& s) {
            TrainSettings copy = s;
            return member(copy);
          },
          [=](TrainSettings& s, const PlannerOptions& given) {
            member(s) = given.text(name, member(s));
          }};
}

using S = TrainSettings;

std::vector<Field> search_fields() {
  return {
      {"targets", "visits (the paper), best, values, or several: best+values", true,
       [](const S& s) { return to_text(s.targets); },
       [](S& s, const PlannerOptions& given) {
         s.targets = parse_targets(given.text("targets", to_text(s.targets)));
       }},
      whole(
          "iterations", "evaluations of a search", [](S& s) -> int& { return s.iterations; }, 1),
      real(
          "polish", "part of them spent on local improvement",
          [](S& s) -> double& { return s.polish; }, 0, 0.95),
      whole(
          "visits", "least visits of a vertex to learn from (the paper: 800)",
          [](S& s) -> int& { return s.visits; }, 2),
      whole(
          "depths", "vertices of the best strategy to learn from",
          [](S& s) -> int& { return s.depths; }, 1),
      real(
          "temperature", "of values: tolerated difference of times, as a part",
          [](S& s) -> double& { return s.temperature; }, 1e-4, 10),
      real(
          "uniform", "part of the searches with a uniform prior",
          [](S& s) -> double& { return s.uniform; }, 0, 1),
      real(
          "known", "part of them that goes on from the best known; 0: each stands alone",
          [](S& s) -> double& { return s.known; }, 0, 1),
      real(
          "feedback", "part of the examples that see runtime feedback",
          [](S& s) -> double& { return s.feedback; }, 0, 1),
      whole(
          "groups", "op groups at most", [](S& s) -> int& { return s.groups; }, 1),
      whole(
          "searches", "searches a round", [](S& s) -> int& { return s.searches; }, 1),
  };
}

std::vector<Field> learning_fields() {
  return {
      whole(
          "updates", "steps of the optimizer a round", [](S& s) -> int& { return s.updates; }, 1),
      whole(
          "minibatch", "examples a step", [](S& s) -> int& { return s.minibatch; }, 1),
      whole(
          "buffer", "latest examples that are learned from", [](S& s) -> int& { return s.buffer; },
          1),
      real(
          "rate", "learning rate at its highest", [](S& s) -> double& { return s.learn.rate; }, 0,
          1),
      real(
          "weight-decay", "of AdamW", [](S& s) -> double& { return s.learn.weight_decay; }, 0, 1),
      real(
          "clip", "most length of the gradient", [](S& s) -> double& { return s.learn.clip; }, 1e-6,
          1e6),
      whole(
          "width", "length of the network's embeddings", [](S& s) -> int& { return s.size.width; },
          1),
      whole(
          "layers", "of the network", [](S& s) -> int& { return s.size.layers; }, 1),
      whole(
          "heads", "of its attention", [](S& s) -> int& { return s.size.heads; }, 1),
      {"network", "default, or paper: as in TAG 4.2.1", true,
       [](const S& s) { return std::string(s.size.paper ? "paper" : "default"); },
       [](S& s, const PlannerOptions& given) {
         s.size.paper = given.choice("network", s.size.paper ? "paper" : "default",
                                     {"default", "paper"}) == "paper";
       }},
      word(
          "start", "weights to begin with", [](S& s) -> std::string& { return s.start; }, true),
  };
}

std::vector<Field> running_fields() {
  return {
      word(
          "device", "where the network learns: cpu, cuda, cuda:1",
          [](S& s) -> std::string& { return s.device; }, false),
      whole(
          "held-out", "searches that only measure", [](S& s) -> int& { return s.held_out; }, 0),
      whole(
          "report", "steps from point to point of the loss curve",
          [](S& s) -> int& { return s.report; }, 1, false),
      real(
          "save", "seconds between checkpoints", [](S& s) -> double& { return s.save_seconds; },
          0.01, 1e6, false),
      real(
          "patience", "seconds until a silent process is taken for lost",
          [](S& s) -> double& { return s.patience; }, 1, 1e6, false),
  };
}

const std::vector<Field>& fields() {
  static const std::vector<Field> all = [] {
    std::vector<Field> list = search_fields();
    for (const auto& more : {learning_fields(), running_fields()})
      list.insert(list.end(), more.begin(), more.end());
    return list;
  }();
  return all;
}

TrainSettings defaults() {
  TrainSettings settings;
  settings.targets = parse_targets("best+values");
  return settings;
}

void refuse_unknown(const std::map<std::string, std::string>& set) {
  for (const auto& [key, value] : set) {
    const std::string& wanted = key;
    if (std::ranges::any_of(fields(), [&](const Field& f) { return wanted == f.name; })) continue;
    std::string list;
    for (const Field& field : fields())
      list += (list.empty() ? "" : ", ") + std::string(field.name);
    refuse(key, value, "the trainer of 'tag' has no option '" + key + "'", "it has: " + list);
  }
}

}  // namespace

TrainSettings TrainSettings::from(const TrainingOptions& options) {
  refuse_unknown(options.set);
  PlannerOptions given;
  given.set = options.set;
  TrainSettings settings = defaults();
  for (const Field& field : fields()) field.read(settings, given);
  if (settings.size.width % settings.size.heads != 0)
    refuse("width", std::to_string(settings.size.width),
           fmt::format("is no multiple of the {} heads", settings.size.heads),
           "give a multiple, or another number of heads");
  if (settings.size.width > 1024 || settings.size.layers > 64)
    refuse("width", std::to_string(settings.size.width), "the network is too large",
           "give a width up to 1024 and up to 64 layers");
  return settings;
}

std::vector<OptionHelp> TrainSettings::help() {
  std::vector<OptionHelp> help;
  const TrainSettings settings = defaults();
  for (const Field& field : fields())
    help.push_back({field.name, field.text(settings), field.help});
  return help;
}

std::string TrainSettings::fingerprint() const {
  std::string text;
  for (const Field& field : fields())
    if (field.shapes_training) text += fmt::format("{}={}\n", field.name, field.text(*this));
  return text;
}

}  // namespace strato::tag
