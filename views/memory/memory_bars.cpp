#include "views/memory/memory_bars.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <array>
#include <cmath>

#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr int kBar = 16;
constexpr int kGap = 12;           // between the columns
constexpr double kNamePart = 0.3;  // of the width, at most

QString figure_of(const MemoryRow& row) { return style::bytes_of(row.peak.peak, row.capacity); }

// What comes from other devices is hatched, as communication is everywhere.
bool is_hatched(MemoryCause cause) {
  return cause == MemoryCause::Gathered || cause == MemoryCause::Communicated;
}

Bytes held(const MemoryRow& row, MemoryCause cause) {
  return row.peak.by_cause[static_cast<std::size_t>(cause)];
}

template <class F>
void each_cause(const MemoryRow& row, F take) {
  for (std::size_t i = 0; i < kMemoryCauses; ++i)
    if (const auto cause = static_cast<MemoryCause>(i); held(row, cause) > Bytes(0)) take(cause);
}

}  // namespace

// Blues are what lives from step to step, greens what waits for the backward pass.
QColor colour_of(MemoryCause cause, bool dark) {
  constexpr std::array<const char*, kMemoryCauses> light = {
      "#0072b2", "#56b4e9", "#56b4e9", "#332288", "#cc79a7",
      "#009e73", "#88a800", "#e69f00", "#8c8c8c", "#bbbbbb"};
  constexpr std::array<const char*, kMemoryCauses> on_dark = {
      "#3b9bd6", "#8fd0f5", "#8fd0f5", "#8f84d8", "#dd97bf",
      "#2fbf95", "#b4d22c", "#f0b93c", "#9a9a9a", "#6e6e6e"};
  return QColor((dark ? on_dark : light)[static_cast<std::size_t>(cause)]);
}

QString legend_of(const std::vector<MemoryRow>& rows, bool dark) {
  std::array<bool, kMemoryCauses> there{};
  for (const MemoryRow& row : rows)
    each_cause(row, [&](MemoryCause cause) { there[static_cast<std::size_t>(cause)] = true; });
  QStringList entries;
  for (std::size_t i = 0; i < kMemoryCauses; ++i) {
    const auto cause = static_cast<MemoryCause>(i);
    if (!there[i]) continue;
    entries << QStringLiteral("<span style='color:%1'>%2</span>&nbsp;%3")
                   .arg(colour_of(cause, dark).name(),
                        is_hatched(cause) ? QStringLiteral("▨") : QStringLiteral("■"),
                        text(label_of(cause)).replace(QLatin1Char(' '), QStringLiteral("&nbsp;")));
  }
  return entries.join(QStringLiteral(" &nbsp; "));
}

MemoryBars::MemoryBars(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Memory of each kind of device at its peak"));
}

void MemoryBars::show_rows(const std::vector<MemoryRow>& rows) {
  rows_ = rows;
  updateGeometry();
  update();
}

void MemoryBars::mark(std::optional<DeviceId> device) {
  marked_ = device;
  update();
}

int MemoryBars::row_height() const { return std::max(kBar, fontMetrics().height()) + 8; }
QSize MemoryBars::sizeHint() const {
  return {480, std::max(1, static_cast<int>(rows_.size())) * row_height()};
}
QSize MemoryBars::minimumSizeHint() const { return {320, sizeHint().height()}; }

int MemoryBars::name_width() const {
  int widest = 0;
  for (const MemoryRow& row : rows_)
    widest = std::max(widest, fontMetrics().horizontalAdvance(row.name));
  return std::min(widest, static_cast<int>(kNamePart * width()));
}

int MemoryBars::figure_width() const {
  int widest = 0;
  for (const MemoryRow& row : rows_)
    widest = std::max(widest, fontMetrics().horizontalAdvance(figure_of(row)));
  return widest;
}

QRectF MemoryBars::rail(std::size_t row) const {
  const double left = name_width() + kGap;
  const double top = static_cast<double>(row) * row_height() + (row_height() - kBar) / 2.0;
  return {left, top, std::max(1.0, width() - left - kGap - figure_width()), double{kBar}};
}

// The longest of all bars and marks fills the rail.
double MemoryBars::bytes_per_pixel() const {
  Bytes most(1);
  for (const MemoryRow& row : rows_) most = std::max({most, row.peak.peak, row.capacity});
  return static_cast<double>(most.value) / rail(0).width();
}

void MemoryBars::paint_row(QPainter& painter, std::size_t at) const {
  const MemoryRow& row = rows_[at];
  const bool dark = style::is_dark(palette());
  const QRectF rail = this->rail(at);
  const int top = static_cast<int>(at) * row_height();
  const bool marked =
      marked_ && std::ranges::find(row.alike.devices, *marked_) != row.alike.devices.end();
  if (marked) {
    QColor tint = style::selection(dark);
    tint.setAlphaF(0.15F);
    painter.fillRect(QRect(0, top, width(), row_height()), tint);
  }
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(QRect(0, top, name_width(), row_height()), Qt::AlignVCenter | Qt::AlignLeft,
                   fontMetrics().elidedText(row.name, Qt::ElideMiddle, name_width()));
  const double scale = 1 / bytes_per_pixel();
  const double end = rail.left() + scale * static_cast<double>(row.capacity.value);
  QColor track = palette().color(QPalette::WindowText);
  track.setAlphaF(0.08F);
  painter.fillRect(QRectF(rail.topLeft(), QPointF(end, rail.bottom())), track);
  double left = rail.left();
  each_cause(row, [&](MemoryCause cause) {
    const double wide = scale * static_cast<double>(held(row, cause).value);
    const QRectF part(left, rail.top(), wide, rail.height());
    painter.fillRect(part, colour_of(cause, dark));
    if (is_hatched(cause))
      painter.fillRect(part, QBrush(palette().color(QPalette::Window), Qt::BDiagPattern));
    left += wide;
  });
  const QColor ink = row.fits() ? palette().color(QPalette::WindowText) : style::infeasible(dark);
  const QLineF mark(end - 1, rail.top() - 3, end - 1, rail.bottom() + 3);
  painter.setPen(QPen(palette().color(QPalette::Window), 6, Qt::SolidLine, Qt::FlatCap));
  if (!row.fits()) painter.drawLine(mark);  // it stands within the bar
  painter.setPen(QPen(ink, 2, Qt::SolidLine, Qt::FlatCap));
  painter.drawLine(mark);
  painter.setPen(ink);
  painter.drawText(QRect(width() - figure_width(), top, figure_width(), row_height()),
                   Qt::AlignVCenter | Qt::AlignRight, figure_of(row));
}

void MemoryBars::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  for (std::size_t row = 0; row < rows_.size(); ++row) paint_row(painter, row);
}

std::optional<MemoryBars::Place> MemoryBars::place_at(const QPointF& point) const {
  const auto row = static_cast<std::size_t>(point.y() / row_height());
  if (point.y() < 0 || row >= rows_.size()) return std::nullopt;
  Place place{row, std::nullopt};
  double left = rail(row).left();
  each_cause(rows_[row], [&](MemoryCause cause) {
    const double right =
        left + static_cast<double>(held(rows_[row], cause).value) / bytes_per_pixel();
    if (point.x() >= left && point.x() < right) place.cause = cause;
    left = right;
  });
  return place;
}

QString MemoryBars::tip_at(const QPointF& point) const {
  const std::optional<Place> place = place_at(point);
  if (!place) return {};
  const MemoryRow& row = rows_[place->row];
  QStringList lines{row.name, tr("%1, %2").arg(figure_of(row), row.moment)};
  each_cause(row, [&](MemoryCause cause) {
    const QString line =
        QStringLiteral("%1: %2").arg(text(label_of(cause)), style::bytes(held(row, cause)));
    lines << (place->cause == cause ? QStringLiteral("▸ ") + line : line);
  });
  return lines.join(QLatin1Char('\n'));
}

void MemoryBars::mouseReleaseEvent(QMouseEvent* event) {
  const auto place = place_at(event->position());
  if (event->button() == Qt::LeftButton && place)
    emit clicked(rows_[place->row].alike.devices.front());
}

bool MemoryBars::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), tip_at(help->pos()), this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace strato
