#include "views/charts/chart_look.h"

#include <QChart>
#include <QChartView>
#include <QGraphicsLayout>
#include <QLegend>
#include <QValueAxis>
#include <algorithm>
#include <cmath>

#include "views/charts/series.h"
#include "views/style/style.h"

namespace strato {

QValueAxis* value_axis(const QString& title) {
  auto* axis = new QValueAxis;
  axis->setTitleText(title);
  axis->setLabelFormat(QStringLiteral("%g"));
  axis->setTickType(QValueAxis::TicksDynamic);
  axis->setTickAnchor(0);
  return axis;
}

void set_range(QValueAxis& axis, double low, double high, double tick) {
  axis.setTickInterval(
      std::max({tick, high - low, axis.max() - axis.min(), std::abs(high), std::abs(axis.max())}));
  axis.setRange(low, high);
  axis.setTickInterval(tick);
}

void set_range(QValueAxis& axis, double most) { set_range(axis, 0, most, round_up(most / 5)); }

QChartView* make_chart_view(QChart* chart, QWidget* parent) {
  chart->setAnimationOptions(QChart::NoAnimation);
  chart->setMargins(QMargins(4, 4, 12, 4));
  chart->setBackgroundRoundness(0);
  chart->layout()->setContentsMargins(0, 0, 0, 0);
  auto* view = new QChartView(chart, parent);
  view->setRenderHint(QPainter::Antialiasing);
  view->setFrameShape(QFrame::NoFrame);
  view->setMinimumSize(200, 140);
  return view;
}

void recolour_chart(QChart& chart, const QPalette& palette, const QFont& font) {
  const QColor text = palette.color(QPalette::WindowText);
  const QColor muted = style::muted_text(palette);
  QColor grid = text;
  grid.setAlphaF(0.12f);
  chart.setBackgroundBrush(palette.color(QPalette::Base));
  chart.setTitleBrush(text);
  QFont title = font;
  title.setWeight(QFont::DemiBold);
  chart.setTitleFont(title);
  chart.legend()->setLabelColor(text);
  chart.legend()->setFont(font);
  chart.legend()->setAlignment(Qt::AlignTop);
  chart.legend()->setMarkerShape(QLegend::MarkerShapeRectangle);
  for (QAbstractAxis* axis : chart.axes()) {
    axis->setLabelsBrush(muted);
    axis->setTitleBrush(muted);
    axis->setTitleFont(font);
    axis->setLabelsFont(font);
    axis->setGridLineColor(grid);
    axis->setLinePenColor(grid);
  }
}

}  // namespace strato
