// Two pages. Of the strategy: best step time over evaluations against data parallel, how each
// device spends the step, and the peak memory of each device against what it has; the loss of the
// latest training, when the workspace has one; and what the planner of the run that is shown drew
// of its own course. Of runs: several of them in one chart. All decimated; no OpenGL.
#pragma once

#include <QWidget>
#include <memory>

#include "views/models/session.h"

class QTabBar;
class QTimer;

namespace strato {

class ConvergenceView;

class ChartsView : public QWidget {
  Q_OBJECT
 public:
  explicit ChartsView(Session& session, QWidget* parent = nullptr);
  ~ChartsView() override;

  // Turns to the page of runs; none: the latest of the problem that is open.
  void show_convergence(const std::vector<RunRow>& runs);
  ConvergenceView& convergence() { return *convergence_; }
  QTabBar& pages() { return *pages_; }

 protected:
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Parts;
  void build();
  QWidget* build_strategy_page();
  void refresh_soon();
  void refresh();
  void refresh_history();
  void refresh_training();
  void show_training(const std::vector<LossPoint>& losses, const QString& planner);
  void refresh_course();
  void refresh_devices();
  void recolour();

  Session& session_;
  std::unique_ptr<Parts> parts_;
  QTimer* timer_;
  QTabBar* pages_;
  ConvergenceView* convergence_;
  bool devices_stale_ = true, training_stale_ = true;
};

}  // namespace strato
