#include "views/tournament/tournament_delegate.h"

#include <QPainter>
#include <algorithm>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr double kBehindBound = 1.06;  // room at the right of the dashed line

QColor faded(QColor colour, float alpha) {
  colour.setAlphaF(alpha);
  return colour;
}

}  // namespace

double SpeedupScale::x(double speedup) const {
  return left + (right - left) * std::clamp(speedup / most, 0.0, 1.0);
}

SpeedupScale speedup_scale(const QRectF& cell, double figures, double bound_speedup) {
  SpeedupScale scale;
  scale.left = cell.left() + figures;
  scale.right = std::max(scale.left, cell.right() - 2 * style::kGrid);
  scale.most = std::max(1.0, bound_speedup) * kBehindBound;
  return scale;
}

TournamentDelegate::TournamentDelegate(const TournamentModel& model, QObject* parent)
    : QStyledItemDelegate(parent), model_(model) {}

void TournamentDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                               const QModelIndex& index) const {
  if (index.column() == TournamentModel::Speedup) return paint_speedup(*painter, option, index);
  if (index.column() == TournamentModel::Note) {
    const double fraction = index.data(TournamentModel::FractionRole).toDouble();
    if (fraction >= 0) paint_progress(*painter, option, fraction);
  }
  QStyleOptionViewItem item = option;
  item.state &= ~QStyle::State_HasFocus;  // the whole row is chosen
  QStyledItemDelegate::paint(painter, item, index);
}

void TournamentDelegate::paint_progress(QPainter& painter, const QStyleOptionViewItem& option,
                                        double fraction) const {
  QRectF bar = QRectF(option.rect).adjusted(2, 3, -2, -3);
  painter.fillRect(bar, faded(option.palette.color(QPalette::Text), 0.06f));
  bar.setWidth(bar.width() * fraction);
  painter.fillRect(bar, faded(style::selection(style::is_dark(option.palette)), 0.22f));
}

void TournamentDelegate::paint_speedup(QPainter& painter, const QStyleOptionViewItem& option,
                                       const QModelIndex& index) const {
  QStyleOptionViewItem item = option;
  initStyleOption(&item, index);
  painter.save();
  if (item.state & QStyle::State_Selected)
    painter.fillRect(item.rect, item.palette.color(QPalette::Highlight));
  const double figures =
      item.fontMetrics.horizontalAdvance(QStringLiteral("0.000×")) + 3 * style::kGrid;
  const double bound = model_.marks() ? model_.marks()->bound_speedup : 0;
  const SpeedupScale scale = speedup_scale(item.rect, figures, bound);
  const QColor text = item.palette.color(QPalette::Text);
  const bool running = index.data(TournamentModel::StateRole).toInt() ==
                       static_cast<int>(TournamentModel::RowState::Running);
  const double speedup = index.data(TournamentModel::SpeedupRole).toDouble();
  if (speedup > 0) {
    const QRectF bar(QPointF(scale.left, item.rect.top() + 5),
                     QPointF(scale.x(speedup), item.rect.bottom() - 4));
    const bool fits = index.data(TournamentModel::FeasibleRole).toBool();
    const QColor colour =
        fits ? faded(text, 0.38f) : style::infeasible(style::is_dark(item.palette));
    if (running || !fits) {
      painter.setPen(QPen(colour, 1));
      painter.setBrush(fits ? QBrush(Qt::NoBrush) : QBrush(colour, Qt::BDiagPattern));
      painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5));
    } else {
      painter.fillRect(bar, colour);
    }
  }
  if (model_.marks()) paint_lines(painter, item, scale);
  painter.setPen(running ? style::muted_text(item.palette) : text);
  painter.drawText(
      QRectF(item.rect.left(), item.rect.top(), figures - 2 * style::kGrid, item.rect.height()),
      Qt::AlignRight | Qt::AlignVCenter, item.text);
  painter.restore();
}

void TournamentDelegate::paint_lines(QPainter& painter, const QStyleOptionViewItem& option,
                                     const SpeedupScale& scale) const {
  const QColor text = option.palette.color(QPalette::Text);
  const auto line = [&](double speedup, Qt::PenStyle pen) {
    const double x = std::round(scale.x(speedup)) + 0.5;
    painter.setPen(QPen(faded(text, 0.85f), 1, pen));
    painter.drawLine(QPointF(x, option.rect.top()), QPointF(x, option.rect.bottom() + 1));
  };
  line(1, Qt::SolidLine);
  line(model_.marks()->bound_speedup, Qt::DashLine);
}

}  // namespace strato
