// The dock of lessons: the list of them, and the one that is played. How far one is, is remembered.
#pragma once

#include <QWidget>
#include <map>

#include "views/lessons/exercise_page.h"
#include "views/lessons/lesson_page.h"
#include "views/lessons/lesson_player.h"
#include "views/lessons/lesson_reader.h"

class QLabel;
class QListWidget;
class QStackedWidget;

namespace strato {

class LessonPanel : public QWidget {
  Q_OBJECT
 public:
  // `remembers`: progress is read from and written to the user's settings.
  LessonPanel(Session& session, LessonStage& stage, const QStringList& places, bool remembers,
              QWidget* parent = nullptr);

  const std::vector<Lesson>& lessons() const { return lessons_.lessons; }
  const QStringList& errors() const { return lessons_.errors; }
  LessonPlayer& player() { return player_; }
  LessonPage& page() { return *lesson_page_; }
  ExercisePage& exercise_page() { return *exercise_page_; }

  void show_list();
  void show_exercises();               // the list, at the first exercise
  void begin(const QString& id);       // at its first step; unknown: the list
  void add_file(const QString& file);  // a teacher's own lesson, and begins it
  static constexpr int kDone = -1;
  int progress(const QString& id) const;  // the step that comes next, or kDone

 signals:
  void about_to_begin();  // a lesson
  void left();

 private:
  void fill_list();
  void choose(int row);
  void remember();

  Session& session_;
  const bool remembers_;
  const QStringList places_;
  Lessons lessons_;
  LessonPlayer player_;
  QStackedWidget* pages_;
  QListWidget* list_;
  QLabel* errors_label_;
  LessonPage* lesson_page_;
  ExercisePage* exercise_page_;
  std::map<QString, int> progress_;
};

}  // namespace strato
