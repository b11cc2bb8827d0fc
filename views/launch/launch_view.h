// The strategy shown on real processes: choose how, see what will run where, start, watch steps,
// losses and logs, cancel; afterwards measured times stand beside predicted ones.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include "views/launch/launch_form.h"
#include "views/models/launch_model.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QTabWidget;

namespace strato {

class HistoryPage;
class LogPage;
class MeasuredPage;
class RankPage;
class StepCharts;

class LaunchView : public QWidget {
  Q_OBJECT
 public:
  // With the launchers, engines and transports that the session's plugins offer.
  explicit LaunchView(Session& session, QWidget* parent = nullptr);
  LaunchView(Session& session, const LaunchOffer& offer, LauncherFactory make,
             QWidget* parent = nullptr);

  // What the button says. Starts nothing where a job ended while the finger was on its way.
  void start_or_cancel();
  bool just_ended() const;
  // Asks about a job that could go on without this program; false: the window stays open.
  bool may_close();
  LaunchModel& model() { return *model_; }
  LaunchForm& form() { return *form_; }
  MeasuredPage& measured_page() { return *measured_; }
  HistoryPage& history_page() { return *history_; }

 protected:
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  enum Page { Ranks, Settings, Progress, Logs, Measured, History };
  void build();
  void refresh();
  void refresh_status();
  void refresh_preview();
  void offer_to_follow();
  void turn_page();
  QString status_text() const;
  QString step_text() const;

  Session& session_;
  const bool nothing_to_launch_with_;
  LaunchModel* model_;
  LaunchForm* form_;
  QPushButton* start_;
  QProgressBar* progress_;
  QLabel* status_;
  QTabWidget* pages_;
  RankPage* ranks_;
  StepCharts* charts_;
  LogPage* logs_;
  MeasuredPage* measured_;
  HistoryPage* history_;
  QTimer tick_, draw_;
  LaunchModel::State last_ = LaunchModel::State::Idle;
  QElapsedTimer since_end_;  // of the last job that was seen to run
  bool was_running_ = false;
  LaunchRow offered_ = 0;  // that was left running
};

}  // namespace strato
