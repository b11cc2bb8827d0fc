// Draws many upright rectangles quickly: neighbours that touch, of one colour and height, are
// joined and drawn as one. Without antialiasing the picture is the same, for an edge between two
// that touch falls on the same pixel for both.
#pragma once

#include <QColor>
#include <QPainter>
#include <QRectF>
#include <algorithm>

namespace strato {

class JoinedBars {
 public:
  explicit JoinedBars(QPainter& painter) : painter_(painter) {}
  ~JoinedBars() { flush(); }
  JoinedBars(const JoinedBars&) = delete;
  JoinedBars& operator=(const JoinedBars&) = delete;

  // Ascending by the left edge.
  void add(const QRectF& bar, const QColor& colour) {
    if (joins(bar) && colour == colour_) {
      bar_.setRight(std::max(bar_.right(), bar.right()));
      return;
    }
    flush();
    bar_ = bar;
    colour_ = colour;
  }
  // Before anything else is drawn that may lie over the bars.
  void flush() {
    if (bar_.width() > 0) painter_.fillRect(bar_, colour_);
    bar_ = {};
  }

 private:
  bool joins(const QRectF& bar) const {
    return bar_.width() > 0 && bar.left() <= bar_.right() && bar.top() == bar_.top() &&
           bar.height() == bar_.height();
  }

  QPainter& painter_;
  QRectF bar_;  // not drawn yet; empty: none
  QColor colour_;
};

}  // namespace strato
