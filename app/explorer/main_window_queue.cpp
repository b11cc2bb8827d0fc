// The queue of searches, runs in one chart, and where one goes on at the next start.
#include <QDockWidget>
#include <QLabel>
#include <QStatusBar>
#include <QTimer>
#include <chrono>
#include <cstdlib>

#include "app/explorer/header_bar.h"
#include "app/explorer/last_workspace.h"
#include "app/explorer/main_window.h"
#include "app/explorer/open_files.h"
#include "app/explorer/places/centre.h"
#include "app/explorer/storing_note.h"
#include "views/charts/charts_view.h"
#include "views/workspace/queue_view.h"

namespace strato {

void MainWindow::build_queue() {
  queue_ = new RunQueue(
      session_,
      [&plugins = session_.plugins()](std::string_view name) { return plugins.planner(name); },
      this);
  queue_view_ = new QueueView(session_, *queue_);
  queue_dock_ = new QDockWidget(tr("Queue"), this);
  queue_dock_->setObjectName(QStringLiteral("queue"));
  queue_dock_->setWidget(queue_view_);
  queue_dock_->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
  addDockWidget(Qt::LeftDockWidgetArea, queue_dock_);
  tabifyDockWidget(history_dock_, queue_dock_);
  connect(queue_view_, &QueueView::add_wanted, this, &MainWindow::add_to_queue);
  connect(queue_view_, &QueueView::convergence_wanted, this, &MainWindow::show_convergence);
  connect(queue_, &RunQueue::changed, this, [this] {
    const int to_do = queue_->waiting() + (queue_->running_row() >= 0 ? 1 : 0);
    queue_dock_->setWindowTitle(to_do > 0            ? tr("Queue (%1)").arg(to_do)
                                : queue_->left() > 0 ? tr("Queue (%1 left)").arg(queue_->left())
                                                     : tr("Queue"));
    queue_dock_->toggleViewAction()->setText(tr("Queue"));
  });
}

void MainWindow::add_to_queue(int seeds) {
  const QString planner = header_->planner();
  std::optional<PlannerOptions> options = header_->options_for(planner);
  if (!options) return;
  for (int i = 0; i < seeds; ++i) {
    const QString trouble = queue_->add(planner, *options);
    if (!trouble.isEmpty()) return statusBar()->showMessage(trouble, 8000);
    ++options->seed;
  }
  queue_dock_->show();
  queue_dock_->raise();
}

void MainWindow::show_convergence(const std::vector<RunRow>& runs) {
  auto& charts = centre_->view<ChartsView>();
  centre_->show_view(&charts);
  charts.show_convergence(runs);
}

// Before the window goes, what was done in it is on the disk, however slow that is.
bool MainWindow::all_is_stored() {
  using namespace std::chrono_literals;
  if (session_.store_all(storing_ ? 0ms : 60ms)) return true;
  if (!storing_) show_storing();
  QTimer::singleShot(50ms, this, &QWidget::close);
  return false;
}

void MainWindow::show_storing() {
  for (QWidget* part : findChildren<QWidget*>(Qt::FindDirectChildrenOnly)) part->setEnabled(false);
  const WorkspaceLists* workspace = session_.workspace();
  const QString file =
      workspace ? QString::fromStdString(workspace->file().filename().string()) : QString();
  storing_ = new StoringNote(file, this, [] { std::_Exit(EXIT_FAILURE); });
}

void MainWindow::open_last() {
  QString note;  // trouble, first of all
  QString file = LastWorkspace::to_reopen(note);
  if (!file.isEmpty() && last_workspace_) last_workspace_->begins(file);
  const bool sample = file.isEmpty();
  if (sample) file = bundled_workspace_copy();
  if (!note.isEmpty() && last_workspace_) last_workspace_->stands_in(file);
  if (!file.isEmpty()) open({file});
  if (last_workspace_) last_workspace_->ends_when_idle();  // there may be nothing to show
  if (sample && !file.isEmpty() && note.isEmpty())
    note =
        tr("A sample: VGG19 with a strategy that a search has found. Your own: File > Start Page; "
           "what to do here: Help > Lessons.");
  if (!note.isEmpty()) statusBar()->showMessage(note, 20000);
}

}  // namespace strato
