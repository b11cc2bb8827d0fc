#include "views/compare/waterfall.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "core/sim/explain/path_pieces.h"
#include "views/models/difference_model.h"
#include "views/models/explanation.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr double kSmall = 0.15;  // of the step: smaller causes get an axis that does not begin at 0

bool is_communicating(const std::optional<Reason>& reason) {
  return reason == Reason::Transfer || reason == Reason::Collective || reason == Reason::LinkBusy;
}

QString capitalised(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

WaterfallRow total_row(const PlanFigures& plan) {
  WaterfallRow row;
  row.label = text(plan.label);
  row.value = style::time(plan.step_time);
  row.end = plan.step_time;
  row.tip = plan.fits ? QStringLiteral("%1: %2").arg(row.label, row.value)
                      : QStringLiteral("%1: %2\n%3").arg(row.label, row.value, text(plan.why_not));
  return row;
}

// A step of the axis that people like: 1, 2 or 5 times a power of ten; at most `most` of them.
std::int64_t nice_step(std::int64_t range, int most) {
  const double least = std::max(1.0, static_cast<double>(range) / std::max(1, most));
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (factor * power >= least) return static_cast<std::int64_t>(factor * power);
  return static_cast<std::int64_t>(10 * power);
}

}  // namespace

std::vector<WaterfallRow> waterfall_rows(const PlanComparison& comparison, std::size_t most) {
  std::vector<WaterfallRow> rows = {total_row(comparison.plans.from)};
  Nanos at = comparison.plans.from.step_time;
  for (const Cause& cause : folded(comparison.causes, most)) {
    const Nanos next = at + cause.change();
    WaterfallRow row;
    row.kind = next < at ? WaterfallRow::Kind::Less : WaterfallRow::Kind::More;
    row.label = capitalised(text(cause.text));
    row.value = signed_time(cause.change());
    row.begin = std::min(at, next);
    row.end = std::max(at, next);
    row.communication = is_communicating(cause.reason);
    row.tip = QStringLiteral("%1: %2 → %3")
                  .arg(row.label, style::time(cause.from), style::time(cause.to));
    rows.push_back(std::move(row));
    at = next;
  }
  rows.push_back(total_row(comparison.plans.to));
  return rows;
}

WaterfallMapping WaterfallMapping::of(const std::vector<WaterfallRow>& rows) {
  WaterfallMapping mapping;
  Nanos least = Nanos::max();
  for (const WaterfallRow& row : rows) {
    mapping.high = std::max(mapping.high, row.end);
    least = std::min(least, row.kind == WaterfallRow::Kind::Total ? row.end : row.begin);
  }
  const Nanos range = mapping.high - least;
  if (rows.empty() || range.value <= 0 ||
      static_cast<double>(range.value) >= kSmall * static_cast<double>(mapping.high.value))
    return mapping;
  const std::int64_t room = range.value / 2;  // in front of the shortest bar
  mapping.low = Nanos(std::max<std::int64_t>(0, least.value - room));
  return mapping;
}

double WaterfallMapping::x(Nanos time) const {
  const double room = std::max(1.0, width - label_width - value_width);
  const auto range = static_cast<double>(std::max<std::int64_t>(1, (high - low).value));
  return label_width + room * static_cast<double>((time - low).value) / range;
}

QRectF WaterfallMapping::bar(const WaterfallRow& row, std::size_t index) const {
  const double left = x(std::max(row.begin, low)), right = x(std::max(row.end, low));
  const double inset = std::round(row_height / 6);
  return {left, top + row_height * static_cast<double>(index) + inset, std::max(1.0, right - left),
          row_height - 2 * inset};
}

int WaterfallMapping::row_at(double y, std::size_t count) const {
  if (y < top || row_height <= 0) return -1;
  const auto row = static_cast<std::size_t>((y - top) / row_height);
  return row < count ? static_cast<int>(row) : -1;
}

Waterfall::Waterfall(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Minimum);
  setAccessibleName(tr("Step time from plan to plan, by cause"));
}

void Waterfall::show_comparison(const PlanComparison* comparison) {
  constexpr std::size_t most = 9;
  rows_ = comparison ? waterfall_rows(*comparison, most) : std::vector<WaterfallRow>();
  setAccessibleDescription(comparison ? text(comparison->sentence) : QString());
  updateGeometry();
  update();
}

double Waterfall::row_height() const { return fontMetrics().height() + 2 * style::kGrid; }

QSize Waterfall::sizeHint() const {
  const double rows = static_cast<double>(rows_.size());
  return {480, static_cast<int>(std::ceil(row_height() * rows + fontMetrics().height())) +
                   3 * style::kGrid};
}

QSize Waterfall::minimumSizeHint() const { return {240, sizeHint().height()}; }

WaterfallMapping Waterfall::mapping() const {
  WaterfallMapping mapping = WaterfallMapping::of(rows_);
  double labels = 0, values = 0;
  for (const WaterfallRow& row : rows_) {
    labels = std::max(labels, fontMetrics().horizontalAdvance(row.label) + 3.0 * style::kGrid);
    values = std::max(values, fontMetrics().horizontalAdvance(row.value) + 3.0 * style::kGrid);
  }
  mapping.width = width() - 2 * style::kGrid;
  mapping.label_width = std::min(labels, 0.4 * width()) + 2 * style::kGrid;
  mapping.value_width = values + style::kGrid;
  mapping.row_height = row_height();
  mapping.top = style::kGrid;
  return mapping;
}

void Waterfall::paint_axis(QPainter& painter, const WaterfallMapping& mapping) const {
  const double bottom = mapping.top + mapping.row_height * static_cast<double>(rows_.size());
  QColor line = palette().color(QPalette::WindowText);
  line.setAlphaF(0.12f);
  const int tick_width = fontMetrics().horizontalAdvance(QStringLiteral("0000 ms")) * 2;
  const int most = std::max(
      1, static_cast<int>(mapping.width - mapping.label_width - mapping.value_width) / tick_width);
  const std::int64_t step = nice_step((mapping.high - mapping.low).value, most);
  for (std::int64_t at = (mapping.low.value + step - 1) / step * step; at <= mapping.high.value;
       at += step) {
    const double x = std::round(mapping.x(Nanos(at))) + 0.5;
    painter.setPen(line);
    painter.drawLine(QPointF(x, mapping.top), QPointF(x, bottom + style::kGrid));
    painter.setPen(style::muted_text(palette()));
    painter.drawText(
        QRectF(x - tick_width / 2.0, bottom + style::kGrid, tick_width, fontMetrics().height()),
        Qt::AlignHCenter | Qt::AlignTop, style::axis_time(at, step, mapping.high.value));
  }
}

void Waterfall::paint_row(QPainter& painter, const WaterfallMapping& mapping,
                          std::size_t index) const {
  const WaterfallRow& row = rows_[index];
  const bool dark = style::is_dark(palette());
  const bool total = row.kind == WaterfallRow::Kind::Total;
  const QRectF bar = mapping.bar(row, index);
  const QColor less = dark ? QColor(0x56b4e9) : QColor(0x0072b2),
               more = dark ? QColor(0xe69f00) : QColor(0xc86a00);
  QColor colour = row.kind == WaterfallRow::Kind::Less ? less : more;
  if (total) colour = style::muted_text(palette());
  painter.fillRect(bar, row.communication ? colour.lighter(dark ? 70 : 165) : colour);
  if (row.communication) painter.fillRect(bar, QBrush(colour, Qt::BDiagPattern));
  if (total && mapping.low.value > 0) {  // the axis does not begin at 0: the bar is torn
    const double x = bar.left() + 2 * style::kGrid;
    painter.setPen(QPen(palette().color(QPalette::Base), 2));
    for (const double shift : {0.0, 4.0})
      painter.drawLine(QPointF(x + shift + 3, bar.top() - 1),
                       QPointF(x + shift - 3, bar.bottom() + 1));
  }
  const double y = bar.top() - 2, height = bar.height() + 4;
  QFont font = painter.font();
  font.setWeight(total ? QFont::DemiBold : QFont::Normal);
  painter.setFont(font);
  painter.setPen(palette().color(QPalette::WindowText));
  const double room = mapping.label_width - 3 * style::kGrid;
  painter.drawText(
      QRectF(2 * style::kGrid, y, room, height), Qt::AlignLeft | Qt::AlignVCenter,
      painter.fontMetrics().elidedText(row.label, Qt::ElideRight, static_cast<int>(room)));
  painter.drawText(QRectF(mapping.width - mapping.value_width, y, mapping.value_width, height),
                   Qt::AlignRight | Qt::AlignVCenter, row.value);
  if (index + 1 == rows_.size()) return;
  // To where the next one begins.
  const bool at_left = row.kind == WaterfallRow::Kind::Less;
  const double x = std::round(at_left ? bar.left() : mapping.x(row.end)) - 0.5;
  painter.setPen(style::muted_text(palette()));
  painter.drawLine(QPointF(x, bar.bottom()),
                   QPointF(x, mapping.bar(rows_[index + 1], index + 1).top()));
}

void Waterfall::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  if (rows_.empty()) return;
  const WaterfallMapping at = mapping();
  paint_axis(painter, at);
  for (std::size_t i = 0; i < rows_.size(); ++i) paint_row(painter, at, i);
}

bool Waterfall::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const int row = mapping().row_at(help->pos().y(), rows_.size());
    if (row >= 0) {
      QToolTip::showText(help->globalPos(), rows_[static_cast<std::size_t>(row)].tip, this);
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QWidget::event(event);
}

}  // namespace strato
