#include "views/what_if/what_if_chart.h"

#include <QChart>
#include <QChartView>
#include <QCursor>
#include <QEvent>
#include <QLabel>
#include <QLegend>
#include <QLineSeries>
#include <QLogValueAxis>
#include <QScatterSeries>
#include <QToolTip>
#include <QVBoxLayout>
#include <QValueAxis>
#include <algorithm>
#include <cmath>

#include "views/charts/chart_look.h"
#include "views/charts/series.h"
#include "views/style/style.h"

namespace strato {
using Figure = WhatIfChart::Figure;

QString title_of(Figure quantity) {
  switch (quantity) {
    case Figure::StepTime:
      return WhatIfChart::tr("Step time (ms)");
    case Figure::SamplesPerSecond:
      return WhatIfChart::tr("Samples per second");
    case Figure::Efficiency:
      return WhatIfChart::tr("Efficiency (%)");
    case Figure::Price:
      return WhatIfChart::tr("$ a million samples");
  }
  return {};
}

QString title_of(WhatIfAxis axis) {
  const auto tr = [](const char* source) { return WhatIfChart::tr(source); };
  switch (axis) {
    case WhatIfAxis::Batch:
      return tr("Batch (samples)");
    case WhatIfAxis::NetworkBandwidth:
      return tr("Bandwidth between machines (× today)");
    case WhatIfAxis::MachineBandwidth:
      return tr("Bandwidth in machines (× today)");
    case WhatIfAxis::Latency:
      return tr("Latency of links (× today)");
    case WhatIfAxis::Speed:
      return tr("Device speed (× today)");
    case WhatIfAxis::Memory:
      return tr("Device memory (× today)");
  }
  return {};
}

std::optional<double> figure_in(const StepFigures& figures, Figure quantity) {
  if (figures.step_time <= Nanos(0)) return {};
  switch (quantity) {
    case Figure::StepTime:
      return to_seconds(figures.step_time) * 1e3;
    case Figure::SamplesPerSecond:
      return figures.samples_per_second;
    case Figure::Efficiency:
      return figures.efficiency * 100;
    case Figure::Price:
      return figures.per_million_samples;
  }
  return {};
}

namespace {

// How a series looks, and its name: in one piece.
QString key_of(const QXYSeries& series, const QString& sample, const QColor& colour) {
  const QString name = QLatin1Char(' ') + series.name();
  return QStringLiteral("<font color=\"%1\">%2</font>%3")
      .arg(colour.name(), sample,
           name.toHtmlEscaped().replace(QLatin1Char(' '), QStringLiteral("&nbsp;")));
}

}  // namespace

struct WhatIfChart::Parts {
  QChart* chart = new QChart;
  QChartView* view = nullptr;
  QLineSeries *strategy = new QLineSeries, *data_parallel = new QLineSeries,
              *anew = new QLineSeries;
  QLineSeries *today = new QLineSeries, *here = new QLineSeries;
  QScatterSeries* too_full = new QScatterSeries;
  QLabel* key = nullptr;  // wraps, as a legend of Qt Charts does not
  QLogValueAxis* x = new QLogValueAxis;
  QValueAxis* y = value_axis({});
};

WhatIfChart::WhatIfChart(QWidget* parent) : QWidget(parent), parts_(std::make_unique<Parts>()) {
  Parts& p = *parts_;
  p.strategy->setName(tr("This strategy"));
  p.data_parallel->setName(tr("Data parallel"));
  p.anew->setName(tr("Planned anew"));
  p.today->setName(tr("Today"));
  p.here->setName(tr("Chosen"));
  p.too_full->setName(tr("Does not fit"));
  p.x->setBase(2);
  p.x->setLabelFormat(QStringLiteral("%g"));
  p.chart->addAxis(p.x, Qt::AlignBottom);
  p.chart->addAxis(p.y, Qt::AlignLeft);
  for (QXYSeries* series : std::initializer_list<QXYSeries*>{p.today, p.here, p.strategy,
                                                             p.data_parallel, p.anew, p.too_full}) {
    p.chart->addSeries(series);
    series->attachAxis(p.x);
    series->attachAxis(p.y);
  }
  p.strategy->setPointsVisible(true);
  p.data_parallel->setPointsVisible(true);
  p.anew->setPointsVisible(true);
  p.anew->setVisible(false);
  p.too_full->setMarkerShape(QScatterSeries::MarkerShapeRotatedRectangle);
  p.too_full->setMarkerSize(12);
  p.view = make_chart_view(p.chart, this);
  p.chart->legend()->hide();
  p.key = new QLabel(this);
  p.key->setTextFormat(Qt::RichText);
  p.key->setWordWrap(true);
  p.key->setAlignment(Qt::AlignHCenter);
  p.key->setContentsMargins(2 * style::kGrid, 0, 2 * style::kGrid, 0);
  for (QXYSeries* series :
       std::initializer_list<QXYSeries*>{p.strategy, p.data_parallel, p.anew, p.too_full})
    connect(series, &QXYSeries::hovered, this, [this](const QPointF& at, bool inside) {
      if (inside) {
        QToolTip::showText(QCursor::pos(), tip_at(at.x()), parts_->view);
      } else {
        QToolTip::hideText();
      }
    });
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(p.key);
  layout->addWidget(p.view, 1);
  recolour();
}

WhatIfChart::~WhatIfChart() = default;

void WhatIfChart::show_figure(Figure quantity) { figure_ = quantity; }

void WhatIfChart::show_curve(ChartedCurve shown, double here, double today) {
  Parts& p = *parts_;
  curve_ = std::move(shown);
  const ChartedCurve& curve = curve_;
  QList<QPointF> strategy, data_parallel, anew, too_full;
  double most = 0;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const WhatIfPoint& point = curve.points[i];
    const auto add = [&](const StepFigures& figures, QList<QPointF>& points) {
      const auto value = figure_in(figures, figure_);
      if (!value) return;
      points << QPointF(curve.values[i], *value);
      if (!figures.feasible) too_full << points.last();
      most = std::max(most, *value);
    };
    add(point.strategy, strategy);
    add(point.data_parallel, data_parallel);
    if (i < curve.anew.size() && curve.anew[i]) add(*curve.anew[i], anew);
  }
  p.strategy->replace(strategy);
  p.data_parallel->replace(data_parallel);
  p.anew->replace(anew);
  p.anew->setVisible(!anew.empty());
  p.too_full->replace(too_full);
  p.too_full->setVisible(!too_full.empty());
  const double high = round_up(std::max(most, 1e-6));
  set_range(*p.y, high);
  p.x->setTitleText(curve.title);
  if (!curve.values.empty()) {
    const double low = curve.values.front();
    p.x->setRange(low, std::max(curve.values.back(), low * 1.01));
  }
  p.today->replace(QList<QPointF>{{today, 0}, {today, high}});
  p.here->replace(QList<QPointF>{{here, 0}, {here, high}});
  p.here->setVisible(here != today);
  recolour();
}

QString WhatIfChart::tip_at(double value) const {
  const ChartedCurve& curve = curve_;
  if (value <= 0) return {};
  std::size_t nearest = curve.points.size();
  const auto away = [&](std::size_t i) { return std::abs(std::log(curve.values[i] / value)); };
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    if (!curve.points[i].problem.empty()) continue;  // it has no figures
    if (nearest == curve.points.size() || away(i) < away(nearest)) nearest = i;
  }
  if (nearest == curve.points.size()) return {};
  const WhatIfPoint& point = curve.points[nearest];
  const auto line = [](const QString& name, const StepFigures& figures) {
    return tr("%1: %2, %3 samples/s, %4%5")
        .arg(name, style::time(figures.step_time), style::significant(figures.samples_per_second),
             style::percent(figures.efficiency),
             (figures.per_million_samples
                  ? tr(", $%1 a million").arg(style::significant(*figures.per_million_samples))
                  : QString()) +
                 (figures.feasible ? QString() : tr(", does not fit")));
  };
  QStringList lines;
  lines << (nearest < curve.names.size()
                ? curve.names[nearest]
                : QStringLiteral("%1 %2").arg(curve.title,
                                              style::significant(curve.values[nearest])));
  lines << line(tr("This strategy"), point.strategy);
  if (nearest < curve.anew.size() && curve.anew[nearest])
    lines << line(tr("Planned anew"), *curve.anew[nearest]);
  lines << line(tr("Data parallel"), point.data_parallel);
  return lines.join(QLatin1Char('\n'));
}

void WhatIfChart::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) recolour();
  QWidget::changeEvent(event);
}

void WhatIfChart::recolour() {
  Parts& p = *parts_;
  const bool dark = style::is_dark(palette());
  p.strategy->setPen(QPen(style::kind_colour(TaskKind::Compute, dark), 2.5));
  p.data_parallel->setPen(QPen(style::muted_text(palette()), 2, Qt::DashLine));
  p.anew->setPen(QPen(style::kind_colour(TaskKind::AllReduce, dark), 2.5));
  p.today->setPen(QPen(style::muted_text(palette()), 1, Qt::DotLine));
  p.here->setPen(QPen(style::selection(dark), 1.5));
  p.too_full->setColor(style::infeasible(dark));
  p.too_full->setBorderColor(palette().color(QPalette::Base));
  recolour_chart(*p.chart, palette(), font());
  show_key();
}

void WhatIfChart::show_key() {
  Parts& p = *parts_;
  QStringList keys;
  const auto add = [&](const QXYSeries& series, const QString& sample, const QColor& colour) {
    if (series.isVisible()) keys << key_of(series, sample, colour);
  };
  const QString line = QStringLiteral("━━");
  add(*p.strategy, line, p.strategy->pen().color());
  add(*p.data_parallel, QStringLiteral("╍╍"), p.data_parallel->pen().color());
  add(*p.anew, line, p.anew->pen().color());
  add(*p.too_full, QStringLiteral("◆"), p.too_full->color());
  add(*p.today, QStringLiteral("┈┈"), p.today->pen().color());
  add(*p.here, QStringLiteral("│"), p.here->pen().color());
  p.key->setText(keys.join(QStringLiteral("&nbsp;&nbsp; ")));
}

}  // namespace strato
