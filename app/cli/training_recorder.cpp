#include "app/cli/training_recorder.h"

#include <fmt/format.h>

#include "core/base/quantity_text.h"
#include "core/io/json.h"

namespace strato::cli {

TrainingRecorder::TrainingRecorder(std::string planner, const TrainingOptions& options)
    : planner_(std::move(planner)), options_(options) {}

void TrainingRecorder::record(Workspace& workspace) {
  Json models = Json::array(), clusters = Json::array();
  for (const TrainingModel& model : options_.models)
    models.push_back({{"name", model.name}, {"batch", model.graph->batch()}});
  for (const auto& cluster : options_.clusters) clusters.push_back(cluster->name());
  StoredTraining training;
  training.planner = planner_;
  training.weights = options_.output.string();
  training.options = json_text(Json{{"models", models},
                                    {"clusters", clusters},
                                    {"random_clusters", options_.random_clusters},
                                    {"steps", options_.steps},
                                    {"budget", options_.budget_seconds},
                                    {"seed", options_.seed},
                                    {"processes", options_.processes},
                                    {"set", options_.set}});
  workspace_ = &workspace;
  row_ = workspace.add(training);
}

void TrainingRecorder::on_point(const TrainingPoint& point) {
  if (!first_) first_ = point;
  last_ = point;
  if (workspace_ != nullptr)
    workspace_->trainings().add_loss(
        row_, {point.step, point.loss, point.held_out_loss, point.elapsed_seconds});
  draw();
}

void TrainingRecorder::on_phase(const std::string& phase) {
  phase_ = phase;
  draw();
}

// By the clock for a budget; else by the pace since the first point.
std::string TrainingRecorder::time_left() const {
  double left = -1;
  if (options_.budget_seconds > 0) {
    left = options_.budget_seconds - (last_ ? last_->elapsed_seconds : 0);
  } else if (last_ && last_->step > first_->step) {
    const double pace = (last_->elapsed_seconds - first_->elapsed_seconds) /
                        static_cast<double>(last_->step - first_->step);
    left = pace * static_cast<double>(options_.steps - last_->step);
  }
  return left <= 0 ? "" : fmt::format(", {} s left", significant_text(left));
}

void TrainingRecorder::draw() {
  if (!line_.shown()) return;
  std::string text = planner_ + ": ";
  if (last_) {
    text += fmt::format("step {}", last_->step);
    if (options_.budget_seconds <= 0) text += fmt::format(" of {}", options_.steps);
    text += fmt::format(", loss {:.3f}", last_->loss);
    if (last_->held_out_loss) text += fmt::format(" (held out {:.3f})", *last_->held_out_loss);
    text += fmt::format(", {} searches{}; ", last_->searches, time_left());
  }
  line_.show(text + phase_);
}

}  // namespace strato::cli
