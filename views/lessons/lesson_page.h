// One lesson while it is played: what it says, what it asks for, and how far one is.
#pragma once

#include <QWidget>

#include "views/lessons/highlight.h"
#include "views/lessons/lesson_player.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace strato {

class LessonText;

class LessonPage : public QWidget {
  Q_OBJECT
 public:
  LessonPage(LessonPlayer& player, LessonStage& stage, QWidget* parent = nullptr);

  QPushButton& next_button() { return *next_; }
  QPushButton& do_button() { return *do_; }
  QPushButton& hint_button() { return *hint_; }
  QString shown_text() const;  // as Markdown
  const Highlights& highlights() const { return highlights_; }

 signals:
  void leave_wanted();

 private:
  void build();
  void refresh();
  bool has_step() const;
  void refresh_texts();
  void refresh_buttons();
  void point_at_places();

  LessonPlayer& player_;
  LessonStage& stage_;
  QLabel *title_, *ask_;
  QProgressBar* progress_;
  LessonText* text_;
  QPushButton *leave_, *back_, *hint_, *do_, *next_;
  Highlights highlights_;
  QString shown_;
  // What is on the screen, to see what is new.
  QString lesson_;
  std::size_t step_ = 0;
  bool hint_shown_ = false, pointed_ = false;
};

}  // namespace strato
