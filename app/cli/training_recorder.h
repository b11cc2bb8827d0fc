// Watches a training: draws the progress line and writes the loss curve into a workspace.
#pragma once

#include <chrono>
#include <string>

#include "app/cli/output.h"
#include "core/search/api/trainer.h"
#include "core/store/workspace.h"

namespace strato::cli {

class TrainingRecorder final : public TrainingObserver {
 public:
  TrainingRecorder(std::string planner, const TrainingOptions& options);
  void record(Workspace& workspace);  // from now on, as a new training
  void finish() { line_.clear(); }

  void on_point(const TrainingPoint& point) override;
  void on_phase(const std::string& phase) override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw();
  std::string time_left() const;

  const std::string planner_;
  const TrainingOptions& options_;
  ProgressLine line_;
  Clock::time_point start_ = Clock::now();
  Workspace* workspace_ = nullptr;
  TrainingRow row_ = 0;
  std::optional<TrainingPoint> first_, last_;
  std::string phase_;
};

}  // namespace strato::cli
