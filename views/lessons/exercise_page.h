// An exercise while it is worked on: what is asked for, the score, hints.
#pragma once

#include <QWidget>

#include "views/lessons/exercise_model.h"
#include "views/lessons/lesson_player.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace strato {

class LessonText;

class ExercisePage : public QWidget {
  Q_OBJECT
 public:
  ExercisePage(Session& session, LessonPlayer& player, QWidget* parent = nullptr);
  ExerciseModel& model() { return model_; }
  QPushButton& hint_button() { return *hint_; }
  QString hint_text() const;

 signals:
  void leave_wanted();

 private:
  void refresh();
  QString score_text() const;
  QString space_text() const;
  void give_hint();
  void show_best();

  Session& session_;
  LessonPlayer& player_;
  ExerciseModel model_;
  QLabel *title_, *score_, *hint_label_;
  LessonText* text_;
  QProgressBar* points_;
  QPushButton *hint_, *show_, *leave_;
  int told_ = 0;  // 1: which group, 2: what with it
};

}  // namespace strato
