// How all charts look: axes, margins, colours from the palette.
#pragma once

class QChart;
class QChartView;
class QFont;
class QPalette;
class QString;
class QValueAxis;
class QWidget;

namespace strato {

QValueAxis* value_axis(const QString& title);
void set_range(QValueAxis& axis, double most);  // 0 to `most`, some five ticks
// Never in between with a range of millions of ticks, each of which would be laid out.
void set_range(QValueAxis& axis, double low, double high, double tick);
QChartView* make_chart_view(QChart* chart, QWidget* parent);
void recolour_chart(QChart& chart, const QPalette& palette, const QFont& font);

}  // namespace strato
