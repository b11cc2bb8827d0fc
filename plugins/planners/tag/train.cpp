#include "plugins/planners/tag/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <numbers>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "plugins/planners/tag/train_checkpoint.h"
#include "plugins/planners/tag/train_peers.h"

namespace strato::tag {
namespace {

using Clock = std::chrono::steady_clock;

// Independent streams of one seed.
std::uint64_t stream(std::uint64_t seed, const char* what, std::int64_t number, int rank) {
  return Hasher().text(what).number(seed).number(number).number(rank).finish().low;
}

class Training {
 public:
  Training(const TrainingOptions& options, TrainingObserver& observer, std::stop_token stop);
  TrainingResult run();

 private:
  // An example with the record that it can be made from again.
  struct Kept {
    Record record;
    Example example;
  };

  void resume(Checkpoint checkpoint);
  void agree_on_start();
  void keep(const std::vector<Record>& records);
  std::vector<Kept> with_features(const std::vector<Record>& records);
  SearchOrder order_of(std::int64_t search, int rank) const;
  SearchOrder held_out_order(int search) const;
  void hold_out();
  bool search_round();
  bool searches_are_due() const;
  std::vector<Example> minibatch() const;
  bool share(bool halt, LearnOptions& options);
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
  Peers peers_;
  Network network_;
  std::deque<Kept> buffer_;  // oldest first
  std::vector<Example> held_out_;

  std::int64_t step_ = 0, searches_ = 0, examples_ = 0;
  double loss_sum_ = 0;
  std::int64_t losses_ = 0;  // since the last point
  TrainingPoint last_;
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
      network_(first_network(settings_, options.seed)) {
  if (auto checkpoint = read_checkpoint(checkpoint_file(), fingerprint()))
    resume(*std::move(checkpoint));
}

std::string Training::fingerprint() const {
  return fmt::format("seed={}\nprocesses={}\nrank={}\n", options_.seed, options_.processes,
                     options_.rank) +
         settings_.fingerprint() + grounds_.fingerprint();
}

// Every process has its own latest examples, so its own file.
std::filesystem::path Training::checkpoint_file() const {
  if (options_.rank == 0 || options_.checkpoint.empty()) return options_.checkpoint;
  return options_.checkpoint.string() + ".rank" + std::to_string(options_.rank);
}

void Training::resume(Checkpoint checkpoint) {
  observer_.on_phase("reading the checkpoint");
  network_ = Network::parse(checkpoint.network, checkpoint_file().string());
  network_.move_to(settings_.device);
  network_.restore_optimizer(checkpoint.optimizer);
  step_ = checkpoint.step;
  searches_ = checkpoint.searches;
  examples_ = checkpoint.examples;
  elapsed_before_ = checkpoint.elapsed_seconds;
  loss_sum_ = checkpoint.loss * static_cast<double>(checkpoint.losses);
  losses_ = checkpoint.losses;
  for (const Record& record : checkpoint.records) {
    const bool known = record.ground.model >= 0 && record.ground.model < grounds_.model_count() &&
                       record.ground.cluster >= 0 &&
                       record.ground.cluster < grounds_.cluster_count();
    if (!known)
      throw InputError(checkpoint_file().string(), "", "an example is of an unknown model",
                       "start the training without it, or give another --checkpoint");
  }
  for (Kept& kept : with_features({checkpoint.records.begin(), checkpoint.records.end()}))
    buffer_.push_back(std::move(kept));
}

// All processes begin at the same step with the same weights.
void Training::agree_on_start() {
  double sum = 0;
  for (const float value : network_.parameters()) sum += std::abs(value);
  const std::vector<float> own = {static_cast<float>(step_), static_cast<float>(sum)};
  for (const auto& other : peers_.exchange(own)) {
    if (other == own) continue;
    throw InputError(checkpoint_file().string(), "", "the processes stand at different steps",
                     "delete all their checkpoints, or bring those that belong together");
  }
}

double Training::elapsed() const {
  return elapsed_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
}

bool Training::finished() const {
  return options_.budget_seconds > 0 ? elapsed() >= options_.budget_seconds
                                     : step_ >= options_.steps;
}

// Records of one search stand together, so their features are made together.
std::vector<Training::Kept> Training::with_features(const std::vector<Record>& records) {
  std::vector<std::pair<std::size_t, std::size_t>> runs;  // of one ground
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i == 0 || records[i].ground != records[i - 1].ground) runs.emplace_back(i, i);
    runs.back().second = i + 1;
  }
  std::vector<std::vector<Kept>> made(runs.size());
  parallel_for(runs.size(), options_.threads, [&](std::size_t r) {
    const auto ground = grounds_.ground(records[runs[r].first].ground);
    const std::span run(records.begin() + static_cast<std::ptrdiff_t>(runs[r].first),
                        runs[r].second - runs[r].first);
    std::vector<Example> examples = make_examples(*ground, run);
    for (std::size_t i = 0; i < run.size(); ++i)
      if (!examples[i].target.empty()) made[r].push_back({run[i], std::move(examples[i])});
  });
  std::vector<Kept> all;
  for (auto& run : made)
    for (Kept& kept : run) all.push_back(std::move(kept));
  return all;
}

void Training::keep(const std::vector<Record>& records) {
  for (Kept& kept : with_features(records)) {
    buffer_.push_back(std::move(kept));
    ++examples_;
  }
  while (buffer_.size() > static_cast<std::size_t>(settings_.buffer)) buffer_.pop_front();
  if (!buffer_.empty()) return;
  throw InputError(
      "", "training",
      fmt::format("no vertex of a search has {} visits: nothing is learned from", settings_.visits),
      "give more --set iterations=N, or fewer --set visits=N");
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
  return order;
}

SearchOrder Training::held_out_order(int search) const {
  SearchOrder order = order_of(-1 - search, 0);
  order.key.model = search % grounds_.model_count();
  order.uniform = true;
  return order;
}

// The same searches in every process and after every pause: they do not see the network.
void Training::hold_out() {
  std::vector<std::vector<Record>> records(static_cast<std::size_t>(settings_.held_out));
  observer_.on_phase("searching what only measures");
  parallel_for(records.size(), options_.threads, [&](std::size_t i) {
    const SearchOrder order = held_out_order(static_cast<int>(i));
    records[i] = search_records(*grounds_.ground(order.key), order, network_, settings_, stop_);
  });
  std::vector<Record> all;
  for (const auto& some : records) all.insert(all.end(), some.begin(), some.end());
  for (Kept& kept : with_features(all)) held_out_.push_back(std::move(kept.example));
}

bool Training::searches_are_due() const {
  return searches_ < (step_ / settings_.updates + 1) * settings_.searches;
}

// False when it was stopped: then nothing is kept of it, and it is done again.
bool Training::search_round() {
  std::vector<std::vector<Record>> records(static_cast<std::size_t>(settings_.searches));
  const SearchOrder first = order_of(searches_, options_.rank);
  observer_.on_phase(fmt::format("searching {} on {}", grounds_.model_name(first.key.model),
                                 grounds_.cluster(first.key.cluster).name()));
  parallel_for(records.size(), options_.threads, [&](std::size_t i) {
    const SearchOrder order = order_of(searches_ + static_cast<std::int64_t>(i), options_.rank);
    records[i] = search_records(*grounds_.ground(order.key), order, network_, settings_, stop_);
  });
  if (stop_.stop_requested()) return false;
  std::vector<Record> all;
  for (const auto& some : records) all.insert(all.end(), some.begin(), some.end());
  keep(all);
  searches_ += settings_.searches;
  return true;
}

// Examples of one problem side by side, because they are computed together.
std::vector<Example> Training::minibatch() const {
  Random random(stream(options_.seed, "minibatch", step_, options_.rank));
  std::vector<std::size_t> chosen;
  for (int i = 0; i < settings_.minibatch; ++i) chosen.push_back(random.below(buffer_.size()));
  std::ranges::sort(chosen, {},
                    [&](std::size_t i) { return std::pair(buffer_[i].record.ground, i); });
  std::vector<Example> batch;
  for (const std::size_t i : chosen) batch.push_back(buffer_[i].example);
  return batch;
}

// Rises over the first steps, then falls as a cosine to a twentieth.
double Training::rate() const {
  constexpr double kLast = 0.05, kWarmSteps = 20;
  const double done = options_.budget_seconds > 0
                          ? elapsed() / options_.budget_seconds
                          : static_cast<double>(step_) /
                                static_cast<double>(std::max<std::int64_t>(options_.steps, 1));
  const double fall = 0.5 * (1 + std::cos(std::numbers::pi * std::clamp(done, 0.0, 1.0)));
  const double warm = std::min(1.0, static_cast<double>(step_ + 1) / kWarmSteps);
  return settings_.learn.rate * warm * (kLast + (1 - kLast) * fall);
}

// The mean gradient of all processes, and the first one's learning rate, because clocks differ.
// False when one of them halts: then nobody steps.
bool Training::share(bool halt, LearnOptions& options) {
  if (peers_.processes() == 1) return !halt;
  const std::size_t count = network_.parameter_count();
  std::vector<float> own = halt ? std::vector<float>(count) : network_.gradients();
  own.push_back(static_cast<float>(options.rate));
  own.push_back(halt ? 1.0F : 0.0F);
  const auto rows = peers_.exchange(own);
  if (std::ranges::any_of(rows, [](const auto& row) { return row.back() != 0; })) return false;
  std::vector<float> mean(count, 0.0F);
  for (const auto& row : rows) {
    CHECK(row.size() == own.size(), "all processes have the same network");
    for (std::size_t i = 0; i < count; ++i) mean[i] += row[i];
  }
  for (float& value : mean) value /= static_cast<float>(rows.size());
  network_.set_gradients(mean);
  options.rate = rows.front()[count];
  return true;
}

// One step of all processes, or of none when one of them stops: false then.
bool Training::learn() {
  const bool halt = stop_.stop_requested() || finished();
  const double loss = halt ? 0 : network_.backward(minibatch());
  LearnOptions options = settings_.learn;
  options.rate = rate();
  if (!share(halt, options)) return false;
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
  Json note = {{"made_by", "stratoscope-cli train tag"},
               {"seed", options_.seed},
               {"models", models},
               {"clusters", clusters},
               {"random_clusters", options_.random_clusters},
               {"processes", options_.processes},
               {"set", set},
               {"steps", step_},
               {"searches", searches_},
               {"examples", examples_},
               {"loss", last_.loss}};
  if (last_.held_out_loss) note["held_out_loss"] = *last_.held_out_loss;
  return note.dump();
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
    for (const Kept& kept : buffer_) checkpoint.records.push_back(kept.record);
    write_file(checkpoint_file(), to_bytes(checkpoint));
  }
  if (!options_.output.empty() && options_.rank == 0) network_.save(options_.output, note());
}

TrainingResult Training::run() {
  agree_on_start();
  last_.step = step_;
  hold_out();
  bool go_on = true;
  while (go_on) {
    if (!stop_.stop_requested() && !finished() && searches_are_due()) {
      search_round();
      observer_.on_phase("learning");
    }
    try {
      go_on = learn();
    } catch (const InputError&) {  // a process is lost: what is done stays
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
  return {last_, !finished()};
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
