// Plays a lesson in a session: opens its problem, knows its step, sees when what it asks for is so,
// and does it when it is asked to. Lives in the GUI thread and blocks nothing.
#pragma once

#include <QObject>
#include <QTimer>
#include <deque>
#include <vector>

#include "views/lessons/lesson.h"
#include "views/lessons/lesson_stage.h"
#include "views/lessons/placeholders.h"

namespace strato {

class LessonPlayer : public QObject {
  Q_OBJECT
 public:
  LessonPlayer(Session& session, LessonStage& stage, QObject* parent = nullptr);

  // At `step`, once the problem is open; from another than the first step without what was done
  // in those before.
  void begin(const Lesson& lesson, std::size_t step = 0);
  void leave();  // the problem stays open
  // Before its problem was open: that may still be on its way, or be half there.
  bool left_unopened() const { return left_unopened_; }
  bool active() const { return active_; }
  bool opening() const { return opening_; }  // the problem is on its way
  bool broken() const { return broken_; }    // it could not be opened: error() says why
  const QString& error() const { return error_; }

  const Lesson& lesson() const { return lesson_; }
  std::size_t step_number() const { return step_; }
  const LessonStep& step() const { return lesson_.steps[step_]; }  // of an active lesson
  bool is_last() const { return step_ + 1 == lesson_.steps.size(); }
  bool asks() const;       // the step wants something
  bool done() const;       // which is so, or has been
  bool holds_now() const;  // which is so now
  LessonMoment moment() const;

  void next();
  void back();
  void do_it();
  void check();  // also by itself, several times a second

 signals:
  void changed();  // another lesson, step, or state
  void numbers_changed();
  void finished(const QString& id);  // the last step was left forwards

 private:
  void check_opening();
  void start_step();
  void learn_before();
  bool perform_pending();  // true: nothing is left to do
  void fail(const QString& error);

  Session& session_;
  LessonStage& stage_;
  Lesson lesson_;
  std::size_t step_ = 0, wanted_step_ = 0;
  std::vector<bool> done_;
  // To be done in this order, each when what the one before began has ended.
  std::deque<LessonAction> pending_;
  bool has_problem_ = false;  // while opening: what follows are the lesson's start actions
  bool active_ = false, opening_ = false, broken_ = false, checking_ = false;
  bool left_unopened_ = false;
  bool knows_before_ = false;  // moment_ has the numbers of the step's beginning
  QString error_;
  LessonMoment moment_;
  std::shared_ptr<const Problem> left_behind_;  // what was open when the lesson began, or broke
  QTimer timer_;
};

}  // namespace strato
