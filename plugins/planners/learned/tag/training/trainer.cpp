#include "plugins/planners/learned/tag/training/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/parallel.h"
#include "plugins/planners/learned/tag/training/experience.h"

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

Targets parse_targets(const std::string& text) {
  if (text == "both") return {true, true, false};
  Targets targets{false, false, false};
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('+', at), text.size());
    const std::string name = text.substr(at, end - at);
    const auto* found = std::ranges::find(kTargets, name, [](const auto& t) { return t.first; });
    if (found == kTargets.end())
      refuse_option("targets", text, fmt::format("\"{}\" is no target", name),
                    "give visits, best or values, or some of them: best+values");
    targets.*(found->second) = true;
    at = end + 1;
  }
  return targets;
}

using learned::random_stream;

std::vector<Record> records_of(std::span<const Searched> searched) {
  std::vector<Record> all;
  for (const Searched& one : searched)
    all.insert(all.end(), one.records.begin(), one.records.end());
  return all;
}

// `options` must outlive it.
class TagLearner final : public learned::Learner {
 public:
  TagLearner(const TrainingOptions& options, const TrainSettings& settings)
      : options_(options), settings_(settings) {}

  std::string fingerprint() const {
    return learned::fingerprint_of(settings_) + instances_.problems().fingerprint();
  }

  learned::TrainedNetwork& network() override { return network_; }
  // The same searches in every process, too: they do not see the network.
  void hold_out(const Phase& phase, const std::stop_token& stop) override {
    std::vector<SearchOrder> orders;
    for (int i = 0; i < settings_.run.held_out; ++i) orders.push_back(held_out_order(i));
    phase("searching what only measures");
    for (auto& [record, example] :
         with_features(instances_, records_of(search_all(orders, stop)), options_.threads))
      held_out_.push_back(std::move(example));
  }
  // One round at most: a process that took over a later step makes up for one round a step.
  void collect(std::int64_t step, const Phase& phase, const std::stop_token& stop) override {
    if (collected.searches >= (step / settings_.updates + 1) * settings_.searches) return;
    std::vector<SearchOrder> orders;
    for (int i = 0; i < settings_.searches; ++i)
      orders.push_back(order_of(collected.searches + i, options_.rank));
    phase("searching " + instances_.problems().name(orders.front().key));
    const std::vector<Searched> searched = search_all(orders, stop);
    if (!stop.stop_requested()) {
      collected.examples += static_cast<std::int64_t>(buffer_.add(records_of(searched)));
      remember(orders, searched);
      collected.searches += settings_.searches;
    }
    phase("learning");
  }
  std::optional<InputError> nothing_to_learn() const override {
    if (collected.searches == 0 || !buffer_.empty()) return std::nullopt;
    return InputError("", "training",
                      fmt::format("no vertex of a search has {} visits: nothing is learned from",
                                  settings_.visits),
                      "give more --set iterations=N, or fewer --set visits=N");
  }
  std::optional<double> learn(std::int64_t step, double rate, const Phase&,
                              const std::stop_token&) override {
    Random random(random_stream(options_.seed, "minibatch", step, options_.rank));
    LearnOptions options = settings_.learn;
    options.rate = rate;
    return network_.learn(buffer_.minibatch(settings_.minibatch, random), options);
  }
  void measure(TrainingPoint& point) override {
    if (!held_out_.empty()) point.held_out_loss = network_.loss(held_out_);
  }
  double rate() const override { return settings_.learn.rate; }
  std::string experience() const override { return write_experience({buffer_.records(), known_}); }
  void restore(std::string_view experience, const std::string& file) override {
    Experience read = read_experience(experience, file);
    known_ = std::move(read.known);
    buffer_.add({read.records.begin(), read.records.end()});
  }

 private:
  SearchOrder order_of(std::int64_t search, int rank) const {
    Random random(random_stream(options_.seed, "search", search, rank));
    SearchOrder order;
    order.key = instances_.problems().draw(random);
    order.seed = random.next();
    // Before the first round the network has learned nothing.
    order.uniform = random.uniform() < settings_.uniform ||
                    (search < settings_.searches && settings_.run.start.empty());
    if (settings_.known <= 0) return order;
    if (const auto known = known_.find(order.key); known != known_.end())
      order.known = known->second;
    order.go_on = !order.known.empty() && random.uniform() < settings_.known;
    return order;
  }
  SearchOrder held_out_order(int search) const {
    const SearchOrder drawn = order_of(-1 - search, 0);
    const std::int32_t model = search % instances_.problems().model_count();
    return {{model, drawn.key.cluster}, drawn.seed, true, {}, false};
  }
  // The same whatever the number of threads: what one finds, another of the same round does not
  // know.
  std::vector<Searched> search_all(std::span<const SearchOrder> orders,
                                   const std::stop_token& stop) {
    std::vector<Searched> searched(orders.size());
    parallel_for(orders.size(), options_.threads, [&](std::size_t i) {
      const auto instance = instances_.instance(orders[i].key);
      searched[i] = search_records(*instance, orders[i], network_, settings_, stop);
    });
    return searched;
  }
  // Remembers what the better one found where two searched the same instance.
  void remember(std::span<const SearchOrder> orders, std::span<const Searched> searched) {
    std::map<ProblemKey, const Searched*> found;
    for (std::size_t i = 0; i < orders.size(); ++i) {
      if (searched[i].best.empty()) continue;
      const Searched*& best = found[orders[i].key];
      if (best == nullptr || searched[i].score.better_than(best->score)) best = &searched[i];
    }
    for (const auto& [key, best] : found) known_[key] = best->best;
  }

  const TrainingOptions& options_;
  const TrainSettings settings_;
  TrainingInstances instances_{options_, settings_};
  Network network_ = settings_.run.start.empty() ? Network::make(settings_.size, options_.seed)
                                                 : Network::load(settings_.run.start);
  ExampleBuffer buffer_{instances_, static_cast<std::size_t>(settings_.buffer), options_.threads};
  std::vector<Example> held_out_;
  BestKnown known_;
};

class TagTrainer final : public Trainer {
 public:
  std::vector<OptionHelp> options() const override { return list_options<TrainSettings>(); }
  TrainingResult train(const TrainingOptions& options, TrainingObserver& observer,
                       std::stop_token stop) override {
    const TrainSettings settings = TrainSettings::from(options);
    TagLearner learner(options, settings);
    return learned::run_training({"tag", settings.run, learner.fingerprint(), read_old_checkpoint},
                                 options, learner, observer, stop);
  }
};

}  // namespace

// In the order of the fingerprint that checkpoints have.
OptionTable TrainSettings::option_table() {
  OptionTable table = {
      {"targets", [this](const std::string& text) { targets = parse_targets(text); },
       [this] { return to_text(targets); },
       "visits (the paper), best, values, or several: best+values",
       "what the network learns to predict"},
      {"iterations", iterations, {1, kMost}, "evaluations of a search"},
      {"polish", search.polish, {0, 0.95}, "part of them spent on local improvement"},
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

std::unique_ptr<Trainer> make_trainer() { return std::make_unique<TagTrainer>(); }

}  // namespace strato::tag
