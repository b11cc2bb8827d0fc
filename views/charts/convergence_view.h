// Several runs in one chart: their best so far over evaluations or time, with a list that tells the
// lines apart and what each came to. Those that a person chose, or else the latest of the problem
// that is open. Runs under way grow while they are looked at, also those of another program.
#pragma once

#include <QTimer>
#include <QWidget>
#include <memory>
#include <vector>

#include "views/charts/convergence.h"
#include "views/models/session.h"
#include "views/models/worker.h"

class QBoxLayout;
class QChart;
class QChartView;
class QComboBox;
class QLabel;
class QLineSeries;
class QToolButton;
class QTreeWidget;
class QValueAxis;

namespace strato {

class ConvergenceView : public QWidget {
  Q_OBJECT
 public:
  explicit ConvergenceView(Session& session, QWidget* parent = nullptr);
  ~ConvergenceView() override;

  void show_runs(const std::vector<RunRow>& runs);  // none: the latest of what is open
  const std::vector<ConvergenceRun>& runs() const { return runs_; }
  QChart& chart() { return *chart_; }
  QTreeWidget& list() { return *list_; }
  QComboBox& over() { return *over_; }
  QComboBox& of() { return *of_; }
  void read_now();  // in the background
  void wait();      // until all that was asked for is shown: for tests

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Reading;
  void build();
  void poll();
  void take(std::uint64_t job, std::vector<ConvergenceRun> runs, const QString& error);
  void redraw();
  void fill_list(const ConvergenceChart& shown);
  void fit_title();
  void recolour();
  void remove_chosen();
  void tell_point(std::size_t line, const QPointF& point);

  Session& session_;
  std::vector<RunRow> wanted_;  // empty: the latest
  std::vector<ConvergenceRun> runs_;
  QChart* chart_;
  QChartView* view_;
  QValueAxis *x_, *y_;
  std::vector<QLineSeries*> lines_;  // as runs_
  QComboBox *over_, *of_;
  QToolButton* latest_;
  QLabel *empty_, *title_;
  QTreeWidget* list_;
  QBoxLayout* body_;
  QTimer poll_;
  std::int64_t version_ = -1;
  std::uint64_t job_ = 0, shown_job_ = 0;
  bool chose_of_ = false;  // a person did: it stays
  std::shared_ptr<Reading> reading_;
  Worker worker_{Worker::OnExit::DropQueued};
};

}  // namespace strato
