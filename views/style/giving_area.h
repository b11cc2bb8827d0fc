// Content that is whole even where it has too little room, without asking for more in both ways:
// one is as wide as its content asks for and scrolls up and down, the other is as high and scrolls
// sideways. Both follow their content when it changes.
#pragma once

#include <QEvent>
#include <QScrollArea>
#include <QScrollBar>
#include <algorithm>

namespace strato::style {

class GivingArea : public QScrollArea {
 public:
  enum class Scrolls { UpAndDown, Sideways };
  explicit GivingArea(QWidget* content, Scrolls scrolls, QWidget* parent = nullptr)
      : QScrollArea(parent), sideways_(scrolls == Scrolls::Sideways) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    if (sideways_) {
      setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
      setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    } else {
      setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
      setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Expanding);
    }
    setWidget(content);
  }

  QSize minimumSizeHint() const override {
    if (sideways_) return {0, sizeHint().height()};
    return {width_of_content(), QScrollArea::minimumSizeHint().height()};
  }
  QSize sizeHint() const override {
    if (!sideways_)
      return {std::max(width_of_content(), widget()->sizeHint().width()),
              QScrollArea::sizeHint().height()};
    const int least = widget()->minimumSizeHint().width(), inside = std::max(least, width());
    const int high = widget()->hasHeightForWidth() ? widget()->heightForWidth(inside)
                                                   : widget()->sizeHint().height();
    const int bar = least > width() ? horizontalScrollBar()->sizeHint().height() : 0;
    return {widget()->sizeHint().width(), high + bar};
  }

 protected:
  bool event(QEvent* event) override {
    if (event->type() == QEvent::LayoutRequest) updateGeometry();
    return QScrollArea::event(event);
  }
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::LayoutRequest) updateGeometry();
    return QScrollArea::eventFilter(watched, event);
  }
  void resizeEvent(QResizeEvent* event) override {
    QScrollArea::resizeEvent(event);
    if (sideways_) updateGeometry();  // the bar comes and goes with the width
  }

 private:
  int width_of_content() const {
    return widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width();
  }

  bool sideways_;
};

}  // namespace strato::style
