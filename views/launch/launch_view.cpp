#include "views/launch/launch_view.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QTabWidget>
#include <QVBoxLayout>
#include <utility>

#include "views/launch/history_page.h"
#include "views/launch/log_page.h"
#include "views/launch/measured_page.h"
#include "views/launch/rank_page.h"
#include "views/launch/step_charts.h"
#include "views/style/style.h"

namespace strato {

using State = LaunchModel::State;

LaunchView::LaunchView(Session& session, QWidget* parent)
    : LaunchView(
          session, LaunchOffer::of(session.plugins()),
          [&session](std::string_view name) { return session.plugins().launcher(name); }, parent) {}

LaunchView::LaunchView(Session& session, const LaunchOffer& offer, LauncherFactory make,
                       QWidget* parent)
    : QWidget(parent),
      session_(session),
      nothing_to_launch_with_(offer.launchers.empty() || offer.engines.empty() ||
                              offer.transports.empty()),
      model_(new LaunchModel(session, make, this)),
      form_(new LaunchForm(offer, std::move(make), ThisMachine::look().cuda, this)),
      start_(new QPushButton(this)),
      progress_(new QProgressBar(this)),
      status_(new QLabel(this)),
      pages_(new QTabWidget(this)),
      ranks_(new RankPage(session, this)),
      charts_(new StepCharts(*model_, this)),
      logs_(new LogPage(*model_, this)),
      measured_(new MeasuredPage(session, *model_, this)),
      history_(new HistoryPage(session, *model_, this)) {
  build();
  tick_.setInterval(250);
  draw_.setInterval(100);
  draw_.setSingleShot(true);
  connect(&tick_, &QTimer::timeout, this, &LaunchView::refresh_status);
  connect(&draw_, &QTimer::timeout, this, [this] {
    charts_->refresh();
    refresh_status();
  });
  connect(form_, &LaunchForm::changed, this, &LaunchView::refresh_preview);
  connect(form_, &LaunchForm::failed, status_, &QLabel::setText);
  connect(start_, &QPushButton::clicked, this, &LaunchView::start_or_cancel);
  connect(model_, &LaunchModel::changed, this, &LaunchView::refresh);
  connect(model_, &LaunchModel::stepped, this, [this] {
    if (!draw_.isActive()) draw_.start();
  });
  connect(model_, &LaunchModel::logged, logs_, &LogPage::add);
  connect(&session_, &Session::measured_changed, measured_, &MeasuredPage::refresh);
  connect(&session_, &Session::measured_changed, this, &LaunchView::refresh_preview);
  connect(&history_->launches(), &QAbstractItemModel::modelReset, this,
          &LaunchView::offer_to_follow);
  connect(&session_, &Session::outcome_changed, this, &LaunchView::refresh);
  connect(&session_, &Session::problem_changed, this, &LaunchView::refresh);
  refresh();
}

void LaunchView::build() {
  progress_->setTextVisible(false);
  progress_->setFixedWidth(120);
  progress_->setMaximumHeight(fontMetrics().height() - 2);
  status_->setTextFormat(Qt::PlainText);
  status_->setWordWrap(true);
  status_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, 0);
  bar->setSpacing(2 * style::kGrid);
  bar->addWidget(form_, 1);
  bar->addWidget(start_, 0, Qt::AlignTop);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(2 * style::kGrid, 0, 2 * style::kGrid, 0);
  line->setSpacing(2 * style::kGrid);
  line->addWidget(progress_);
  line->addWidget(status_, 1);
  pages_->setDocumentMode(true);
  pages_->addTab(ranks_, tr("Ranks"));
  pages_->addTab(form_->settings_page(), tr("Settings"));
  pages_->addTab(charts_, tr("Progress"));
  pages_->addTab(logs_, tr("Logs"));
  pages_->addTab(measured_, tr("Measured"));
  pages_->addTab(history_, tr("History"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(style::kGrid);
  column->addLayout(bar);
  column->addLayout(line);
  column->addWidget(pages_, 1);
  setFocusProxy(start_);
}

bool LaunchView::just_ended() const {
  constexpr qint64 kOnItsWay = 800;  // ms
  return since_end_.isValid() && since_end_.elapsed() < kOnItsWay;
}

void LaunchView::start_or_cancel() {
  if (model_->running()) return model_->cancel();
  if (!start_->isEnabled()) return;
  if (just_ended()) {
    emit session_.message(tr("The job had ended already: press again to launch another one"));
    return;
  }
  model_->start(form_->choice());
}

void LaunchView::refresh() {
  const bool running = model_->running();
  if (was_running_ && !running) since_end_.start();
  was_running_ = running;
  start_->setText(running ? tr("&Cancel") : tr("L&aunch"));
  start_->setToolTip(running ? tr("Every process of the job ends (F9)")
                             : tr("The strategy shown, one process for each device (F9)"));
  start_->setEnabled(running ? !model_->cancelling()
                             : session_.snapshot().outcome && !nothing_to_launch_with_);
  form_->set_editable(!running);
  if (running && !tick_.isActive()) tick_.start();
  if (!running) tick_.stop();
  turn_page();
  refresh_status();
  refresh_preview();
  charts_->refresh();
  measured_->refresh();
  history_->refresh();
}

// Once for each that is found in a workspace.
void LaunchView::offer_to_follow() {
  const int row = history_->launches().left_running();
  if (row < 0 || model_->running()) return;
  const StoredLaunch& launch = history_->launches().launch(row);
  if (std::exchange(offered_, launch.id) == launch.id) return;
  pages_->setCurrentIndex(History);
  emit session_.message(tr("%1 was left running: Launch, History, Follow Again shows how it is")
                            .arg(QString::fromStdString(launch.job)));
}

bool LaunchView::may_close() {
  if (!model_->can_be_left()) return true;
  QMessageBox question(
      QMessageBox::Question, tr("A job is running"),
      tr("%1 of %2 is running.").arg(QString::fromStdString(model_->job()), model_->label()),
      QMessageBox::NoButton, this);
  question.setInformativeText(
      session_.workspace() ? tr("Left running, it goes on without this window; the workspace "
                                "offers to follow it again.")
                           : tr("Left running, it goes on without this window. Without a "
                                "workspace only its folder knows of it: %1")
                                 .arg(model_->folder()));
  auto* leave = question.addButton(tr("&Leave Running"), QMessageBox::AcceptRole);
  auto* cancel = question.addButton(tr("&Cancel the Job"), QMessageBox::DestructiveRole);
  question.addButton(tr("&Stay Here"), QMessageBox::RejectRole);
  question.setDefaultButton(leave);
  question.exec();
  if (question.clickedButton() == leave) model_->leave();
  if (question.clickedButton() == cancel) model_->cancel();
  return question.clickedButton() == leave || question.clickedButton() == cancel;
}

// The page that answers what a person wants to know next.
void LaunchView::turn_page() {
  const State state = model_->state();
  if (state == last_) return;
  if (model_->from_workspace() && !model_->running()) {  // looked up: the list stays in sight
    last_ = state;
    return;
  }
  if (state == State::Staging) {
    logs_->reset();
    pages_->setCurrentIndex(Progress);
  } else if (state == State::Finished) {
    pages_->setCurrentIndex(Measured);
  } else if (state == State::Failed) {
    if (model_->failed_rank() >= 0) logs_->show_rank(model_->failed_rank());
    pages_->setCurrentIndex(Logs);
  }
  last_ = state;
}

void LaunchView::refresh_preview() {
  const auto& outcome = session_.snapshot().outcome;
  if (!isVisible()) return;
  const auto& measured = session_.measured();
  ranks_->show_preview(
      outcome ? preview_launch(*outcome->timeline, form_->choice(), ThisMachine::look())
              : LaunchPreview(),
      measured ? measured->result.peaks : std::vector<Bytes>());
}

QString LaunchView::step_text() const {
  if (model_->steps().empty()) return tr("the ranks meet");
  const LaunchModel::Step& last = model_->steps().back();
  QString text = tr("step %1 of %2, %3 (predicted %4)")
                     .arg(last.step)
                     .arg(model_->steps_asked())
                     .arg(style::time(last.time), style::time(model_->predicted()));
  if (last.loss) text += tr(", loss %1").arg(style::significant(*last.loss, 5));
  return text;
}

QString LaunchView::status_text() const {
  const QString time = style::time(nanos_from_seconds(model_->seconds()));
  if (model_->cancelling()) return tr("%1: cancelling…").arg(model_->label());
  switch (model_->state()) {
    case State::Idle:
      break;
    case State::Staging:
      return tr("%1: staging, %2").arg(model_->label(), time);
    case State::Waiting:
      return tr("%1: waiting for the ranks, %2").arg(model_->label(), time);
    case State::Running:
      return tr("%1: %2, %3").arg(model_->label(), step_text(), time);
    case State::Finished:
      if (model_->from_workspace() && model_->seconds() <= 0)
        return tr("%1, as it is in the workspace").arg(model_->label());
      return tr("%1: finished after %2").arg(model_->label(), time);
    case State::Failed:
      return tr("%1: failed: %2").arg(model_->label(), model_->problem());
    case State::Cancelled:
      if (model_->from_workspace() && model_->seconds() <= 0)
        return tr("%1: was cancelled").arg(model_->label());
      return tr("%1: cancelled after %2; no process is left").arg(model_->label(), time);
  }
  if (nothing_to_launch_with_)
    return tr("Nothing to launch with: no launcher, engine or transport is installed.");
  if (!session_.snapshot().outcome)
    return tr("Open a model and a cluster: their strategy is launched on real processes here.");
  return tr("Launch runs %1, one process for each device, and measures its steps.")
      .arg(session_.snapshot().label);
}

void LaunchView::refresh_status() {
  const State state = model_->state();
  progress_->setVisible(model_->running());
  progress_->setRange(0, state == State::Running ? model_->steps_asked() : 0);
  progress_->setValue(static_cast<int>(model_->steps().size()));
  status_->setText(status_text());
  QPalette colours = palette();
  colours.setColor(QPalette::WindowText, state == State::Failed
                                             ? style::infeasible(style::is_dark(colours))
                                             : style::muted_text(colours));
  status_->setPalette(colours);
}

void LaunchView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) refresh_status();
  QWidget::changeEvent(event);
}

void LaunchView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh_preview();
}

}  // namespace strato
