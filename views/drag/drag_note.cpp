#include "views/drag/drag_note.h"

#include <QLabel>
#include <algorithm>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kFarthest = 480;      // px: longer words have two lines
constexpr int kMostLetters = 4000;  // names may be of any length
constexpr QPoint kBeside(16, 20);

// "What goes where: what that does". Where one line has no room, each has its own, and what it does
// keeps its beginning, the time.
QString in_lines(const QString& words, const QFontMetrics& metrics, int room) {
  if (metrics.horizontalAdvance(words) <= room) return words;
  const qsizetype end = words.indexOf(QLatin1String(": "));
  if (end < 0) return metrics.elidedText(words, Qt::ElideMiddle, room);
  return metrics.elidedText(words.left(end + 1), Qt::ElideMiddle, room) + QLatin1Char('\n') +
         metrics.elidedText(words.mid(end + 2), Qt::ElideRight, room);
}

}  // namespace

void DragNote::tell(const QString& words, const QPoint& at, bool bad) {
  if (!label_) {
    label_ = new QLabel(&over_);
    label_->setObjectName(QStringLiteral("drag note"));
    label_->setAttribute(Qt::WA_TransparentForMouseEvents);
    label_->setTextFormat(Qt::PlainText);
    label_->setAutoFillBackground(true);
    label_->setFrameStyle(QFrame::Box | QFrame::Plain);
    label_->setMargin(style::kGrid);
  }
  QPalette palette = over_.palette();
  const bool dark = style::is_dark(palette);
  const QColor ink = bad ? style::infeasible(dark) : palette.color(QPalette::Text);
  palette.setColor(QPalette::Window, palette.color(QPalette::Base));
  palette.setColor(QPalette::WindowText, ink);
  label_->setPalette(palette);
  const int room = std::max(60, std::min(kFarthest, over_.width() - 4 * style::kGrid));
  const QString told = words.size() <= 2 * kMostLetters
                           ? words
                           : words.left(kMostLetters) + QChar(0x2026) + words.right(kMostLetters);
  label_->setText(in_lines(told, label_->fontMetrics(), room - 4 * style::kGrid));
  label_->adjustSize();
  QRect box(at + kBeside, label_->size());
  if (box.bottom() > over_.height()) box.moveBottom(at.y() - style::kGrid);
  box.moveLeft(std::clamp(box.left(), 0, std::max(0, over_.width() - box.width())));
  box.moveTop(std::max(0, box.top()));
  label_->setGeometry(box);
  label_->show();
  label_->raise();
}

void DragNote::forget() {
  if (label_) label_->hide();
}

}  // namespace strato
