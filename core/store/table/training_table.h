// The trainings of learned planners of a workspace. Its errors and threads are those of the
// workspace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/store/table/rows.h"

namespace strato {

struct StoredTraining {  // of a planner that learns
  TrainingRow id = 0;
  std::string planner, options;  // options: JSON
  std::string weights;           // the file that it writes
  std::string created;
};

struct LossPoint {
  std::int64_t step = 0;
  double loss = 0;
  std::optional<double> held_out_loss;
  double elapsed_seconds = 0;
};

class TrainingTable {
 public:
  explicit TrainingTable(store::Connection& connection) : connection_(connection) {}

  TrainingRow add(const StoredTraining& training);
  std::vector<StoredTraining> all() const;
  // A step that is there is replaced: a training that goes on from a checkpoint does steps again.
  void add_loss(TrainingRow training, const LossPoint& point);
  std::vector<LossPoint> losses(TrainingRow training) const;  // ascending by step

 private:
  store::Connection& connection_;
};

}  // namespace strato
