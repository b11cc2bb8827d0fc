#include "core/store/table/training_table.h"

#include "core/store/sqlite/connection.h"

namespace strato {

using store::ResultRow;

TrainingRow TrainingTable::add(const StoredTraining& training) {
  return connection_.insert(
      "INSERT INTO training (planner, options, weights, created) VALUES (?, ?, ?, ?)",
      {training.planner, training.options, training.weights,
       connection_.created_or_now(training.created)});
}

std::vector<StoredTraining> TrainingTable::all() const {
  return connection_.rows(
      "SELECT id, planner, options, weights, created FROM training ORDER BY id", {},
      [](const ResultRow& row) {
        return StoredTraining{row.integer(0), row.text(1), row.text(2), row.text(3), row.text(4)};
      });
}

void TrainingTable::add_loss(TrainingRow training, const LossPoint& point) {
  connection_.execute(
      "INSERT INTO loss (training, step, loss, held_out_loss, elapsed_seconds) VALUES (?, ?, ?, ?, "
      "?) ON CONFLICT (training, step) DO UPDATE SET loss = excluded.loss, held_out_loss = "
      "excluded.held_out_loss, elapsed_seconds = excluded.elapsed_seconds",
      {training, point.step, point.loss, point.held_out_loss, point.elapsed_seconds});
}

std::vector<LossPoint> TrainingTable::losses(TrainingRow training) const {
  return connection_.rows(
      "SELECT step, loss, held_out_loss, elapsed_seconds FROM loss WHERE training = ? ORDER BY "
      "step",
      {training}, [](const ResultRow& row) {
        return LossPoint{row.integer(0), row.real(1), row.optional_real(2), row.real(3)};
      });
}

}  // namespace strato
