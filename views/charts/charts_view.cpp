#include "views/charts/charts_view.h"

#include <QBarCategoryAxis>
#include <QBarSet>
#include <QChart>
#include <QChartView>
#include <QEvent>
#include <QGridLayout>
#include <QHorizontalBarSeries>
#include <QHorizontalStackedBarSeries>
#include <QLegendMarker>
#include <QLineSeries>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTabBar>
#include <QTimer>
#include <QValueAxis>
#include <algorithm>
#include <ranges>

#include "views/charts/chart_look.h"
#include "views/charts/convergence_view.h"
#include "views/charts/course_charts.h"
#include "views/charts/series.h"
#include "views/models/explanation.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kTallEnough = 460;  // for charts above each other instead of side by side
constexpr int kWideEnough = 640;  // for charts side by side

}  // namespace

struct ChartsView::Parts {
  QChart *history = new QChart, *use = new QChart, *memory = new QChart, *training = new QChart;
  QChartView *history_view = nullptr, *use_view = nullptr, *memory_view = nullptr,
             *training_view = nullptr;
  QLineSeries *best = new QLineSeries, *baseline = new QLineSeries, *bound = new QLineSeries;
  QValueAxis *evaluations = value_axis(tr("Evaluations")), *step = value_axis(tr("Step time (ms)"));
  QLineSeries *loss = new QLineSeries, *held_out = new QLineSeries;
  QValueAxis *steps = value_axis(tr("Steps")), *nats = value_axis(tr("Loss (nats)"));
  CourseCharts* course = nullptr;
  std::vector<PlanResult::Curve> curves;  // that it shows
  QBoxLayout* layout = nullptr;
};

ChartsView::ChartsView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      parts_(std::make_unique<Parts>()),
      timer_(new QTimer(this)),
      pages_(new QTabBar(this)),
      convergence_(new ConvergenceView(session)) {
  build();
  timer_->setSingleShot(true);
  timer_->setInterval(100);
  connect(timer_, &QTimer::timeout, this, &ChartsView::refresh);
  connect(&session_, &Session::search_changed, this, &ChartsView::refresh_soon);
  connect(&session_, &Session::problem_changed, this, &ChartsView::refresh_soon);
  connect(&session_, &Session::workspace_changed, this, [this] {
    training_stale_ = true;
    refresh_soon();
  });
  connect(&session_, &Session::outcome_changed, this, [this] {
    devices_stale_ = true;
    refresh_soon();
  });
}

ChartsView::~ChartsView() = default;

void ChartsView::build() {
  auto* stack = new QStackedWidget;
  stack->addWidget(build_strategy_page());
  stack->addWidget(convergence_);
  pages_->addTab(tr("Strategy"));
  pages_->addTab(tr("Runs Together"));
  pages_->setTabToolTip(1, tr("How several runs converged, in one chart"));
  pages_->setDrawBase(false);
  pages_->setExpanding(false);
  pages_->setAccessibleName(tr("Pages of charts"));
  connect(pages_, &QTabBar::currentChanged, stack, &QStackedWidget::setCurrentIndex);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(style::kGrid);
  column->addWidget(pages_);
  column->addWidget(stack, 1);
}

void ChartsView::show_convergence(const std::vector<RunRow>& runs) {
  pages_->setCurrentIndex(1);
  convergence_->show_runs(runs);
}

QWidget* ChartsView::build_strategy_page() {
  Parts& p = *parts_;
  auto* page = new QWidget;
  p.best->setName(tr("Best so far"));
  p.baseline->setName(tr("Data parallel"));
  p.bound->setName(tr("Bound"));
  p.history->addAxis(p.evaluations, Qt::AlignBottom);
  p.history->addAxis(p.step, Qt::AlignLeft);
  for (QLineSeries* series : {p.baseline, p.bound, p.best}) {
    p.history->addSeries(series);
    series->attachAxis(p.evaluations);
    series->attachAxis(p.step);
  }
  p.history->setTitle(tr("Best step time"));
  p.use->setTitle(tr("Time per device"));
  p.memory->setTitle(tr("Peak memory per device"));
  p.history_view = make_chart_view(p.history, page);
  p.use_view = make_chart_view(p.use, nullptr);
  p.memory_view = make_chart_view(p.memory, nullptr);
  p.loss->setName(tr("Loss"));
  p.held_out->setName(tr("Held out"));
  p.training->addAxis(p.steps, Qt::AlignBottom);
  p.training->addAxis(p.nats, Qt::AlignLeft);
  for (QLineSeries* series : {p.loss, p.held_out}) {
    p.training->addSeries(series);
    series->attachAxis(p.steps);
    series->attachAxis(p.nats);
  }
  p.training_view = make_chart_view(p.training, page);
  p.training_view->hide();  // until the workspace has a training
  auto* devices = new QWidget;
  auto* row = new QHBoxLayout(devices);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(style::kGrid);
  row->addWidget(p.use_view);
  row->addWidget(p.memory_view);
  p.course = new CourseCharts;
  auto* scrolled = new QWidget;
  auto* column = new QVBoxLayout(scrolled);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(style::kGrid);
  column->addWidget(p.course);
  column->addWidget(devices, 1);
  auto* area = new QScrollArea(page);
  area->setWidget(scrolled);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  p.layout = new QBoxLayout(QBoxLayout::TopToBottom, page);
  p.layout->setContentsMargins(0, 0, 0, 0);
  p.layout->setSpacing(style::kGrid);
  auto* curves = new QHBoxLayout;
  curves->setSpacing(style::kGrid);
  curves->addWidget(p.history_view, 1);
  curves->addWidget(p.training_view, 1);
  p.layout->addLayout(curves, 2);
  p.layout->addWidget(area, 3);
  return page;
}

void ChartsView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const bool above = height() >= kTallEnough || width() < kWideEnough;
  parts_->layout->setDirection(above ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  parts_->layout->setStretch(0, above ? 3 : 2);  // beside each other, the bars need the room
}

void ChartsView::refresh_soon() {
  if (isVisible() && !timer_->isActive()) timer_->start();
}

void ChartsView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

void ChartsView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) {
    devices_stale_ = true;
    refresh_soon();
  }
  QWidget::changeEvent(event);
}

void ChartsView::refresh() {
  refresh_history();
  if (training_stale_) refresh_training();
  refresh_course();
  if (devices_stale_) refresh_devices();
  recolour();
}

void ChartsView::refresh_history() {
  Parts& p = *parts_;
  const Snapshot& snapshot = session_.snapshot();
  const std::vector<QPointF> points = best_over_evaluations(session_.search().history);
  p.best->replace(QList<QPointF>(points.begin(), points.end()));
  const double last = points.empty() ? 100 : std::max(1.0, points.back().x());
  p.best->setVisible(!points.empty());
  const auto level = [&](QLineSeries* line, double milliseconds) {
    line->replace(QList<QPointF>{{0, milliseconds}, {last, milliseconds}});
    line->setVisible(milliseconds > 0);
  };
  const double baseline =
      snapshot.baseline ? to_seconds(snapshot.baseline->timeline->step_time) * 1e3 : 0;
  level(p.baseline, baseline);
  level(p.bound, to_seconds(snapshot.lower_bound) * 1e3);
  set_range(*p.evaluations, last);
  const StepRange range = step_range(points, baseline, to_seconds(snapshot.lower_bound) * 1e3);
  set_range(*p.step, range.low, range.high, range.tick);
  p.baseline->setVisible(baseline > 0 && baseline <= range.high);
  p.bound->setVisible(snapshot.lower_bound.value > 0 &&
                      to_seconds(snapshot.lower_bound) * 1e3 >= range.low);
  p.history->setTitle(points.empty() ? tr("Best step time: no search yet")
                                     : tr("Best step time of %1").arg(session_.search().run));
}

// The latest training that has begun.
void ChartsView::refresh_training() {
  training_stale_ = false;
  if (!session_.workspace()) return show_training({}, {});
  session_.ask_workspace(this, [this](const Workspace& workspace) -> std::function<void()> {
    std::vector<LossPoint> losses;
    QString planner;
    const std::vector<StoredTraining> trainings = workspace.trainings().all();
    for (auto training = trainings.rbegin(); training != trainings.rend() && losses.empty();
         ++training) {
      losses = workspace.trainings().losses(training->id);
      planner = QString::fromStdString(training->planner);
    }
    return [this, losses = std::move(losses), planner] { show_training(losses, planner); };
  });
}

void ChartsView::show_training(const std::vector<LossPoint>& losses, const QString& planner) {
  Parts& p = *parts_;
  p.training_view->setVisible(!losses.empty());
  if (losses.empty()) return;
  const std::vector<QPointF> loss = loss_over_steps(losses, false),
                             held_out = loss_over_steps(losses, true);
  p.loss->replace(QList<QPointF>(loss.begin(), loss.end()));
  p.held_out->replace(QList<QPointF>(held_out.begin(), held_out.end()));
  p.held_out->setVisible(!held_out.empty());
  double most = 0;
  for (const std::vector<QPointF>* curve : {&loss, &held_out}) {
    for (const QPointF& point : *curve) most = std::max(most, point.y());
  }
  set_range(*p.steps, std::max<double>(1, static_cast<double>(losses.back().step)));
  set_range(*p.nats, round_up(std::max(most, 1e-3)));
  p.training->setTitle(tr("Training loss of %1").arg(planner));
}

// The charts are made anew only when there are others: a search tells of itself many times a
// second.
void ChartsView::refresh_course() {
  Parts& p = *parts_;
  const std::vector<PlanResult::Curve>& curves = session_.search().curves;
  const auto same = [](const PlanResult::Curve& a, const PlanResult::Curve& b) {
    return a.title == b.title && a.name == b.name && a.points == b.points;
  };
  if (std::ranges::equal(curves, p.curves, same)) return;
  p.curves = curves;
  p.course->show_curves(curves);
}

namespace {

// Replaces what the chart shows by horizontal bars over names, which go upwards: callers give the
// last device first.
void show_bars(QChart& chart, QAbstractBarSeries* series, const QStringList& names,
               QValueAxis* values) {
  chart.removeAllSeries();
  for (QAbstractAxis* axis : chart.axes()) {
    chart.removeAxis(axis);
    delete axis;
  }
  auto* categories = new QBarCategoryAxis;
  categories->append(names);
  categories->setGridLineVisible(false);
  series->setBarWidth(0.72);
  chart.addSeries(series);
  chart.addAxis(categories, Qt::AlignLeft);
  chart.addAxis(values, Qt::AlignBottom);
  series->attachAxis(categories);
  series->attachAxis(values);
}

QBarSet* make_set(const QString& name, const QColor& colour, bool hatched) {
  auto* set = new QBarSet(name);
  set->setBrush(hatched ? QBrush(colour, Qt::Dense3Pattern) : QBrush(colour));
  set->setPen(Qt::NoPen);
  return set;
}

// Communication that hides behind computation does not count: it costs the device no time.
void add_use(QChart& chart, const Timeline& timeline, const QStringList& names, bool dark) {
  QColor idle(dark ? 0x4a4a4a : 0xd9d9d9);
  QBarSet* compute =
      make_set(ChartsView::tr("Compute"), style::kind_colour(TaskKind::Compute, dark), false);
  QBarSet* comm =
      make_set(ChartsView::tr("Comm."), style::kind_colour(TaskKind::AllReduce, dark), true);
  QBarSet* waits = make_set(ChartsView::tr("Idle"), idle, false);
  const double step = std::max(1.0, static_cast<double>(timeline.step_time.value)) / 100;
  const auto all = device_times(timeline);
  for (const DeviceTimes& times : std::views::reverse(all)) {
    compute->append(static_cast<double>(times.compute.value) / step);
    comm->append(static_cast<double>(times.communication.value) / step);
    waits->append(static_cast<double>(times.idle.value) / step);
  }
  auto* series = new QHorizontalStackedBarSeries;
  for (QBarSet* set : {compute, comm, waits}) series->append(set);
  QValueAxis* axis = value_axis(ChartsView::tr("% of the step"));
  set_range(*axis, 100);
  show_bars(chart, series, names, axis);
}

void add_memory(QChart& chart, const Timeline& timeline, const QStringList& names, bool dark) {
  QBarSet* used =
      make_set(ChartsView::tr("Peak"), style::kind_colour(TaskKind::Compute, dark), false);
  QBarSet* free = make_set(ChartsView::tr("Capacity"), QColor(dark ? 0x4a4a4a : 0xd9d9d9), false);
  QBarSet* over = make_set(ChartsView::tr("Too much"), style::infeasible(dark), false);
  double most = 0;
  bool overflow = false;
  for (const DeviceUse& use : std::views::reverse(timeline.devices)) {
    const double peak = static_cast<double>(use.peak.value) * 1e-9;
    const double capacity = static_cast<double>(use.capacity.value) * 1e-9;
    used->append(std::min(peak, capacity));
    free->append(std::max(0.0, capacity - peak));
    over->append(std::max(0.0, peak - capacity));
    most = std::max({most, peak, capacity});
    overflow |= peak > capacity;
  }
  auto* series = new QHorizontalStackedBarSeries;
  for (QBarSet* set : {used, over, free}) series->append(set);
  QValueAxis* axis = value_axis(ChartsView::tr("GB"));
  set_range(*axis, round_up(most));
  show_bars(chart, series, names, axis);
  if (!overflow) chart.legend()->markers(series).at(1)->setVisible(false);
}

}  // namespace

void ChartsView::refresh_devices() {
  Parts& p = *parts_;
  const Snapshot& snapshot = session_.snapshot();
  if (!snapshot.outcome) return;
  devices_stale_ = false;
  const bool dark = style::is_dark(palette());
  const Timeline& timeline = *snapshot.outcome->timeline;
  QStringList names;
  for (const Device& device : std::views::reverse(timeline.program->cluster->devices())) {
    names << QString::fromStdString(device.name);
  }
  add_use(*p.use, timeline, names, dark);
  add_memory(*p.memory, timeline, names, dark);
  // A label that is higher than its row is cut to dots.
  const int height = static_cast<int>(names.size()) * (fontMetrics().height() + 12) + 140;
  p.use_view->setMinimumHeight(height);
  p.memory_view->setMinimumHeight(height);
}

void ChartsView::recolour() {
  Parts& p = *parts_;
  const bool dark = style::is_dark(palette());
  p.best->setPen(QPen(style::kind_colour(TaskKind::Compute, dark), 2.5));
  p.baseline->setPen(QPen(style::muted_text(palette()), 1.5, Qt::DashLine));
  p.bound->setPen(QPen(style::kind_colour(TaskKind::Transfer, dark), 1.5, Qt::DotLine));
  p.loss->setPen(QPen(style::kind_colour(TaskKind::Compute, dark), 2));
  p.held_out->setPen(QPen(style::kind_colour(TaskKind::AllReduce, dark), 2, Qt::DashLine));
  for (QChart* chart : {p.history, p.use, p.memory, p.training})
    recolour_chart(*chart, palette(), font());
  p.course->recolour();
}

}  // namespace strato
