#include "views/drag/drag_start.h"

#include <QDrag>
#include <QPainter>
#include <QPixmap>
#include <QWidget>
#include <memory>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kLongestChip = 220;  // px

// What is carried, as a chip under the cursor.
QPixmap chip(const QWidget& from, const QString& words) {
  const QFontMetrics metrics = from.fontMetrics();
  const QString fitting = metrics.elidedText(words.left(200), Qt::ElideMiddle, kLongestChip);
  const QSize size(metrics.horizontalAdvance(fitting) + 16, metrics.height() + 8);
  const double ratio = from.devicePixelRatioF();
  QPixmap picture(size * ratio);
  picture.setDevicePixelRatio(ratio);
  picture.fill(Qt::transparent);
  QPainter painter(&picture);
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor accent = style::selection(style::is_dark(from.palette()));
  painter.setPen(accent);
  painter.setBrush(from.palette().color(QPalette::Base));
  painter.drawRoundedRect(QRectF(0.5, 0.5, size.width() - 1, size.height() - 1), 4, 4);
  painter.setPen(from.palette().color(QPalette::Text));
  painter.setFont(from.font());
  painter.drawText(QRect(QPoint(0, 0), size), Qt::AlignCenter, fitting);
  return picture;
}

std::function<void(const QMimeData&)>& own_carry() {
  static std::function<void(const QMimeData&)> carry;
  return carry;
}

}  // namespace

void carry_with(std::function<void(const QMimeData&)> carry) { own_carry() = std::move(carry); }

void carry(QWidget& from, const Carried& carried, const Problem& problem) {
  if (carried.is_empty()) return;
  if (own_carry()) {
    const std::unique_ptr<QMimeData> data(drag_of(carried, problem));
    return own_carry()(*data);
  }
  auto* drag = new QDrag(&from);  // deletes itself
  drag->setMimeData(drag_of(carried, problem));
  drag->setPixmap(chip(from, names_of(carried, problem)));
  drag->setHotSpot(QPoint(-12, -4));
  drag->exec(Qt::MoveAction);
}

}  // namespace strato
