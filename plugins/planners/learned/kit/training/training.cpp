#include "plugins/planners/learned/kit/training/training.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "plugins/planners/learned/kit/training/learning_rate.h"
#include "plugins/planners/learned/kit/training/old_checkpoint.h"
#include "plugins/planners/learned/kit/training/resume.h"

namespace strato::learned {

Training::Training(TrainingPlan plan, const TrainingOptions& options, Learner& learner,
                   TrainingObserver& observer, std::stop_token stop)
    : plan_(std::move(plan)),
      options_(options),
      learner_(learner),
      observer_(observer),
      stop_(std::move(stop)),
      phase_([this](const std::string& text) { observer_.on_phase(text); }),
      peers_(options.rank, options.processes, options.master, plan_.settings.patience),
      start_note_(learner.network().note()) {
  learner_.network().move_to(plan_.settings.device);
  resume();
  agree_on_start();
  if (peers_.processes() == 1) return;
  learner_.network().share_steps([this](std::vector<float> gradients, double rate) {
    SharedGradients shared = share_gradients(peers_, std::move(gradients), rate);
    return std::pair(std::move(shared.gradients), shared.rate);
  });
}

std::filesystem::path Training::checkpoint_file() const {
  return checkpoint_of(options_.checkpoint, options_.rank);
}

std::string Training::fingerprint() const { return full_fingerprint(options_, plan_.fingerprint); }

void Training::resume() {
  const std::filesystem::path path = checkpoint_file();
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return;
  const std::string bytes = read_file(path), file = path.string();
  const Checkpoint checkpoint = is_old_checkpoint(bytes)
                                    ? plan_.read_old(bytes, file)
                                    : parse_checkpoint(bytes, plan_.planner, file);
  expect_same_training(checkpoint, fingerprint(), file);
  phase_("reading the checkpoint");
  begun_at_ = step_ = checkpoint.step;
  elapsed_before_ = checkpoint.elapsed_seconds;
  loss_sum_ = checkpoint.loss_sum;
  losses_ = checkpoint.losses;
  try {
    learner_.network().restore(checkpoint.network);
    learner_.restore(checkpoint.collected, checkpoint.experience, file);
  } catch (const InputError& wrong) {
    throw InputError(file, wrong.place(), wrong.problem(), wrong.remedy());
  }
}

// One that is behind has its own experience still, and collects what it lacks.
void Training::agree_on_start() {
  if (peers_.processes() == 1) return;
  Checkpoint own;
  own.network = learner_.network().state();
  const auto other = learned::agree_on_start(
      peers_, {step_, elapsed_before_, write_checkpoint(own, plan_.planner)});
  if (!other) return;
  phase_(fmt::format("taking over the weights of step {}", other->step));
  learner_.network().restore(
      parse_checkpoint(other->network, plan_.planner, "the first process").network);
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
  if (finished()) return Going::Finished;
  return stop_.stop_requested() ? Going::Stopped : Going::On;
}

// One step of all processes, or of none when one of them does not go on: false then.
bool Training::step() {
  if (standing() == Going::On) learner_.collect(step_, phase_, stop_);
  const auto nothing = learner_.nothing_to_learn();
  going_ = agree(peers_, nothing ? Going::NothingToLearn : standing());
  if (going_ == Going::NothingToLearn) {
    peers_.leave();
    if (nothing) throw *nothing;
    throw InputError("", "training", "another process has nothing to learn from",
                     "see what it says");
  }
  if (going_ != Going::On) return false;
  const double rate = learning_rate(learner_.rate(), options_, step_, elapsed());
  const auto loss = learner_.learn(step_, rate, phase_, stop_);
  if (!loss) {
    going_ = agree(peers_, Going::Stopped);
    return false;
  }
  loss_sum_ += *loss;
  ++losses_;
  ++step_;
  return true;
}

// The work that is done stays when a process is lost: the others take it over when it is there
// again.
bool Training::step_or_save() {
  try {
    return step();
  } catch (const PeerLost&) {
    save();
    throw;
  }
}

void Training::report() {
  last_.step = step_;
  last_.elapsed_seconds = elapsed();
  last_.searches = learner_.collected().searches;
  last_.examples = learner_.collected().examples;
  if (losses_ == 0) return;  // nothing learned since the last point
  last_.loss = loss_sum_ / static_cast<double>(losses_);
  learner_.measure(last_);
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
  if (!plan_.settings.start.empty())
    set["start"] = std::filesystem::path(plan_.settings.start).filename().string();
  Json note = {{"made_by", "stratoscope-cli train " + plan_.planner},
               {"seed", options_.seed},
               {"models", models},
               {"clusters", clusters},
               {"random_clusters", options_.random_clusters},
               {"processes", options_.processes},
               {"set", set},
               {"steps", step_},
               {"searches", learner_.collected().searches},
               {"examples", learner_.collected().examples}};
  if (last_.loss > 0) note["loss"] = last_.loss;  // else no step since the checkpoint
  if (last_.held_out_loss) note["held_out_loss"] = *last_.held_out_loss;
  if (last_.held_out_ratio) note["held_out_ratio"] = *last_.held_out_ratio;
  const Json start = Json::parse(start_note_, nullptr, false);
  if (!start.is_discarded()) note["started_from"] = start;
  return json_text(note);
}

Checkpoint Training::checkpoint() const {
  return {fingerprint(),
          step_,
          elapsed(),
          loss_sum_,
          losses_,
          learner_.collected(),
          learner_.network().state(),
          learner_.experience()};
}

void Training::save() {
  saved_ = Clock::now();
  if (!options_.checkpoint.empty())
    write_file(checkpoint_file(), write_checkpoint(checkpoint(), plan_.planner));
  // Weights that learned nothing are not worth a file that is there.
  const bool worth = step_ > begun_at_ || (step_ > 0 && !std::filesystem::exists(options_.output));
  if (!options_.output.empty() && worth && options_.rank == 0)
    learner_.network().save(options_.output, note());
}

TrainingResult Training::run() {
  learner_.hold_out(phase_, stop_);
  while (step_or_save()) {
    if (step_ % plan_.settings.report == 0) report();
    if (std::chrono::duration<double>(Clock::now() - saved_).count() >= plan_.settings.save_seconds)
      save();
  }
  report();
  save();
  peers_.leave();
  return {last_, going_ == Going::Stopped};
}

}  // namespace strato::learned
