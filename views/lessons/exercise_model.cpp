#include "views/lessons/exercise_model.h"

#include <QElapsedTimer>
#include <QPointer>

namespace strato {

ExerciseModel::ExerciseModel(Session& session, QObject* parent)
    : QObject(parent), session_(session) {
  connect(&session_, &Session::strategy_changed, this, &ExerciseModel::drop_hint);
  connect(&session_, &Session::outcome_changed, this, &ExerciseModel::look_at_outcome);
  connect(&session_, &Session::busy_changed, this, &ExerciseModel::look_at_outcome);
  connect(&session_, &Session::problem_changed, this, [this] {
    if (active() && session_.snapshot().opened != problem_) leave();
  });
}

ExerciseModel::~ExerciseModel() {
  stop_.request_stop();
  stop_hint_.request_stop();
  search_.end();
  hints_.end();
}

template <class Function>
void ExerciseModel::post(std::uint64_t job, Function function) {
  QMetaObject::invokeMethod(
      this,
      [this, job, function] {
        if (job == job_) function();
      },
      Qt::QueuedConnection);
}

void ExerciseModel::begin() {
  leave();
  problem_ = session_.snapshot().opened;
  if (!problem_) return;
  const StrategySpace space = strategy_space(*problem_);
  const auto size = space.size();
  strategies_ = size && *size <= kMostTried ? size : std::nullopt;
  stop_ = {};
  const std::uint64_t job = ++job_;
  search_.post([this, job, problem = problem_, stop = stop_.get_token()] {
    QElapsedTimer since;
    since.start();
    const auto tell = [&](const Optimum& found, bool last) {
      post(job, [this, found, last] {
        optimum_ = found;
        final_ = last;
        emit changed();
      });
    };
    const Optimum best = find_optimum(*problem, stop, [&](const Optimum& found) {
      if (since.elapsed() < 100) return;
      since.restart();
      tell(found, false);
    });
    if (!stop.stop_requested()) tell(best, true);
  });
  look_at_outcome();
  emit changed();
}

void ExerciseModel::leave() {
  stop_.request_stop();
  drop_hint();
  ++job_;
  problem_.reset();
  optimum_.reset();
  strategies_.reset();
  best_time_.reset();
  final_ = was_shown_ = false;
  emit changed();
}

void ExerciseModel::drop_hint() {
  stop_hint_.request_stop();
  ++hint_job_;
  hint_.reset();
  looking_ = hint_known_ = false;
}

void ExerciseModel::look_at_outcome() {
  if (!active()) return;
  const Snapshot& snapshot = session_.snapshot();
  const bool alike = session_.simulation() == Simulation{};  // as the optimum
  if (alike && !was_shown_ && !session_.busy() && snapshot.outcome &&
      snapshot.outcome->score.feasible) {
    const Nanos now = snapshot.outcome->score.step_time;
    if (!best_time_ || now < *best_time_) best_time_ = now;
  }
  emit changed();
}

std::optional<int> ExerciseModel::points() const {
  const Snapshot& snapshot = session_.snapshot();
  const bool alike = session_.simulation() == Simulation{};
  if (!active() || !optimum_ || !alike || session_.busy() || !snapshot.outcome ||
      !snapshot.baseline)
    return std::nullopt;
  return exercise_points(snapshot.outcome->score, snapshot.baseline->score, optimum_->score);
}

std::optional<int> ExerciseModel::best_points() const {
  const Snapshot& snapshot = session_.snapshot();
  if (!active() || !optimum_ || !best_time_ || !snapshot.baseline) return std::nullopt;
  Score best;
  best.step_time = *best_time_;
  best.feasible = true;
  return exercise_points(best, snapshot.baseline->score, optimum_->score);
}

void ExerciseModel::show_best(const QString& label) {
  if (!active() || !optimum_) return;
  was_shown_ = true;
  session_.show_found(optimum_->strategy, label);
}

void ExerciseModel::want_hint() {
  if (!active() || looking_ || hint_known_) return;
  stop_hint_ = {};
  looking_ = true;
  const std::uint64_t job = job_, hint_job = ++hint_job_;
  hints_.post([this, job, hint_job, problem = problem_, strategy = session_.snapshot().strategy,
               stop = stop_hint_.get_token()] {
    const auto change = best_single_change(*problem, strategy, stop);
    if (stop.stop_requested()) return;
    post(job, [this, hint_job, change] {
      if (hint_job != hint_job_) return;
      hint_ = change;
      looking_ = false;
      hint_known_ = true;
      emit changed();
      emit hint_ready();
    });
  });
  emit changed();
}

void ExerciseModel::wait() {
  search_.wait();
  hints_.wait();
}

}  // namespace strato
