#include "views/lessons/highlight.h"

#include <QEvent>
#include <QPainter>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kFrame = 3;

}  // namespace

HighlightFrame::HighlightFrame(QWidget& target) : QWidget(target.window()), target_(&target) {
  setObjectName(QStringLiteral("lesson_highlight"));
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setAttribute(Qt::WA_NoSystemBackground);
  setFocusPolicy(Qt::NoFocus);
  // What moves or hides the place happens to it or to something around it.
  for (QWidget* at = &target; at && at != target.window(); at = at->parentWidget())
    at->installEventFilter(this);
  follow();
}

void HighlightFrame::follow() {
  if (!target_ || !target_->isVisible()) return hide();
  setGeometry(QRect(target_->mapTo(target_->window(), QPoint()), target_->size()));
  const QRegion all(rect());
  setMask(all - QRegion(rect().adjusted(kFrame, kFrame, -kFrame, -kFrame)));
  show();
  raise();
}

bool HighlightFrame::eventFilter(QObject* watched, QEvent* event) {
  switch (event->type()) {
    case QEvent::Resize:
    case QEvent::Move:
    case QEvent::Show:
    case QEvent::Hide:
      // The filter sees the event before the widget does.
      QMetaObject::invokeMethod(
          this, [this] { follow(); }, Qt::QueuedConnection);
      break;
    default:
      break;
  }
  return QWidget::eventFilter(watched, event);
}

void HighlightFrame::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), style::selection(style::is_dark(palette())));
}

void Highlights::show(const std::vector<QWidget*>& targets) {
  clear();
  for (QWidget* target : targets) {
    if (target) frames_.emplace_back(new HighlightFrame(*target));
  }
}

void Highlights::clear() {
  for (const auto& frame : frames_) delete frame.data();
  frames_.clear();
}

}  // namespace strato
