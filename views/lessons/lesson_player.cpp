#include "views/lessons/lesson_player.h"

#include <algorithm>

#include "core/base/error.h"
#include "views/lessons/condition.h"
#include "views/lessons/lesson_actions.h"
#include "views/models/vital_signs.h"

namespace strato {
namespace {

// What has no signal (a tab is shown, a replay moves) is seen this late.
constexpr int kCheckMilliseconds = 200;

}  // namespace

LessonPlayer::LessonPlayer(Session& session, LessonStage& stage, QObject* parent)
    : QObject(parent), session_(session), stage_(stage) {
  moment_.session = &session_;
  timer_.setInterval(kCheckMilliseconds);
  connect(&timer_, &QTimer::timeout, this, &LessonPlayer::check);
  connect(&session_, &Session::busy_changed, this, &LessonPlayer::check);
  connect(&session_, &Session::search_changed, this, &LessonPlayer::check);
  connect(&session_, &Session::outcome_changed, this, [this] {
    check();
    if (active_) emit numbers_changed();
  });
  connect(&session_.selection(), &Selection::changed, this, [this] {
    check();
    if (active_) emit numbers_changed();
  });
  connect(&session_, &Session::failed, this, [this](const QString& text) {
    if (opening_) error_ = text;
  });
}

void LessonPlayer::begin(const Lesson& lesson, std::size_t step) {
  lesson_ = lesson;
  wanted_step_ = lesson_.steps.empty() ? 0 : std::min(step, lesson_.steps.size() - 1);
  step_ = 0;
  done_.assign(lesson_.steps.size(), false);
  active_ = opening_ = false;  // what follows changes what is shown before: not its business
  broken_ = has_problem_ = false;
  pending_.clear();
  error_.clear();
  left_behind_ = session_.snapshot().problem;
  session_.selection().clear();
  session_.stop_search();
  ImportOptions import;
  import.batch = lesson_.batch;
  ProblemOptions options;
  options.training = lesson_.training;
  options.grouping.max_groups = lesson_.max_groups;
  session_.close_costs();
  session_.set_simulation({});
  session_.open_cluster(lesson_.cluster);
  session_.open_model(lesson_.model, import, options);
  active_ = opening_ = true;
  timer_.start();
  emit changed();
}

void LessonPlayer::leave() {
  if (!active_) return;
  left_unopened_ = opening_ || (broken_ && session_.snapshot().problem == left_behind_);
  active_ = opening_ = broken_ = false;
  pending_.clear();
  left_behind_.reset();
  timer_.stop();
  emit changed();
}

void LessonPlayer::fail(const QString& error) {
  opening_ = false;
  pending_.clear();
  broken_ = true;
  left_behind_ = session_.snapshot().problem;
  error_ = error;
  timer_.stop();
  emit changed();
}

// Waits for the problem, then does what the lesson begins with.
void LessonPlayer::check_opening() {
  if (session_.busy()) return;
  if (!has_problem_) {
    const auto& problem = session_.snapshot().problem;
    if (!problem || problem == left_behind_ || !error_.isEmpty()) {
      return fail(error_.isEmpty() ? tr("The lesson's problem was not opened: begin again")
                                   : error_);
    }
    has_problem_ = true;
    left_behind_.reset();
    pending_.assign(lesson_.start.begin(), lesson_.start.end());
  }
  if (!perform_pending() || broken_) return;
  opening_ = false;
  step_ = wanted_step_;
  start_step();
}

bool LessonPlayer::perform_pending() {
  while (!pending_.empty()) {
    if (session_.busy() || session_.search().state != SearchPhase::Idle) return false;
    const LessonAction action = pending_.front();
    pending_.pop_front();
    try {
      perform(action, session_, stage_);
    } catch (const InputError& error) {
      pending_.clear();
      if (opening_) {
        fail(QString::fromUtf8(error.what()));
      } else {
        emit session_.failed(QString::fromUtf8(error.what()));
      }
    }
  }
  return !session_.busy();
}

void LessonPlayer::start_step() {
  knows_before_ = false;
  pending_.clear();
  moment_.before = {};
  moment_.memory_before = {};
  emit changed();
  check();
}

void LessonPlayer::learn_before() {
  if (knows_before_ || session_.busy()) return;
  const auto signs = vital_signs(session_.snapshot());
  if (!signs) return;
  knows_before_ = true;
  moment_.before = signs->step_time;
  moment_.memory_before = signs->worst.peak;
  moment_.run_before = session_.search().run;
  moment_.iterations_before = session_.search().progress.iterations;
  emit numbers_changed();
}

bool LessonPlayer::asks() const {
  return active_ && !opening_ && !broken_ && step_ < lesson_.steps.size() && !step().until.empty();
}

bool LessonPlayer::done() const { return step_ < done_.size() && done_[step_]; }

bool LessonPlayer::holds_now() const {
  return knows_before_ && asks() && all_hold(step().until, moment_, stage_);
}

LessonMoment LessonPlayer::moment() const { return moment_; }

// What it does may make the session speak, which asks it to check: not again inside.
void LessonPlayer::check() {
  if (!active_ || broken_ || checking_) return;
  checking_ = true;
  if (opening_) {
    check_opening();
  } else {
    learn_before();
    if (knows_before_) perform_pending();
    if (asks() && !done() && holds_now()) {
      done_[step_] = true;
      emit changed();
    }
  }
  checking_ = false;
}

void LessonPlayer::next() {
  if (!active_ || opening_ || broken_) return;
  if (is_last() || lesson_.steps.empty()) {
    emit finished(lesson_.id);
    return leave();
  }
  ++step_;
  start_step();
}

void LessonPlayer::back() {
  if (!active_ || opening_ || broken_ || step_ == 0) return;
  --step_;
  start_step();
}

void LessonPlayer::do_it() {
  if (!asks() || !pending_.empty()) return;
  pending_.assign(step().actions.begin(), step().actions.end());
  check();
}

}  // namespace strato
