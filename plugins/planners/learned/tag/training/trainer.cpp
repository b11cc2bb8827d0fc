#include "plugins/planners/learned/tag/training/trainer.h"

#include <fmt/format.h>

#include "core/base/parallel.h"
#include "plugins/planners/learned/kit/training/training.h"
#include "plugins/planners/learned/tag/training/experience.h"

namespace strato::tag {
namespace {

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
      : options_(options),
        settings_(settings),
        instances_(options, settings),
        network_(settings.run.start.empty() ? Network::make(settings.size, options.seed)
                                            : Network::load(settings.run.start)),
        buffer_(instances_, static_cast<std::size_t>(settings.buffer), options.threads) {}

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
    if (collected_.searches >= (step / settings_.updates + 1) * settings_.searches) return;
    std::vector<SearchOrder> orders;
    for (int i = 0; i < settings_.searches; ++i)
      orders.push_back(order_of(collected_.searches + i, options_.rank));
    phase("searching " + instances_.problems().name(orders.front().key));
    const std::vector<Searched> searched = search_all(orders, stop);
    if (!stop.stop_requested()) {
      collected_.examples += static_cast<std::int64_t>(buffer_.add(records_of(searched)));
      remember(orders, searched);
      collected_.searches += settings_.searches;
    }
    phase("learning");
  }
  std::optional<InputError> nothing_to_learn() const override {
    if (collected_.searches == 0 || !buffer_.empty()) return std::nullopt;
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
  learned::Collected collected() const override { return collected_; }
  std::string experience() const override { return write_experience({buffer_.records(), known_}); }
  void restore(const learned::Collected& collected, std::string_view experience,
               const std::string& file) override {
    Experience read = read_experience(experience, file);
    collected_ = collected;
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
  TrainingInstances instances_;
  Network network_;
  ExampleBuffer buffer_;
  std::vector<Example> held_out_;
  BestKnown known_;
  learned::Collected collected_;
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

std::unique_ptr<Trainer> make_trainer() { return std::make_unique<TagTrainer>(); }

}  // namespace strato::tag
