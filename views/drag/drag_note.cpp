#include "views/drag/drag_note.h"

#include <QLabel>
#include <algorithm>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kFarthest = 480;  // px: longer words are elided in the middle
constexpr QPoint kBeside(16, 20);

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
  label_->setText(label_->fontMetrics().elidedText(words.left(kFarthest), Qt::ElideMiddle,
                                                   room - 4 * style::kGrid));
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
