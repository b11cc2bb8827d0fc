#include "views/launch/step_charts.h"

#include <QChart>
#include <QChartView>
#include <QEvent>
#include <QHBoxLayout>
#include <QLegend>
#include <QLineSeries>
#include <QValueAxis>
#include <algorithm>

#include "views/charts/chart_look.h"
#include "views/charts/series.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr std::size_t kFewPoints = 60;  // up to here each step is a dot, too

// From low to high with room on either side, never a curve squeezed into a line.
void set_span(QValueAxis& axis, const std::vector<QPointF>& curve) {
  const auto [low, high] = std::ranges::minmax(curve, {}, &QPointF::y);
  const double room = std::max({(high.y() - low.y()) * 0.1, std::abs(high.y()) * 0.02, 1e-9});
  set_range(axis, low.y() - room, high.y() + room, round_up((high.y() - low.y() + 2 * room) / 5));
}

QLineSeries* line(QChart& chart, QValueAxis* x, QValueAxis* y) {
  auto* series = new QLineSeries;
  chart.addSeries(series);
  series->attachAxis(x);
  series->attachAxis(y);
  return series;
}

}  // namespace

struct StepCharts::Parts {
  QChart *times = new QChart, *losses = new QChart;
  QChartView *times_view = nullptr, *losses_view = nullptr;
  QValueAxis *time_steps = value_axis(tr("Step")), *time = value_axis(tr("Step time (ms)"));
  QValueAxis *loss_steps = value_axis(tr("Step")), *loss = value_axis(tr("Loss"));
  QLineSeries *measured = nullptr, *predicted = nullptr, *loss_line = nullptr;
};

StepCharts::StepCharts(const LaunchModel& model, QWidget* parent)
    : QWidget(parent), model_(model), parts_(std::make_unique<Parts>()) {
  build();
  refresh();
}

StepCharts::~StepCharts() = default;

void StepCharts::build() {
  Parts& p = *parts_;
  p.times->addAxis(p.time_steps, Qt::AlignBottom);
  p.times->addAxis(p.time, Qt::AlignLeft);
  p.losses->addAxis(p.loss_steps, Qt::AlignBottom);
  p.losses->addAxis(p.loss, Qt::AlignLeft);
  p.predicted = line(*p.times, p.time_steps, p.time);
  p.predicted->setName(tr("Predicted"));
  p.measured = line(*p.times, p.time_steps, p.time);
  p.measured->setName(tr("Measured"));
  p.loss_line = line(*p.losses, p.loss_steps, p.loss);
  p.losses->legend()->hide();
  p.times->setTitle(tr("Step time"));
  p.losses->setTitle(tr("Loss"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(style::kGrid);
  for (QLineSeries* series : {p.measured, p.loss_line}) series->setMarkerSize(6);
  p.times_view = make_chart_view(p.times, this);
  p.losses_view = make_chart_view(p.losses, this);
  row->addWidget(p.times_view, 1);
  row->addWidget(p.losses_view, 1);
  recolour();
}

void StepCharts::refresh() {
  if (!isVisible()) return;
  Parts& p = *parts_;
  std::vector<QPointF> times, losses;
  for (const LaunchModel::Step& step : model_.steps()) {
    const auto x = static_cast<double>(step.step);
    times.emplace_back(x, to_seconds(step.time) * 1e3);
    if (step.loss) losses.emplace_back(x, *step.loss);
  }
  const double last = std::max(2.0, static_cast<double>(model_.steps_asked()));
  for (QValueAxis* axis : {p.time_steps, p.loss_steps}) {
    axis->setTickAnchor(last <= 10 ? 1 : 0);
    set_range(*axis, 1, last, std::max(1.0, round_up((last - 1) / 5)));
  }
  const auto show = [](QLineSeries& series, const std::vector<QPointF>& points) {
    const auto few = decimated(points, kMostPoints);
    series.replace(QList<QPointF>(few.begin(), few.end()));
    series.setPointsVisible(points.size() <= kFewPoints);
  };
  show(*p.measured, times);
  show(*p.loss_line, losses);
  const double predicted = to_seconds(model_.predicted()) * 1e3;
  p.predicted->replace(QList<QPointF>{{1, predicted}, {last, predicted}});
  times.emplace_back(1, predicted);
  set_span(*p.time, times);
  if (!losses.empty()) set_span(*p.loss, losses);
  p.losses_view->setVisible(!losses.empty());
}

void StepCharts::recolour() {
  Parts& p = *parts_;
  const bool dark = style::is_dark(palette());
  p.measured->setPen(QPen(style::kind_colour(TaskKind::Compute, dark), 2));
  p.loss_line->setPen(QPen(style::kind_colour(TaskKind::Compute, dark), 2));
  p.predicted->setPen(QPen(style::muted_text(palette()), 1.5, Qt::DashLine));
  for (QChart* chart : {p.times, p.losses}) recolour_chart(*chart, palette(), font());
}

void StepCharts::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) recolour();
  QWidget::changeEvent(event);
}

void StepCharts::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

}  // namespace strato
