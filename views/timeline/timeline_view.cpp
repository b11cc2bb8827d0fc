#include "views/timeline/timeline_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QSplitter>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>
#include <QtConcurrent>

#include "views/models/background_pool.h"
#include "views/models/launch_run.h"
#include "views/style/style.h"
#include "views/timeline/legend_strip.h"
#include "views/timeline/range_panel.h"
#include "views/timeline/search_panel.h"
#include "views/timeline/second_timeline.h"

namespace strato {
namespace {

constexpr std::size_t kTasksBuiltAtOnce = 30'000;  // some 20 ms; more is made on a worker thread

constexpr int kLeastCanvas = 360;  // px: narrower ones do not give way to totals by themselves

QString share(const QString& name, std::int64_t part, double whole) {
  return QStringLiteral("%1 <b>%2</b>")
      .arg(name, style::percent(static_cast<double>(part) / whole));
}

}  // namespace

TimelineView::TimelineView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      adding_([this](const RangeTotals& sum) { show_summary(sum); }) {
  canvas_ = new TimelineCanvas(session, this);
  first_title_ = new QLabel(this);
  second_ = new SecondTimeline(session, *canvas_, *first_title_, this);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(make_bar());
  make_side();
  column->addWidget(middle_, 1);
  summary_ = new QLabel(this);
  summary_->setContentsMargins(8, 4, 8, 4);
  summary_->setTextFormat(Qt::RichText);
  summary_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  summary_->hide();
  column->addWidget(summary_);
  setFocusProxy(canvas_);
  connect_canvas();
  connect(&session.selection(), &Selection::range_changed, this, &TimelineView::update_summary);
  connect(&session, &Session::outcome_changed, this, &TimelineView::outcome_changed);
  connect(&session, &Session::problem_changed, this, &TimelineView::outcome_changed);
  connect(&session, &Session::measured_changed, this, &TimelineView::outcome_changed);
  connect(&session, &Session::explanation_changed, this, [this] {
    canvas_->show_explanation(session_.snapshot().explanation);
    range_->refresh();  // why devices are idle
  });
  connect(&building_, &QFutureWatcherBase::finished, this, [this] {
    if (building_.isCanceled() || building_.future().resultCount() == 0) return;
    canvas_->show_rows(building_.result(), lower_bound_);
    rows_changed();
  });
  outcome_changed();
}

void TimelineView::connect_canvas() {
  connect(canvas_, &TimelineCanvas::cursor_info, this, &TimelineView::cursor_info);
  connect(canvas_, &TimelineCanvas::colours_changed, this, [this] {
    colour_->setCurrentIndex(static_cast<int>(canvas_->colour_mode()));
    legend_->show_legend(canvas_->colours(),
                         colour_->currentIndex() != static_cast<int>(ColourMode::Kind));
  });
  connect(canvas_, &TimelineCanvas::rows_in_sight_changed, this, [this] {
    const std::size_t hidden = canvas_->hidden_rows();
    hidden_->setVisible(hidden > 0);
    hidden_->setText(tr("%1 hidden").arg(hidden));
    if (range_->isVisible()) range_->refresh();
    if (summary_->isVisible()) update_summary();  // of the other step now, perhaps
  });
  connect(canvas_, &TimelineCanvas::menu_opens, this,
          [this](QMenu* menu) { add_export_actions(*menu); });
  connect(canvas_, &TimelineCanvas::range_chosen, this, [this] {
    const bool room = width() >= kLeastCanvas + 2 * range_->minimumWidth();
    if (opens_by_itself_ && room && !side_->isVisible()) open_side(range_);
  });
  for (TimelineCanvas* canvas : {canvas_, &second_->canvas()}) {
    connect(canvas, &TimelineCanvas::totals_wanted, this, [this] {
      if (range_->isVisible()) return close_side();
      open_side(range_);
      range_->focus_table();
    });
    connect(canvas, &TimelineCanvas::search_wanted, this, [this] {
      open_side(search_);
      search_->focus_query();
    });
  }
}

// The timeline, and under it the other one while they are compared.
QWidget* TimelineView::make_pair() {
  auto* pair = new QSplitter(Qt::Vertical, middle_);
  pair->setChildrenCollapsible(false);
  first_box_ = new QWidget(pair);
  auto* column = new QVBoxLayout(first_box_);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(first_title_);
  column->addWidget(canvas_, 1);
  pair->addWidget(first_box_);
  pair->addWidget(second_);
  pair->setStretchFactor(0, 1);
  pair->setStretchFactor(1, 1);
  connect(second_, &SecondTimeline::shown_changed, this, [this, pair] {
    const bool alone = second_->isHidden();
    first_box_->setVisible(alone || second_->mode() == SecondTimeline::Mode::Below);
    if (!alone) pair->setSizes({pair->height() / 2, pair->height() / 2});
    allow_change_colours(second_->mode() != SecondTimeline::Mode::Alone);
  });
  connect(&second_->canvas(), &TimelineCanvas::cursor_info, this, &TimelineView::cursor_info);
  for (TimelineCanvas* canvas : {canvas_, &second_->canvas()}) {
    connect(canvas, &TimelineCanvas::compare_wanted, second_, &SecondTimeline::toggle_below);
    connect(canvas, &TimelineCanvas::blink_wanted, second_, &SecondTimeline::blink);
  }
  return pair;
}

void TimelineView::allow_change_colours(bool allowed) {
  auto* items = qobject_cast<QStandardItemModel*>(colour_->model());
  if (items) items->item(static_cast<int>(ColourMode::Change))->setEnabled(allowed);
}

void TimelineView::set_second_plan(SecondPlan& second) {
  second_->set_second_plan(second);
  compare_->show();
}

void TimelineView::make_side() {
  middle_ = new QSplitter(Qt::Horizontal, this);
  middle_->setChildrenCollapsible(false);
  middle_->addWidget(make_pair());
  side_ = new QStackedWidget(middle_);
  range_ = new RangePanel(session_, *canvas_, side_);
  search_ = new SearchPanel(session_, *canvas_, side_);
  side_->addWidget(range_);
  side_->addWidget(search_);
  side_->hide();
  middle_->addWidget(side_);
  middle_->setStretchFactor(0, 1);
  middle_->setStretchFactor(1, 0);
  connect(range_, &RangePanel::close_wanted, this, [this] {
    opens_by_itself_ = false;
    close_side();
  });
  connect(search_, &SearchPanel::close_wanted, this, &TimelineView::close_side);
}

void TimelineView::open_side(QWidget* panel) {
  side_->setCurrentWidget(panel);
  if (side_->isVisible()) return;
  side_->show();
  const int wide = std::clamp(width() * 2 / 5, panel->minimumWidth(), 300);
  middle_->setSizes({std::max(1, width() - wide), wide});
  update_summary();
}

void TimelineView::close_side() {
  side_->hide();
  canvas_->setFocus();
  update_summary();
}

void TimelineView::refresh_side() {
  range_->refresh();
  search_->refresh();
  second_->refresh();
}

void TimelineView::rows_changed() {
  update_summary();
  refresh_side();
}

QWidget* TimelineView::make_bar() {
  auto* bar = new QWidget(this);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(8, 2, 4, 2);
  row->setSpacing(5);
  colour_ = new QComboBox(bar);
  for (const ColourMode mode :
       {ColourMode::DeviceGroup, ColourMode::Phase, ColourMode::Kind, ColourMode::Change}) {
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
  hidden_ = new QToolButton(bar);
  hidden_->setToolTip(
      tr("Rows that are hidden or filtered out; a click brings them back (Shift+H)"));
  hidden_->setFocusPolicy(Qt::TabFocus);
  hidden_->hide();
  connect(hidden_, &QToolButton::clicked, canvas_, &TimelineCanvas::show_all_rows);
  row->addWidget(hidden_);
  row->addWidget(make_compare_menu(bar));
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
  connect(colour_, &QComboBox::currentIndexChanged, this, [this](int index) {
    canvas_->set_colour_mode(static_cast<ColourMode>(index));
    second_->canvas().set_colour_mode(static_cast<ColourMode>(index));
  });
  allow_change_colours(false);
  return bar;
}

// There only while the step was measured.
QComboBox* TimelineView::make_step_choice(QWidget* bar) {
  step_ = new QComboBox(bar);
  step_->addItems({tr("Simulated"), tr("Measured"), tr("Both")});
  step_->setToolTip(
      tr("The step as simulated, as measured by the launch, or one above the other (O)"));
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
    connect(action, &QAction::toggled, this, [this, apply](bool on) {
      for (TimelineCanvas* canvas : {canvas_, &second_->canvas()}) apply(*canvas, on);
    });
  };
  add(tr("Critical path"), tr("The chain of tasks that decides the step time"),
      [](TimelineCanvas& canvas, bool on) { canvas.set_show_critical(on); });
  add(tr("Reasons"), tr("What the critical path is spent on, and what idle devices wait for"),
      [](TimelineCanvas& canvas, bool on) { canvas.set_show_why(on); });
  add(tr("Memory"), tr("A memory row under each device; red is more than it has"),
      [](TimelineCanvas& canvas, bool on) { canvas.set_show_memory(on); });
  add(tr("Links"), tr("A row for each link in use"),
      [](TimelineCanvas& canvas, bool on) { canvas.set_show_links(on); });
  add(tr("Dependencies"),
      tr("Arrows from what the selected slice waits for, and to what waits for it"),
      [](TimelineCanvas& canvas, bool on) { canvas.set_show_arrows(on); });
  menu->addSeparator();
  menu->addAction(tr("Totals of the Range (T)"), canvas_, &TimelineCanvas::totals_wanted)
      ->setToolTip(tr("Time by kind, op type and group, what links carry, why devices are idle"));
  menu->addAction(tr("Search… (/)"), canvas_, &TimelineCanvas::search_wanted);
  menu->addAction(tr("Show All Rows (Shift+H)"), canvas_, &TimelineCanvas::show_all_rows);
  QAction* before_export = menu->addSeparator();
  connect(menu, &QMenu::aboutToShow, this, [this, menu, before_export] {
    const auto actions = menu->actions();
    for (auto i = actions.indexOf(before_export) + 1; i < actions.size(); ++i) {
      menu->removeAction(actions[i]);  // of the last time
      actions[i]->menu()->deleteLater();
    }
    if (canvas_->rows()) add_export_actions(*menu);
  });
  button->setMenu(menu);
  return button;
}

// There only with something to compare with.
QToolButton* TimelineView::make_compare_menu(QWidget* bar) {
  compare_ = new QToolButton(bar);
  compare_->setText(tr("Compare"));
  compare_->setToolTip(tr("Another plan's timeline below (C) or in the same place (B)"));
  compare_->setPopupMode(QToolButton::InstantPopup);
  compare_->setAutoRaise(true);
  compare_->setFocusPolicy(Qt::TabFocus);
  auto* menu = new QMenu(compare_);
  menu->setToolTipsVisible(true);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] { second_->fill(*menu); });
  compare_->setMenu(menu);
  compare_->hide();
  return compare_;
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
  const auto timeline = snapshot.outcome ? snapshot.outcome->timeline : nullptr;
  const auto measured = session_.measured() ? session_.measured()->timeline : nullptr;
  // Several signals announce what was opened; its rows are built once.
  if (timeline && timeline == shown_ && measured == shown_measured_ &&
      snapshot.lower_bound == lower_bound_)
    return rows_changed();
  show_timeline(timeline, snapshot.lower_bound, measured);
}

void TimelineView::show_timeline(std::shared_ptr<const Timeline> timeline, Nanos lower_bound,
                                 std::shared_ptr<const Timeline> measured) {
  building_.setFuture({});  // a result under way is stale
  lower_bound_ = lower_bound;
  shown_ = timeline;
  shown_measured_ = measured;
  if (!timeline) {
    canvas_->show_rows(nullptr, Nanos(0));
  } else if (timeline->tasks.size() <= kTasksBuiltAtOnce) {
    canvas_->show_rows(
        std::make_shared<const TimelineRows>(make_rows(std::move(timeline), std::move(measured))),
        lower_bound);
  } else {
    building_.setFuture(QtConcurrent::run(
        background_pool(), [timeline = std::move(timeline), measured = std::move(measured)] {
          return std::make_shared<const TimelineRows>(make_rows(timeline, measured));
        }));
  }
  rows_changed();
}

void TimelineView::update_summary() {
  const auto range = session_.selection().range();
  const auto rows = canvas_->rows();
  const bool wanted = range && rows && range->end > range->begin && side_->isHidden();
  summary_->setVisible(wanted);
  if (!wanted) return adding_.drop();
  const bool measured = canvas_->step_shown() == StepShown::Measured;
  adding_.ask(
      [rows, range, measured] {
        return add_up(*rows, range->begin, range->end, {}, nullptr, nullptr, measured);
      },
      rows->slice_count <= kTasksBuiltAtOnce);
}

void TimelineView::show_summary(const RangeTotals& sum) {
  const double whole = std::max<double>(
      1, static_cast<double>(sum.length().value) * static_cast<double>(sum.devices));
  QStringList parts = {
      QStringLiteral("<b>%1</b> (%2 to %3)")
          .arg(style::time(sum.length()), style::time(sum.begin), style::time(sum.end))};
  const auto add = [&](const QString& name, std::initializer_list<TaskKind> kinds) {
    std::int64_t part = 0;
    for (const TaskKind kind : kinds) part += sum.kinds[static_cast<std::size_t>(kind)].time;
    if (part > 0) parts << share(name, part, whole);
  };
  add(tr("compute"), {TaskKind::Compute});
  add(tr("update"), {TaskKind::Update});
  add(tr("reshuffle"), {TaskKind::Split, TaskKind::Concat, TaskKind::Sum});
  if (sum.idle > 0) parts << share(tr("idle"), sum.idle, whole);
  add(tr("transfer"), {TaskKind::Transfer, TaskKind::Offload, TaskKind::Fetch});
  add(tr("collective"), {TaskKind::AllReduce, TaskKind::AllGather, TaskKind::ReduceScatter,
                         TaskKind::AllToAll, TaskKind::Reduce, TaskKind::Broadcast});
  parts << tr("%1 slices").arg(sum.slices) << tr("T: more");
  summary_->setText(parts.join(QStringLiteral(" &nbsp;·&nbsp; ")));
  summary_->setToolTip(
      tr("Shares of the time of all %1 devices in this range; communication overlaps computation")
          .arg(sum.devices));
}

}  // namespace strato
