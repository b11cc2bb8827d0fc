#include "views/timeline/timeline_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>
#include <QtConcurrent>

#include "views/models/launch_run.h"
#include "views/style/style.h"
#include "views/timeline/legend_strip.h"

namespace strato {
namespace {

constexpr std::size_t kTasksBuiltAtOnce = 30'000;  // some 20 ms; more is made on a worker thread

QString share(const QString& name, std::int64_t part, double whole) {
  return QStringLiteral("%1 <b>%2</b>")
      .arg(name, style::percent(static_cast<double>(part) / whole));
}

}  // namespace

TimelineView::TimelineView(Session& session, QWidget* parent) : QWidget(parent), session_(session) {
  canvas_ = new TimelineCanvas(session, this);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(make_bar());
  column->addWidget(canvas_, 1);
  summary_ = new QLabel(this);
  summary_->setContentsMargins(8, 4, 8, 4);
  summary_->setTextFormat(Qt::RichText);
  summary_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  summary_->hide();
  column->addWidget(summary_);
  setFocusProxy(canvas_);

  connect(canvas_, &TimelineCanvas::cursor_info, this, &TimelineView::cursor_info);
  connect(canvas_, &TimelineCanvas::colours_changed, this, [this] {
    legend_->show_legend(canvas_->colours(),
                         colour_->currentIndex() != static_cast<int>(ColourMode::Kind));
  });
  connect(&session.selection(), &Selection::range_changed, this, &TimelineView::update_summary);
  connect(&session, &Session::outcome_changed, this, &TimelineView::outcome_changed);
  connect(&session, &Session::problem_changed, this, &TimelineView::outcome_changed);
  connect(&session, &Session::measured_changed, this, &TimelineView::outcome_changed);
  connect(&session, &Session::explanation_changed, this,
          [this] { canvas_->show_explanation(session_.snapshot().explanation); });
  connect(&building_, &QFutureWatcherBase::finished, this, [this] {
    if (building_.isCanceled() || building_.future().resultCount() == 0) return;
    canvas_->show_rows(building_.result(), lower_bound_);
    update_summary();
  });
  outcome_changed();
}

QWidget* TimelineView::make_bar() {
  auto* bar = new QWidget(this);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(8, 2, 8, 2);
  row->setSpacing(8);
  colour_ = new QComboBox(bar);
  for (const ColourMode mode : {ColourMode::DeviceGroup, ColourMode::Phase, ColourMode::Kind}) {
    colour_->addItem(label_of(mode));
  }
  colour_->setCurrentIndex(static_cast<int>(ColourMode::Kind));
  colour_->setToolTip(tr("What the colour of a slice means"));
  colour_->setAccessibleName(tr("Colour of slices"));
  colour_->setFocusPolicy(Qt::TabFocus);
  legend_ = new LegendStrip(bar);
  row->addWidget(colour_);
  row->addWidget(legend_, 1);
  row->addWidget(make_step_choice(bar));
  row->addWidget(make_simulation_switch(bar));
  row->addWidget(make_show_menu(bar));
  auto* fit = new QToolButton(bar);
  fit->setText(tr("Fit"));
  fit->setToolTip(
      tr("Show the whole step (Home)\nW/S zoom, A/D pan, drag selects a range, F goes to the "
         "selection"));
  fit->setAutoRaise(true);
  fit->setFocusPolicy(Qt::TabFocus);
  connect(fit, &QToolButton::clicked, canvas_, &TimelineCanvas::fit_all);
  row->addWidget(fit);
  connect(colour_, &QComboBox::currentIndexChanged, this,
          [this](int index) { canvas_->set_colour_mode(static_cast<ColourMode>(index)); });
  return bar;
}

// There only while the step was measured.
QComboBox* TimelineView::make_step_choice(QWidget* bar) {
  step_ = new QComboBox(bar);
  step_->addItems({tr("Simulated"), tr("Measured"), tr("Both")});
  step_->setToolTip(tr("The step as simulated, as measured by the launch, or one above the other (O)"));
  step_->setAccessibleName(tr("Simulated or measured step"));
  step_->setFocusPolicy(Qt::TabFocus);
  step_->hide();
  connect(step_, &QComboBox::currentIndexChanged, this,
          [this](int index) { canvas_->set_step_shown(static_cast<StepShown>(index)); });
  connect(canvas_, &TimelineCanvas::step_shown_changed, this, [this] {
    step_->setVisible(canvas_->rows() && canvas_->rows()->measured);
    step_->setCurrentIndex(static_cast<int>(canvas_->step_shown()));
  });
  return step_;
}

QToolButton* TimelineView::make_show_menu(QWidget* bar) {
  auto* button = new QToolButton(bar);
  button->setText(tr("Show"));
  button->setToolTip(tr("What the timeline shows"));
  button->setPopupMode(QToolButton::InstantPopup);
  button->setAutoRaise(true);
  button->setFocusPolicy(Qt::TabFocus);
  auto* menu = new QMenu(button);
  menu->setToolTipsVisible(true);
  const auto add = [&](const QString& text, const QString& tip, auto apply) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    action->setChecked(true);
    action->setToolTip(tip);
    connect(action, &QAction::toggled, canvas_, apply);
  };
  add(tr("Critical path"), tr("The chain of tasks that decides the step time"),
      [this](bool on) { canvas_->set_show_critical(on); });
  add(tr("Reasons"), tr("What the critical path is spent on, and what idle devices wait for"),
      [this](bool on) { canvas_->set_show_why(on); });
  add(tr("Memory"), tr("A memory row under each device; red is more than it has"),
      [this](bool on) { canvas_->set_show_memory(on); });
  add(tr("Links"), tr("A row for each link in use"),
      [this](bool on) { canvas_->set_show_links(on); });
  button->setMenu(menu);
  return button;
}

QWidget* TimelineView::make_simulation_switch(QWidget* bar) {
  auto* box = new QWidget(bar);
  auto* row = new QHBoxLayout(box);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  const auto button = [&](const QString& text, const QString& tip) {
    auto* made = new QToolButton(box);
    made->setText(text);
    made->setToolTip(tip);
    made->setCheckable(true);
    made->setFocusPolicy(Qt::TabFocus);
    row->addWidget(made);
    return made;
  };
  fifo_ = button(tr("FIFO"), tr("Tasks run first in, first out: in the order in which they become "
                                "ready (F6)"));
  priority_ =
      button(tr("Priority"),
             tr("Tasks run in the strategy's order; without one, those with the longest way "
                "to the end of the step come first (F6)"));
  row->addSpacing(style::kGrid);
  fair_ = button(tr("Fair links"),
                 tr("On: transfers on the same link share its bandwidth fairly.\nOff: one "
                    "transfer holds a link at a time (F7)"));
  const auto choose = [this](TaskOrder order) {
    Simulation simulation = session_.simulation();
    simulation.order = order;
    session_.set_simulation(simulation);
    refresh_simulation();
  };
  connect(fifo_, &QToolButton::clicked, this, [choose] { choose(TaskOrder::Fifo); });
  connect(priority_, &QToolButton::clicked, this, [choose] { choose(TaskOrder::Priority); });
  connect(fair_, &QToolButton::clicked, this, [this](bool on) {
    Simulation simulation = session_.simulation();
    simulation.fair_links = on;
    session_.set_simulation(simulation);
  });
  connect(&session_, &Session::simulation_changed, this, &TimelineView::refresh_simulation);
  refresh_simulation();
  return box;
}

void TimelineView::refresh_simulation() {
  const Simulation& simulation = session_.simulation();
  fifo_->setChecked(simulation.order == TaskOrder::Fifo);
  priority_->setChecked(simulation.order == TaskOrder::Priority);
  fair_->setChecked(simulation.fair_links);
  for (QToolButton* button : {fifo_, priority_, fair_}) {  // told apart in the dark, too
    QPalette colours = palette();
    if (button->isChecked()) {
      colours.setColor(QPalette::Button, colours.color(QPalette::Highlight));
      colours.setColor(QPalette::ButtonText, colours.color(QPalette::HighlightedText));
    }
    button->setPalette(colours);
  }
}

void TimelineView::set_colour_mode(ColourMode mode) {
  colour_->setCurrentIndex(static_cast<int>(mode));
}

void TimelineView::render_to(QPainter& painter, QSize size) { canvas_->paint_to(painter, size); }

void TimelineView::outcome_changed() {
  const Snapshot& snapshot = session_.snapshot();
  canvas_->show_explanation(snapshot.explanation);
  const auto& measured = session_.measured();
  show_timeline(snapshot.outcome ? snapshot.outcome->timeline : nullptr, snapshot.lower_bound,
                measured ? measured->timeline : nullptr);
}

void TimelineView::show_timeline(std::shared_ptr<const Timeline> timeline, Nanos lower_bound,
                                 std::shared_ptr<const Timeline> measured) {
  building_.setFuture({});  // a result under way is stale
  lower_bound_ = lower_bound;
  if (!timeline) {
    canvas_->show_rows(nullptr, Nanos(0));
  } else if (timeline->tasks.size() <= kTasksBuiltAtOnce) {
    canvas_->show_rows(
        std::make_shared<const TimelineRows>(make_rows(std::move(timeline), std::move(measured))),
        lower_bound);
  } else {
    building_.setFuture(QtConcurrent::run(
        [timeline = std::move(timeline), measured = std::move(measured)] {
          return std::make_shared<const TimelineRows>(make_rows(timeline, measured));
        }));
  }
  update_summary();
}

void TimelineView::update_summary() {
  const auto range = session_.selection().range();
  const auto& rows = canvas_->rows();
  summary_->setVisible(range && rows && range->end > range->begin);
  if (!summary_->isVisibleTo(this)) return;
  const RangeSummary sum = summarise(*rows, range->begin.value, range->end.value);
  const Nanos length = range->end - range->begin;
  const double whole =
      std::max<double>(1, static_cast<double>(length.value) * static_cast<double>(sum.devices));
  QStringList parts = {
      QStringLiteral("<b>%1</b> (%2 to %3)")
          .arg(style::time(length), style::time(range->begin), style::time(range->end))};
  const auto add = [&](const QString& name, std::int64_t part) {
    if (part > 0) parts << share(name, part, whole);
  };
  add(tr("compute"), sum.compute);
  add(tr("update"), sum.update);
  add(tr("reshuffle"), sum.reshuffle);
  add(tr("idle"), sum.idle);
  add(tr("transfer"), sum.transfer);
  add(tr("collective"), sum.collective);
  parts << tr("%1 tasks").arg(sum.tasks);
  summary_->setText(parts.join(QStringLiteral(" &nbsp;·&nbsp; ")));
  summary_->setToolTip(
      tr("Shares of the time of all %1 devices in this range; communication overlaps computation")
          .arg(sum.devices));
}

}  // namespace strato
