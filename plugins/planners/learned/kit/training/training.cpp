#include "plugins/planners/learned/kit/training/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numbers>

#include "core/io/file.h"
#include "plugins/planners/learned/kit/training/peers.h"

namespace strato::learned {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Each process has its own examples, so its own file; the first one's has the name that was given.
std::filesystem::path checkpoint_file(const TrainingOptions& options) {
  if (options.rank == 0 || options.checkpoint.empty()) return options.checkpoint;
  return fmt::format("{}.rank{}", options.checkpoint.string(), options.rank);
}

// Returns the rate of the next step: `rate`, towards which it rises over the first 20 steps, and
// from which it falls as a cosine to a twentieth. The end is where the options' budget of seconds,
// or else their steps, end.
double learning_rate(double rate, const TrainingOptions& options, std::int64_t steps,
                     double elapsed_seconds) {
  constexpr double kLast = 0.05, kWarmSteps = 20;
  const double done = options.budget_seconds > 0
                          ? elapsed_seconds / options.budget_seconds
                          : static_cast<double>(steps) /
                                static_cast<double>(std::max<std::int64_t>(options.steps, 1));
  const double fall = 0.5 * (1 + std::cos(std::numbers::pi * std::clamp(done, 0.0, 1.0)));
  const double warm = std::min(1.0, static_cast<double>(steps + 1) / kWarmSteps);
  return rate * warm * (kLast + (1 - kLast) * fall);
}

class Training {
 public:
  Training(const TrainingPlan& plan, const TrainingOptions& options, Learner& learner,
           TrainingObserver& observer, const std::stop_token& stop)
      : plan_(plan), options_(options), learner_(learner), observer_(observer), stop_(stop) {
    learner_.network().move_to(plan_.settings.device);
    now_.fingerprint = full_fingerprint(options_, plan_.fingerprint);
    resume();
    if (peers_.processes() == 1) return;
    take_over();
    learner_.network().share_steps([this](std::vector<float> gradients, double rate) {
      return share_gradients(peers_, std::move(gradients), rate);
    });
  }
  TrainingResult run() {
    learner_.hold_out(phase_, stop_);
    while (step_or_save()) {
      if (now_.step % plan_.settings.report == 0) report();
      if (seconds_since(saved_) >= plan_.settings.save_seconds) save();
    }
    report();
    save();
    peers_.leave();
    return {last_, going_ == Going::Stopped};
  }

 private:
  void resume() {
    std::error_code error;
    if (file_.empty() || !std::filesystem::exists(file_, error)) return;
    const std::string bytes = read_file(file_), file = file_.string();
    Checkpoint found = is_old_checkpoint(bytes) ? plan_.read_old(bytes, file)
                                                : parse_checkpoint(bytes, plan_.planner, file);
    expect_same_training(found, now_.fingerprint, file);
    phase_("reading the checkpoint");
    now_ = std::move(found);
    begun_at_ = now_.step;
    elapsed_before_ = now_.elapsed_seconds;
    try {
      learner_.network().restore(now_.network);
      learner_.collected = now_.collected;
      learner_.restore(now_.experience, file);
    } catch (const InputError& wrong) {
      throw InputError(file, wrong.place(), wrong.problem(), wrong.remedy());
    }
  }
  // A process that is behind takes the weights of the furthest; it has its own experience still,
  // and collects what it lacks.
  void take_over() {
    Checkpoint own;
    own.network = learner_.network().state();
    const auto other =
        agree_on_start(peers_, {now_.step, elapsed_before_, write_checkpoint(own, plan_.planner)});
    if (!other) return;
    phase_(fmt::format("taking over the weights of step {}", other->step));
    learner_.network().restore(
        parse_checkpoint(other->network, plan_.planner, "the first process").network);
    now_.step = other->step;
    elapsed_before_ = other->elapsed_seconds;
  }
  // One step of all processes, or of none when one of them does not go on: false then.
  bool step() {
    if (standing() == Going::On) learner_.collect(now_.step, phase_, stop_);
    const auto nothing = learner_.nothing_to_learn();
    going_ = agree(peers_, nothing ? Going::NothingToLearn : standing());
    if (going_ == Going::NothingToLearn) {
      peers_.leave();
      throw nothing.value_or(InputError("", "training", "another process has nothing to learn from",
                                        "see what it says"));
    }
    if (going_ != Going::On) return false;
    const double rate = learning_rate(learner_.rate(), options_, now_.step, elapsed());
    const auto loss = learner_.learn(now_.step, rate, phase_, stop_);
    if (!loss) {
      going_ = agree(peers_, Going::Stopped);
      return false;
    }
    now_.loss_sum += *loss;
    ++now_.losses;
    ++now_.step;
    return true;
  }
  // The work that is done stays when a process is lost: the others take it over when it is there
  // again.
  bool step_or_save() {
    try {
      return step();
    } catch (const PeerLost&) {
      save();
      throw;
    }
  }
  Going standing() const {
    const bool finished = options_.budget_seconds > 0 ? elapsed() >= options_.budget_seconds
                                                      : now_.step >= options_.steps;
    if (finished) return Going::Finished;
    return stop_.stop_requested() ? Going::Stopped : Going::On;
  }
  double elapsed() const { return elapsed_before_ + seconds_since(start_); }
  void report() {
    last_.step = now_.step;
    last_.elapsed_seconds = elapsed();
    last_.searches = learner_.collected.searches;
    last_.examples = learner_.collected.examples;
    if (now_.losses == 0) return;  // nothing learned since the last point
    last_.loss = now_.loss_sum / static_cast<double>(now_.losses);
    learner_.measure(last_);
    now_.loss_sum = 0;
    now_.losses = 0;
    observer_.on_point(last_);
  }
  std::string note() const {
    Json models = Json::array(), clusters = Json::array(), set = options_.set;
    for (const TrainingModel& model : options_.models)
      models.push_back(fmt::format("{} (batch {})", model.name, model.graph->batch()));
    for (const auto& cluster : options_.clusters) clusters.push_back(cluster->name());
    if (!plan_.settings.start.empty())
      set["start"] = std::filesystem::path(plan_.settings.start).filename().string();
    Json note = {{"made_by", "stratoscope-cli train " + plan_.planner},
                 {"seed", options_.seed},
                 {"models", models},
                 {"clusters", clusters},
                 {"random_clusters", options_.random_clusters},
                 {"processes", options_.processes},
                 {"set", set},
                 {"steps", now_.step},
                 {"searches", learner_.collected.searches},
                 {"examples", learner_.collected.examples}};
    if (last_.loss > 0) note["loss"] = last_.loss;  // else no step since the checkpoint
    if (last_.held_out_loss) note["held_out_loss"] = *last_.held_out_loss;
    if (last_.held_out_ratio) note["held_out_ratio"] = *last_.held_out_ratio;
    const Json start = Json::parse(start_note_, nullptr, false);
    if (!start.is_discarded()) note["started_from"] = start;
    return json_text(note);
  }
  void save() {
    saved_ = Clock::now();
    if (!file_.empty()) {
      now_.elapsed_seconds = elapsed();
      now_.collected = learner_.collected;
      now_.network = learner_.network().state();
      now_.experience = learner_.experience();
      write_file(file_, write_checkpoint(now_, plan_.planner));
    }
    // Weights that learned nothing are not worth a file that is there.
    const bool worth =
        now_.step > begun_at_ || (now_.step > 0 && !std::filesystem::exists(options_.output));
    if (!options_.output.empty() && worth && options_.rank == 0)
      learner_.network().save(options_.output, note());
  }

  const TrainingPlan& plan_;
  const TrainingOptions& options_;
  Learner& learner_;
  TrainingObserver& observer_;
  const std::stop_token& stop_;
  const Learner::Phase phase_ = [this](const std::string& text) { observer_.on_phase(text); };
  const std::filesystem::path file_ = checkpoint_file(options_);
  Peers peers_{options_.rank, options_.processes, options_.master, plan_.settings.patience};
  const std::string start_note_ = learner_.network().note();  // of the weights that it began with
  // Its network and experience are those of the checkpoint that was read or written last.
  Checkpoint now_;
  std::int64_t begun_at_ = 0;  // step of the checkpoint
  TrainingPoint last_;
  Going going_ = Going::On;  // of all processes
  double elapsed_before_ = 0;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point saved_ = start_;
};

}  // namespace

OptionTable RunSettings::option_table() {
  return {{"start", start, "weights to begin with; empty: fresh ones"},
          {"device", device, "where the network computes: cpu, cuda, cuda:1"},
          {"held-out", held_out, {0, 1e6}, "searches that only measure; 0: none"},
          {"report", report, {1, 1e6}, "steps from point to point of the loss curve"},
          {"save", save_seconds, {0.01, 1e6}, "seconds between checkpoints"},
          {"patience", patience, {1, 1e6}, "seconds until a silent process is taken for lost"}};
}

std::string fingerprint(const std::vector<OptionHelp>& values) {
  constexpr std::array<std::string_view, 4> kShapesNothing = {"device", "report", "save",
                                                              "patience"};
  std::string text;
  for (const OptionHelp& option : values)
    if (std::ranges::find(kShapesNothing, option.name) == kShapesNothing.end())
      text += option.name + "=" + option.default_value + "\n";
  return text;
}

std::string full_fingerprint(const TrainingOptions& options, const std::string& fingerprint) {
  return fmt::format("seed={}\nprocesses={}\nrank={}\n{}", options.seed, options.processes,
                     options.rank, fingerprint);
}

TrainingResult run_training(const TrainingPlan& plan, const TrainingOptions& options,
                            Learner& learner, TrainingObserver& observer,
                            const std::stop_token& stop) {
  return Training(plan, options, learner, observer, stop).run();
}

}  // namespace strato::learned
