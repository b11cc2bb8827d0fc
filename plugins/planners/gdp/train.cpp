#include "plugins/planners/gdp/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "plugins/planners/gdp/train_checkpoint.h"
#include "plugins/planners/gdp/train_settings.h"
#include "plugins/planners/neural/learning_rate.h"
#include "plugins/planners/neural/peers.h"
#include "plugins/planners/neural/resume.h"

namespace strato::gdp {
namespace {

using Clock = std::chrono::steady_clock;
using neural::Going;
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
  void play_rounds(PlacementTask& task);
  Going standing() const;
  bool all_go_on(Going here);
  void agree_on_start();
  void take_weights(const std::string& network, const std::string& optimizer);
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
  Going going_ = Going::On;  // of all processes
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
  agree_on_start();
  network_.move_to(settings_.device);
  if (peers_.processes() == 1) return;
  network_.share_steps([this](std::vector<float> gradients, double rate) {
    auto step = neural::share_step(peers_, std::move(gradients), rate, Going::On);
    CHECK(step.going == Going::On, "nobody halts amid a step");
    return std::pair(std::move(step.gradients), step.rate);
  });
}

std::filesystem::path Training::checkpoint_file() const {
  return neural::checkpoint_of(options_.checkpoint, options_.rank);
}

Going Training::standing() const {
  if (finished()) return Going::Finished;
  return stop_.stop_requested() ? Going::Stopped : Going::On;
}

// Whether every process does: else nobody begins the next step.
bool Training::all_go_on(Going here) {
  going_ = neural::share_step(peers_, {}, 0, here).going;
  return going_ == Going::On;
}

// One that is behind has its own lessons still, and searches those that it lacks.
void Training::agree_on_start() {
  if (peers_.processes() == 1) return;
  const auto other = neural::agree_on_start(
      peers_, {steps_, elapsed_before_, network_.bytes(""), network_.optimizer_state()});
  if (!other) return;
  observer_.on_phase(fmt::format("taking over the weights of step {}", other->step));
  take_weights(other->network, other->optimizer);
  steps_ = other->step;
  elapsed_before_ = other->elapsed_seconds;
}

void Training::take_weights(const std::string& network, const std::string& optimizer) {
  network_ = Network::parse(network, checkpoint_file().string());
  network_.restore_optimizer(optimizer);
}

void Training::resume() {
  const auto checkpoint = read_checkpoint(checkpoint_file(), fingerprint());
  if (!checkpoint) return;
  observer_.on_phase("reading the checkpoint");
  take_weights(checkpoint->network, checkpoint->optimizer);
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

// The same after every pause: the network is not asked. Of several processes the first one
// measures.
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

// One step on lessons that are there; false when a process does not go on. A search for new ones
// that was stopped is done again.
bool Training::learn() {
  while (standing() == Going::On && searches_are_due()) {
    const int count = visits_ == 0 ? settings_.first : settings_.visits;
    // Every process searches pairs of its own.
    const std::int64_t first = visits_ * peers_.processes() + peers_.rank() * count;
    observer_.on_phase(
        fmt::format("placing {}", ground_.name(ground_.pair(first, settings_.whole))));
    if (!memory_.search(first, count, teacher_, evaluations_, stop_))
      return all_go_on(Going::Stopped);
    visits_ += count;
    observer_.on_phase("learning");
  }
  const bool nothing = visits_ > 0 && memory_.size() == 0;
  const bool go_on = all_go_on(nothing ? Going::NothingToLearn : standing());
  if (going_ == Going::NothingToLearn) {
    peers_.leave();
    throw InputError("", "training", "none of the models fits on the clusters that were tried",
                     "add larger clusters or smaller batches");
  }
  if (!go_on) return false;
  Random random(training_stream(options_.seed, "minibatch", of_this_process(steps_)));
  loss_sum_ += network_.imitate(memory_.minibatch(settings_.minibatch, random), rate());
  return true;
}

// Its loss is minus the mean reward of the last round. One that ends amid, because this process is
// stopped or another one is lost, leaves nothing behind.
bool Training::visit() {
  if (!all_go_on(standing())) return false;
  const std::vector<float> before = network_.parameters();
  const std::string optimizer = network_.optimizer_state();
  const double losses = loss_sum_;
  const auto undo = [&] {
    network_.set_parameters(before);
    network_.restore_optimizer(optimizer);
    loss_sum_ = losses;
  };
  const Pair pair = ground_.pair(of_this_process(steps_), settings_.whole);
  observer_.on_phase(fmt::format("placing {}", ground_.name(pair)));
  const Problem problem = ground_.problem(pair);
  const auto evaluator = make_simulating_evaluator(problem, options_.threads);
  PlacementOptions how;
  how.replicate = !pair.whole;
  how.neighbours = network_.size().neighbours;
  PlacementTask task(problem, *evaluator, how);
  task.evaluate(task.known_placements());
  try {
    play_rounds(task);
  } catch (const neural::PeerLost&) {
    undo();
    throw;
  }
  // All processes make the same number of steps: of several, none stops amid.
  if (peers_.processes() == 1 && stop_.stop_requested()) {
    undo();
    return all_go_on(Going::Stopped);
  }
  evaluations_ += task.evaluations();
  ++visits_;
  return true;
}

void Training::play_rounds(PlacementTask& task) {
  const bool alone = peers_.processes() == 1;
  const std::uint64_t seed = training_stream(options_.seed, "rounds", of_this_process(steps_));
  double loss = 0;
  for (int round = 0; round < settings_.rounds && !(alone && stop_.stop_requested()); ++round)
    loss =
        -play_round(network_, task, settings_.ppo, round, seed, settings_.ppo.rollouts).mean_reward;
  loss_sum_ += loss;
}

bool Training::step() {
  if (!(settings_.method == Method::Replay ? learn() : visit())) return false;
  ++losses_;
  ++steps_;
  return true;
}

// What is done stays when a process is lost: the others take it over when it is there again.
bool Training::step_or_save() {
  try {
    return step();
  } catch (const neural::PeerLost&) {
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
  const bool worth =
      steps_ > begun_at_ || (steps_ > 0 && !std::filesystem::exists(options_.output));
  if (!options_.output.empty() && worth && peers_.rank() == 0)
    write_file(options_.output, network_.bytes(note()));
}

TrainingResult Training::run() {
  hold_out();
  while (step_or_save()) {
    if (steps_ % settings_.report == 0) report();
    if (std::chrono::duration<double>(Clock::now() - saved_).count() >= settings_.save_seconds)
      save();
  }
  report();
  save();
  peers_.leave();
  return {last_, going_ == Going::Stopped};
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
