// A line of plain text that gives way: where it has no room its middle or its end is left out, and
// the whole is the tooltip, unless it has one of its own. Never narrower than some letters, unless
// all of it is.
#pragma once

#include <QHelpEvent>
#include <QLabel>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

namespace strato::style {

class ElidedLabel : public QLabel {
 public:
  explicit ElidedLabel(Qt::TextElideMode leaves_out, QWidget* parent = nullptr,
                       int least_letters = 16)
      : QLabel(parent), leaves_out_(leaves_out), least_letters_(least_letters) {
    setTextFormat(Qt::PlainText);
  }
  QSize minimumSizeHint() const override {
    const QSize whole = sizeHint();
    return {std::min(whole.width(), fontMetrics().averageCharWidth() * least_letters_),
            whole.height()};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(room(), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                     fontMetrics().elidedText(text(), leaves_out_, room().width()));
  }
  bool event(QEvent* event) override {
    const bool cut = fontMetrics().horizontalAdvance(text()) > room().width();
    if (event->type() != QEvent::ToolTip || !toolTip().isEmpty() || !cut)
      return QLabel::event(event);
    const QString whole = QStringLiteral("<p>%1</p>").arg(text().left(1000).toHtmlEscaped());
    QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), whole, this);
    return true;
  }

 private:
  QRect room() const { return contentsRect().adjusted(std::max(0, indent()), 0, 0, 0); }

  Qt::TextElideMode leaves_out_;
  int least_letters_;
};

}  // namespace strato::style
