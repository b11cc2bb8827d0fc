#include "plugins/planners/gdp/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/parallel.h"
#include "plugins/planners/gdp/train_checkpoint.h"
#include "plugins/planners/gdp/train_settings.h"
#include "plugins/planners/neural/learning_rate.h"
#include "plugins/planners/neural/peers.h"

namespace strato::gdp {
namespace {

using Clock = std::chrono::steady_clock;
using Method = TrainSettings::Method;

class Training {
 public:
  Training(const TrainingOptions& options, const PluginRegistry* heuristics,
           TrainingObserver& observer, std::stop_token stop);
  TrainingResult run();

 private:
  void resume();
  void hold_out();
  bool step();
  bool step_or_save();
  bool learn();
  bool visit();
  bool all_go_on(bool here);
  void agree_on_start();
  std::filesystem::path checkpoint_file() const;
  std::int64_t of_this_process(std::int64_t number) const {
    return number * peers_.processes() + peers_.rank();
  }
  bool searches_are_due() const;
  double rate() const;
  void measure();
  void report();
  void save();
  std::string fingerprint() const;
  std::string note() const;
  bool finished() const;
  double elapsed() const {
    return elapsed_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
  }

  const TrainingOptions& options_;
  TrainingObserver& observer_;
  const std::stop_token stop_;
  const TrainSettings settings_;
  const TrainGround ground_;
  neural::Peers peers_;
  const TeacherOptions teacher_;
  Network network_;
  LessonMemory memory_;
  struct HeldOut {
    std::unique_ptr<Lesson> lesson;
    Placement answer;
  };
  std::vector<HeldOut> held_out_;
  std::int64_t begun_at_ = 0;  // steps of the checkpoint
  std::int64_t steps_ = 0, visits_ = 0, evaluations_ = 0, losses_ = 0;
  double loss_sum_ = 0;  // since the last point
  TrainingPoint last_;
  double elapsed_before_ = 0;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point saved_ = start_;
};

Training::Training(const TrainingOptions& options, const PluginRegistry* heuristics,
                   TrainingObserver& observer, std::stop_token stop)
    : options_(options),
      observer_(observer),
      stop_(std::move(stop)),
      settings_(TrainSettings::from(options)),
      ground_(options, settings_.groups, settings_.held_out),
      peers_(options.rank, options.processes, options.master, settings_.patience),
      teacher_{settings_.search, heuristics},
      network_(settings_.start.empty() ? Network::make(settings_.size, options.seed)
                                       : Network::load(settings_.start)),
      memory_(ground_, settings_.whole, network_.size().neighbours, settings_.memory) {
  resume();
  network_.move_to(settings_.device);
  if (peers_.processes() == 1) return;
  network_.share_steps([this](std::vector<float> gradients, double rate) {
    auto step = neural::share_step(peers_, std::move(gradients), rate, false);
    CHECK(step.has_value(), "nobody halts amid a step");
    return std::pair(std::move(step->gradients), step->rate);
  });
}

std::filesystem::path Training::checkpoint_file() const {
  if (options_.rank == 0 || options_.checkpoint.empty()) return options_.checkpoint;
  return options_.checkpoint.string() + ".rank" + std::to_string(options_.rank);
}

// Whether every process does: else nobody begins the next step.
bool Training::all_go_on(bool here) {
  return neural::share_step(peers_, {}, 0, !here).has_value();
}

void Training::agree_on_start() {
  if (peers_.processes() == 1) return;
  double sum = 0;
  for (const float value : network_.parameters()) sum += std::abs(value);
  const std::vector<float> own = {static_cast<float>(steps_), static_cast<float>(sum)};
  for (const auto& other : peers_.exchange(own)) {
    if (other == own) continue;
    throw InputError(checkpoint_file().string(), "", "the processes stand at different steps",
                     "delete all their checkpoints, or bring those that belong together");
  }
}

void Training::resume() {
  const auto checkpoint = read_checkpoint(checkpoint_file(), fingerprint());
  if (!checkpoint) return;
  observer_.on_phase("reading the checkpoint");
  network_ = Network::parse(checkpoint->network, checkpoint_file().string());
  network_.restore_optimizer(checkpoint->optimizer);
  begun_at_ = steps_ = checkpoint->steps;
  visits_ = checkpoint->visits;
  evaluations_ = checkpoint->evaluations;
  elapsed_before_ = checkpoint->elapsed_seconds;
  loss_sum_ = checkpoint->loss_sum;
  losses_ = checkpoint->losses;
  memory_.restore(checkpoint->lessons);
}

std::string Training::fingerprint() const {
  std::string text = fmt::format("seed={} {}", options_.seed, ground_.fingerprint());
  for (const auto& [key, value] : options_.set)
    if (key != "report" && key != "device" && key != "patience") text += " " + key + "=" + value;
  if (options_.processes > 1)
    text += fmt::format(" processes={} rank={}", options_.processes, options_.rank);
  return text;
}

// The same after every pause: the network is not asked. Of several processes the first one measures.
void Training::hold_out() {
  if (peers_.rank() > 0) return;
  observer_.on_phase("searching what only measures");
  held_out_.resize(static_cast<std::size_t>(settings_.held_out));
  parallel_for(held_out_.size(), options_.threads, [&](std::size_t i) {
    const auto number = static_cast<std::int64_t>(i);
    held_out_[i].lesson = std::make_unique<Lesson>(ground_, ground_.held_out_pair(number),
                                                   network_.size().neighbours);
    held_out_[i].answer = held_out_[i].lesson->search(
        teacher_, training_stream(options_.seed, "held out", number), stop_);
  });
  std::erase_if(held_out_, [](const HeldOut& one) { return one.answer.empty(); });
}

bool Training::searches_are_due() const {
  return visits_ < settings_.first + steps_ / settings_.updates * settings_.visits;
}

double Training::rate() const {
  return neural::learning_rate(settings_.rate, options_, steps_, elapsed());
}

// One step on lessons that are there; false when stopped in the search for new ones, which is done
// again.
bool Training::learn() {
  while (searches_are_due()) {
    const int count = visits_ == 0 ? settings_.first : settings_.visits;
    // Every process searches pairs of its own.
    const std::int64_t first = visits_ * peers_.processes() + peers_.rank() * count;
    observer_.on_phase(
        fmt::format("placing {}", ground_.name(ground_.pair(first, settings_.whole))));
    if (!memory_.search(first, count, teacher_, evaluations_, stop_)) return all_go_on(false);
    visits_ += count;
    observer_.on_phase("learning");
  }
  if (memory_.size() == 0)
    throw InputError("", "training", "none of the models fits on the clusters that were tried",
                     "add larger clusters or smaller batches");
  if (!all_go_on(!stop_.stop_requested() && !finished())) return false;
  Random random(training_stream(options_.seed, "minibatch", of_this_process(steps_)));
  loss_sum_ += network_.imitate(memory_.minibatch(settings_.minibatch, random), rate());
  return true;
}

// Its loss is minus the mean reward of the last round. One that is stopped amid leaves nothing
// behind.
bool Training::visit() {
  if (!all_go_on(!stop_.stop_requested() && !finished())) return false;
  // All processes make the same number of steps: none of them stops amid.
  const bool alone = peers_.processes() == 1;
  const std::vector<float> before = network_.parameters();
  const std::string optimizer = network_.optimizer_state();
  const Pair pair = ground_.pair(of_this_process(steps_), settings_.whole);
  observer_.on_phase(fmt::format("placing {}", ground_.name(pair)));
  const Problem problem = ground_.problem(pair);
  const auto evaluator = make_simulating_evaluator(problem, options_.threads);
  PlacementOptions how;
  how.replicate = !pair.whole;
  how.neighbours = network_.size().neighbours;
  PlacementTask task(problem, *evaluator, how);
  task.evaluate(task.known_placements());
  double loss = 0;
  for (int round = 0; round < settings_.rounds && !(alone && stop_.stop_requested()); ++round)
    loss = -play_round(network_, task, settings_.ppo, round,
                       training_stream(options_.seed, "rounds", of_this_process(steps_)), settings_.ppo.rollouts)
                .mean_reward;
  if (alone && stop_.stop_requested()) {
    network_.set_parameters(before);
    network_.restore_optimizer(optimizer);
    return false;
  }
  evaluations_ += task.evaluations();
  loss_sum_ += loss;
  ++visits_;
  return true;
}

bool Training::step() {
  if (!(settings_.method == Method::Replay ? learn() : visit())) return false;
  ++losses_;
  ++steps_;
  return true;
}

// What is done stays when a process is lost.
bool Training::step_or_save() {
  if (peers_.processes() == 1) return !finished() && step();
  try {
    return step();
  } catch (const InputError&) {
    save();
    throw;
  }
}

bool Training::finished() const {
  return options_.budget_seconds > 0 ? elapsed() >= options_.budget_seconds
                                     : steps_ >= options_.steps;
}

// How near the policy is to the best known placements of pairs that it does not learn from.
void Training::measure() {
  if (held_out_.empty()) return;
  double loss = 0, logarithm = 0;
  const auto count = static_cast<double>(held_out_.size());
  for (const HeldOut& one : held_out_) {
    const GraphFeatures& features = one.lesson->task().features();
    loss += network_.loss({&features, one.answer}) / count;
    logarithm += std::log(one.lesson->ratio(network_.probabilities(features))) / count;
  }
  last_.held_out_loss = loss;
  last_.held_out_ratio = std::exp(logarithm);
}

void Training::report() {
  last_.step = steps_;
  last_.elapsed_seconds = elapsed();
  last_.searches = visits_;
  last_.examples =
      settings_.method == Method::Replay ? static_cast<std::int64_t>(memory_.size()) : evaluations_;
  if (losses_ == 0) return;  // nothing learned since the last point
  last_.loss = loss_sum_ / static_cast<double>(losses_);
  measure();
  loss_sum_ = 0;
  losses_ = 0;
  observer_.on_point(last_);
}

std::string Training::note() const {
  Json models = Json::array(), clusters = Json::array(), set = Json::object();
  for (const TrainingModel& model : options_.models)
    models.push_back(fmt::format("{} (batch {})", model.name, model.graph->batch()));
  for (const auto& cluster : options_.clusters) clusters.push_back(cluster->name());
  for (const auto& [key, value] : options_.set) set[key] = value;
  Json note = {{"made_by", "stratoscope-cli train gdp"},
               {"seed", options_.seed},
               {"models", models},
               {"clusters", clusters},
               {"random_clusters", options_.random_clusters},
               {"processes", options_.processes},
               {"set", set},
               {"steps", steps_},
               {"pairs", visits_},
               {"evaluations", evaluations_}};
  if (last_.loss > 0) note["loss"] = last_.loss;
  if (last_.held_out_loss) note["held_out_loss"] = *last_.held_out_loss;
  if (last_.held_out_ratio) note["held_out_ratio"] = *last_.held_out_ratio;
  return json_text(note);
}

void Training::save() {
  saved_ = Clock::now();
  if (!options_.checkpoint.empty())
    write_checkpoint(checkpoint_file(),
                     {fingerprint(), steps_, visits_, evaluations_, elapsed(), loss_sum_, losses_,
                      network_.bytes(""), network_.optimizer_state(), memory_.records()});
  // Weights that learned nothing are not worth a file that is there.
  const bool worth = steps_ > begun_at_ || (steps_ > 0 && !std::filesystem::exists(options_.output));
  if (!options_.output.empty() && worth && peers_.rank() == 0) write_file(options_.output, network_.bytes(note()));
}

TrainingResult Training::run() {
  agree_on_start();
  hold_out();
  while (step_or_save()) {
    if (steps_ % settings_.report == 0) report();
    if (std::chrono::duration<double>(Clock::now() - saved_).count() >= settings_.save_seconds)
      save();
  }
  const bool stopped = !finished();
  report();
  save();
  peers_.leave();
  return {last_, stopped};
}

class GdpTrainer final : public Trainer {
 public:
  explicit GdpTrainer(const PluginRegistry* heuristics) : heuristics_(heuristics) {}
  std::vector<OptionHelp> options() const override { return TrainSettings::help(); }
  TrainingResult train(const TrainingOptions& options, TrainingObserver& observer,
                       std::stop_token stop) override {
    return Training(options, heuristics_, observer, std::move(stop)).run();
  }

 private:
  const PluginRegistry* heuristics_;
};

}  // namespace

std::unique_ptr<Trainer> make_trainer(const PluginRegistry* heuristics) {
  return std::make_unique<GdpTrainer>(heuristics);
}

}  // namespace strato::gdp
