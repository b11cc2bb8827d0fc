// The queue of searches as a list of two lines each, with what can be done about them. Delete
// removes the chosen one from the list, Alt+Up and Alt+Down move one that waits, Enter shows what
// was found, or starts what was left from another time.
#pragma once

#include <QWidget>
#include <vector>

#include "views/models/run_queue.h"

class QLabel;
class QListView;
class QToolButton;

namespace strato {

class QueueView : public QWidget {
  Q_OBJECT
 public:
  QueueView(Session& session, RunQueue& queue, QWidget* parent = nullptr);

  RunQueue& queue() { return queue_; }
  QListView& list() { return *list_; }
  // In the workspace that is open, of what is chosen; of all when nothing is.
  std::vector<RunRow> chosen_runs() const;
  // Asks a person where something is still to be done; false: the window stays open.
  bool may_close();

 signals:
  void add_wanted(int seeds);  // the planner that is chosen in the window, so many times
  void convergence_wanted(const std::vector<strato::RunRow>& runs);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void build_buttons();
  int row() const;
  void refresh();
  void show_row();
  void start_left();  // those chosen; all when none of them is
  void move_by(int by);
  void stop_or_remove();
  void context_menu(const QPoint& position);

  Session& session_;
  RunQueue& queue_;
  QListView* list_;
  QLabel* empty_;
  QToolButton *add_, *start_, *up_, *down_, *remove_;
};

}  // namespace strato
