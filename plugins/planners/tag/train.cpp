#include "plugins/planners/tag/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "plugins/planners/neural/learning_rate.h"
#include "plugins/planners/neural/peers.h"
#include "plugins/planners/neural/resume.h"
#include "plugins/planners/tag/train_buffer.h"
#include "plugins/planners/tag/train_checkpoint.h"

namespace strato::tag {
namespace {

using Clock = std::chrono::steady_clock;
using neural::Going;

// Independent streams of one seed.
std::uint64_t stream(std::uint64_t seed, const char* what, std::int64_t number, int rank) {
  return Hasher().text(what).number(seed).number(number).number(rank).finish().low;
}

std::vector<Record> records_of(std::span<const Searched> searched) {
  std::vector<Record> all;
  for (const Searched& one : searched)
    all.insert(all.end(), one.records.begin(), one.records.end());
  return all;
}

class Training {
 public:
  Training(const TrainingOptions& options, TrainingObserver& observer, std::stop_token stop);
  TrainingResult run();

 private:
  void resume(Checkpoint checkpoint);
  void agree_on_start();
  void take_weights(const std::string& network, const std::string& optimizer);
  std::vector<Searched> search_all(std::span<const SearchOrder> orders);
  SearchOrder order_of(std::int64_t search, int rank) const;
  SearchOrder held_out_order(int search) const;
  void hold_out();
  void search_round();
  void remember(std::span<const SearchOrder> orders, std::span<const Searched> searched);
  bool searches_are_due() const;
  Going standing() const;
  bool share(Going here, LearnOptions& options);
  bool learn();
  double rate() const;
  void report();
  std::string note() const;
  std::string fingerprint() const;
  std::filesystem::path checkpoint_file() const;
  void save();
  bool finished() const;
  double elapsed() const;
  TrainingPoint point() const;
  static Network first_network(const TrainSettings& settings, std::uint64_t seed);

  const TrainingOptions& options_;
  TrainingObserver& observer_;
  const std::stop_token stop_;
  const TrainSettings settings_;
  Grounds grounds_;
  neural::Peers peers_;
  Network network_;
  const std::string start_note_;  // of the weights that it began with
  ExampleBuffer buffer_;
  std::vector<Example> held_out_;
  BestKnown known_;

  std::int64_t step_ = 0, searches_ = 0, examples_ = 0;
  double loss_sum_ = 0;
  std::int64_t losses_ = 0;  // since the last point
  TrainingPoint last_;
  Going going_ = Going::On;  // of all processes
  double elapsed_before_ = 0;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point saved_ = start_;
};

Network Training::first_network(const TrainSettings& settings, std::uint64_t seed) {
  Network network =
      settings.start.empty() ? Network::make(settings.size, seed) : Network::load(settings.start);
  network.move_to(settings.device);
  return network;
}

Training::Training(const TrainingOptions& options, TrainingObserver& observer, std::stop_token stop)
    : options_(options),
      observer_(observer),
      stop_(std::move(stop)),
      settings_(TrainSettings::from(options)),
      grounds_(options, settings_),
      peers_(options.rank, options.processes, options.master, settings_.patience),
      network_(first_network(settings_, options.seed)),
      start_note_(settings_.start.empty() ? "" : network_.note()),
      buffer_(grounds_, settings_.buffer, options.threads) {
  if (auto checkpoint = read_checkpoint(checkpoint_file(), fingerprint()))
    resume(*std::move(checkpoint));
  agree_on_start();
}

std::string Training::fingerprint() const {
  return fmt::format("seed={}\nprocesses={}\nrank={}\n", options_.seed, options_.processes,
                     options_.rank) +
         settings_.fingerprint() + grounds_.fingerprint();
}

std::filesystem::path Training::checkpoint_file() const {
  return neural::checkpoint_of(options_.checkpoint, options_.rank);
}

void Training::resume(Checkpoint checkpoint) {
  observer_.on_phase("reading the checkpoint");
  take_weights(checkpoint.network, checkpoint.optimizer);
  step_ = checkpoint.step;
  searches_ = checkpoint.searches;
  examples_ = checkpoint.examples;
  elapsed_before_ = checkpoint.elapsed_seconds;
  loss_sum_ = checkpoint.loss * static_cast<double>(checkpoint.losses);
  losses_ = checkpoint.losses;
  known_ = std::move(checkpoint.known);
  try {
    buffer_.add({checkpoint.records.begin(), checkpoint.records.end()});
  } catch (const InputError& error) {
    throw InputError(checkpoint_file().string(), error.place(), error.problem(), error.remedy());
  }
}

void Training::take_weights(const std::string& network, const std::string& optimizer) {
  network_ = Network::parse(network, checkpoint_file().string());
  network_.move_to(settings_.device);
  network_.restore_optimizer(optimizer);
}

// One that is behind has its own examples still, and searches those that it lacks, a round a step.
void Training::agree_on_start() {
  if (peers_.processes() == 1) return;
  const auto other = neural::agree_on_start(
      peers_, {step_, elapsed_before_, network_.bytes("{}"), network_.optimizer_state()});
  if (!other) return;
  observer_.on_phase(fmt::format("taking over the weights of step {}", other->step));
  take_weights(other->network, other->optimizer);
  step_ = other->step;
  elapsed_before_ = other->elapsed_seconds;
}

double Training::elapsed() const {
  return elapsed_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
}

bool Training::finished() const {
  return options_.budget_seconds > 0 ? elapsed() >= options_.budget_seconds
                                     : step_ >= options_.steps;
}

Going Training::standing() const {
  if (searches_ > 0 && buffer_.empty()) return Going::NothingToLearn;
  if (finished()) return Going::Finished;
  return stop_.stop_requested() ? Going::Stopped : Going::On;
}

SearchOrder Training::order_of(std::int64_t search, int rank) const {
  Random random(stream(options_.seed, "search", search, rank));
  SearchOrder order;
  order.key.model =
      static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(grounds_.model_count())));
  order.key.cluster =
      static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(grounds_.cluster_count())));
  order.seed = random.next();
  // Before the first round the network has learned nothing.
  order.uniform = random.uniform() < settings_.uniform ||
                  (search < settings_.searches && settings_.start.empty());
  if (settings_.known <= 0) return order;
  if (const auto known = known_.find(order.key); known != known_.end()) order.known = known->second;
  order.go_on = !order.known.empty() && random.uniform() < settings_.known;
  return order;
}

SearchOrder Training::held_out_order(int search) const {
  SearchOrder order = order_of(-1 - search, 0);
  order.key.model = search % grounds_.model_count();
  order.uniform = true;
  order.known.clear();
  order.go_on = false;
  return order;
}

// The same whatever the number of threads: what one finds, another of the same round does not know.
std::vector<Searched> Training::search_all(std::span<const SearchOrder> orders) {
  std::vector<Searched> searched(orders.size());
  parallel_for(orders.size(), options_.threads, [&](std::size_t i) {
    const auto ground = grounds_.ground(orders[i].key);
    searched[i] = search_records(*ground, orders[i], network_, settings_, stop_);
  });
  return searched;
}

// The same searches in every process and after every pause: they do not see the network.
void Training::hold_out() {
  std::vector<SearchOrder> orders;
  for (int i = 0; i < settings_.held_out; ++i) orders.push_back(held_out_order(i));
  observer_.on_phase("searching what only measures");
  for (auto& [record, example] :
       with_features(grounds_, records_of(search_all(orders)), options_.threads))
    held_out_.push_back(std::move(example));
}

bool Training::searches_are_due() const {
  return searches_ < (step_ / settings_.updates + 1) * settings_.searches;
}

// When it is stopped amid, nothing is kept of it, and it is done again.
void Training::search_round() {
  std::vector<SearchOrder> orders;
  for (int i = 0; i < settings_.searches; ++i)
    orders.push_back(order_of(searches_ + i, options_.rank));
  const GroundKey& first = orders.front().key;
  observer_.on_phase(fmt::format("searching {} on {}", grounds_.model_name(first.model),
                                 grounds_.cluster(first.cluster).name()));
  const std::vector<Searched> searched = search_all(orders);
  if (stop_.stop_requested()) return;
  examples_ += static_cast<std::int64_t>(buffer_.add(records_of(searched)));
  remember(orders, searched);
  searches_ += settings_.searches;
}

// Where two searched the same ground, what the better one found.
void Training::remember(std::span<const SearchOrder> orders, std::span<const Searched> searched) {
  std::map<GroundKey, const Searched*> found;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (searched[i].best.empty()) continue;
    const Searched*& best = found[orders[i].key];
    if (best == nullptr || searched[i].score.better_than(best->score)) best = &searched[i];
  }
  for (const auto& [key, best] : found) known_[key] = best->best;
}

double Training::rate() const {
  return neural::learning_rate(settings_.learn.rate, options_, step_, elapsed());
}

// False when a process does not go on: then nobody steps.
bool Training::share(Going here, LearnOptions& options) {
  const bool alone = peers_.processes() == 1;
  const auto shared = neural::share_step(
      peers_, alone || here != Going::On ? std::vector<float>() : network_.gradients(),
      options.rate, here);
  going_ = shared.going;
  if (going_ == Going::NothingToLearn) {
    peers_.leave();
    throw InputError("", "training",
                     fmt::format("no vertex of a search has {} visits: nothing is learned from",
                                 settings_.visits),
                     "give more --set iterations=N, or fewer --set visits=N");
  }
  if (going_ != Going::On || alone) return going_ == Going::On;
  network_.set_gradients(shared.gradients);
  options.rate = shared.rate;
  return true;
}

// One step of all processes, or of none when one of them does not go on: false then.
bool Training::learn() {
  const Going here = standing();
  Random random(stream(options_.seed, "minibatch", step_, options_.rank));
  const double loss =
      here == Going::On ? network_.backward(buffer_.minibatch(settings_.minibatch, random)) : 0;
  LearnOptions options = settings_.learn;
  options.rate = rate();
  if (!share(here, options)) return false;
  network_.step(options);
  ++step_;
  loss_sum_ += loss;
  ++losses_;
  return true;
}

TrainingPoint Training::point() const {
  TrainingPoint point;
  point.step = step_;
  point.loss = losses_ > 0 ? loss_sum_ / static_cast<double>(losses_) : last_.loss;
  if (!held_out_.empty()) point.held_out_loss = network_.loss(held_out_);
  point.elapsed_seconds = elapsed();
  point.searches = searches_;
  point.examples = examples_;
  return point;
}

void Training::report() {
  if (step_ == last_.step) return;
  last_ = point();
  loss_sum_ = 0;
  losses_ = 0;
  observer_.on_point(last_);
}

std::string Training::note() const {
  Json models = Json::array(), clusters = Json::array(), set = Json::object();
  for (std::int32_t i = 0; i < grounds_.model_count(); ++i)
    models.push_back(fmt::format("{} (batch {})", grounds_.model_name(i),
                                 options_.models[static_cast<std::size_t>(i)].graph->batch()));
  for (const auto& cluster : options_.clusters) clusters.push_back(cluster->name());
  for (const auto& [key, value] : options_.set) set[key] = value;
  if (!settings_.start.empty())
    set["start"] = std::filesystem::path(settings_.start).filename().string();
  Json note = {{"made_by", "stratoscope-cli train tag"},
               {"seed", options_.seed},
               {"models", models},
               {"clusters", clusters},
               {"random_clusters", options_.random_clusters},
               {"processes", options_.processes},
               {"set", set},
               {"steps", step_},
               {"searches", searches_},
               {"examples", examples_}};
  if (last_.loss > 0) note["loss"] = last_.loss;  // else no step since the checkpoint
  if (last_.held_out_loss) note["held_out_loss"] = *last_.held_out_loss;
  const Json start = Json::parse(start_note_, nullptr, false);
  if (!start.is_discarded()) note["started_from"] = start;
  return json_text(note);
}

void Training::save() {
  saved_ = Clock::now();
  if (!options_.checkpoint.empty()) {
    Checkpoint checkpoint;
    checkpoint.fingerprint = fingerprint();
    checkpoint.step = step_;
    checkpoint.searches = searches_;
    checkpoint.examples = examples_;
    checkpoint.elapsed_seconds = elapsed();
    checkpoint.losses = losses_;
    if (losses_ > 0) checkpoint.loss = loss_sum_ / static_cast<double>(losses_);
    checkpoint.network = network_.bytes("{}");
    checkpoint.optimizer = network_.optimizer_state();
    checkpoint.records = buffer_.records();
    checkpoint.known = known_;
    write_file(checkpoint_file(), to_bytes(checkpoint));
  }
  if (!options_.output.empty() && options_.rank == 0) network_.save(options_.output, note());
}

TrainingResult Training::run() {
  last_.step = step_;
  hold_out();
  bool go_on = true;
  while (go_on) {
    if (standing() == Going::On && searches_are_due()) {
      search_round();
      observer_.on_phase("learning");
    }
    try {
      go_on = learn();
    } catch (const neural::PeerLost&) {  // what is done stays: the others take it over
      save();
      throw;
    }
    if (go_on && step_ % settings_.report == 0) report();
    if (std::chrono::duration<double>(Clock::now() - saved_).count() >= settings_.save_seconds)
      save();
  }
  report();
  save();
  peers_.leave();
  return {last_, going_ == Going::Stopped};
}

class TagTrainer final : public Trainer {
 public:
  std::vector<OptionHelp> options() const override { return TrainSettings::help(); }
  TrainingResult train(const TrainingOptions& options, TrainingObserver& observer,
                       std::stop_token stop) override {
    return Training(options, observer, std::move(stop)).run();
  }
};

}  // namespace

std::unique_ptr<Trainer> make_trainer() { return std::make_unique<TagTrainer>(); }

}  // namespace strato::tag
