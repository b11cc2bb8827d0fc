#include "views/charts/course_charts.h"

#include <QChart>
#include <QChartView>
#include <QGridLayout>
#include <QLegend>
#include <QLineSeries>
#include <QValueAxis>
#include <algorithm>
#include <cmath>
#include <map>

#include "views/charts/chart_look.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kLeastWidth = 280, kHeight = 220;  // px, of a chart

StepRange range_of(const std::vector<CurveChart::Line>& lines,
                   double (*coordinate)(const QPointF&)) {
  double low = INFINITY, high = -INFINITY;
  bool whole = true;  // numbers: none between them means anything
  for (const CurveChart::Line& line : lines) {
    for (const QPointF& point : line.points) {
      const double at = coordinate(point);
      low = std::min(low, at);
      high = std::max(high, at);
      whole &= at == std::floor(at);
    }
  }
  if (!(low <= high)) return {};
  if (low >= 0 && low <= high - low) low = 0;
  if (high <= 0 && -high <= high - low) high = 0;
  const double size = std::max(std::abs(low), std::abs(high));
  StepRange range;
  range.tick = round_up(std::max(high - low, 0.02 * size) / 5);
  if (whole) range.tick = std::max(1.0, std::ceil(range.tick));
  range.low = std::floor(low / range.tick + 1e-9) * range.tick;
  range.high = std::ceil(high / range.tick - 1e-9) * range.tick;
  if (range.high <= range.low) range.high = range.low + range.tick;
  return range;
}

CurveChart::Line line_of(const PlanResult::Curve& curve) {
  std::vector<QPointF> points;
  for (const auto& [x, y] : curve.points)
    if (std::isfinite(x) && std::isfinite(y)) points.emplace_back(x, y);
  return {QString::fromStdString(curve.name), decimated(points, kMostPoints)};
}

// One line or two: as in all charts; more: in an order, the last one stands out most.
QPen pen_of(std::size_t line, std::size_t lines, bool dark) {
  constexpr Qt::PenStyle kStyles[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
  if (lines <= 2) {
    const TaskKind kind = line == 0 ? TaskKind::Compute : TaskKind::AllReduce;
    return {style::kind_colour(kind, dark), 2, line == 0 ? Qt::SolidLine : Qt::DashLine};
  }
  const double at = static_cast<double>(line) / static_cast<double>(lines - 1);
  return {style::ramp(0.3 + 0.7 * at, dark), 2, kStyles[line % std::size(kStyles)]};
}

QChartView* view_of(const CurveChart& shown, QWidget* parent) {
  auto* chart = new QChart;
  QValueAxis *x = value_axis(shown.x), *y = value_axis(shown.y);
  chart->addAxis(x, Qt::AlignBottom);
  chart->addAxis(y, Qt::AlignLeft);
  set_range(*x, shown.x_range.low, shown.x_range.high, shown.x_range.tick);
  set_range(*y, shown.y_range.low, shown.y_range.high, shown.y_range.tick);
  for (const CurveChart::Line& line : shown.lines) {
    auto* series = new QLineSeries;
    series->setName(line.name);
    series->replace(QList<QPointF>(line.points.begin(), line.points.end()));
    series->setPointsVisible(line.points.size() <= 10);
    chart->addSeries(series);
    series->attachAxis(x);
    series->attachAxis(y);
  }
  chart->setTitle(shown.title);
  QChartView* view = make_chart_view(chart, parent);
  view->setMinimumHeight(kHeight);
  view->setAccessibleName(shown.title);
  chart->legend()->setVisible(shown.lines.size() > 1);
  return view;
}

}  // namespace

std::vector<CurveChart> charts_of(const std::vector<PlanResult::Curve>& curves) {
  std::vector<CurveChart> charts;
  std::map<std::string, std::size_t> at;  // by title
  for (const PlanResult::Curve& curve : curves) {
    CurveChart::Line line = line_of(curve);
    if (line.points.empty()) continue;
    const auto [found, fresh] = at.try_emplace(curve.title, charts.size());
    if (fresh)
      charts.push_back({QString::fromStdString(curve.title),
                        QString::fromStdString(curve.x),
                        QString::fromStdString(curve.y),
                        {},
                        {},
                        {}});
    charts[found->second].lines.push_back(std::move(line));
  }
  for (CurveChart& chart : charts) {
    chart.x_range = range_of(chart.lines, [](const QPointF& p) { return p.x(); });
    chart.y_range = range_of(chart.lines, [](const QPointF& p) { return p.y(); });
  }
  return charts;
}

CourseCharts::CourseCharts(QWidget* parent) : QWidget(parent), layout_(new QGridLayout(this)) {
  layout_->setContentsMargins(0, 0, 0, 0);
  layout_->setSpacing(style::kGrid);
  hide();
}

CourseCharts::~CourseCharts() = default;

void CourseCharts::show_curves(const std::vector<PlanResult::Curve>& curves) {
  for (QChartView* view : views_) {
    layout_->removeWidget(view);
    delete view;
  }
  views_.clear();
  charts_ = charts_of(curves);
  for (const CurveChart& chart : charts_) views_.push_back(view_of(chart, this));
  columns_ = 0;
  arrange();
  recolour();
  setVisible(!charts_.empty());
}

void CourseCharts::arrange() {
  const int most = std::max<int>(1, static_cast<int>(views_.size()));
  const int columns = std::clamp(width() / kLeastWidth, 1, most);
  if (columns == columns_) return;
  for (int c = 0; c < columns_; ++c) layout_->setColumnStretch(c, 0);
  columns_ = columns;
  for (QChartView* view : views_) layout_->removeWidget(view);
  for (int i = 0; i < chart_count(); ++i) {  // the last one takes what is left of its row
    const int at = i % columns, span = i + 1 == chart_count() ? columns - at : 1;
    layout_->addWidget(views_[static_cast<std::size_t>(i)], i / columns, at, 1, span);
  }
  for (int c = 0; c < columns; ++c) layout_->setColumnStretch(c, 1);
}

void CourseCharts::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
}

void CourseCharts::recolour() {
  const bool dark = style::is_dark(palette());
  for (std::size_t v = 0; v < views_.size(); ++v) {
    QChart& chart = *views_[v]->chart();
    recolour_chart(chart, palette(), font());
    const QList<QAbstractSeries*> lines = chart.series();
    for (qsizetype i = 0; i < lines.size(); ++i)
      qobject_cast<QLineSeries*>(lines[i])->setPen(
          pen_of(static_cast<std::size_t>(i), static_cast<std::size_t>(lines.size()), dark));
  }
}

}  // namespace strato
