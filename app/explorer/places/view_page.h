// The page of a tab with a view: where the view has no room, what is out of sight can be scrolled
// to. So no view says how small the window may be.
#pragma once

#include <QScrollArea>

namespace strato {

class ViewPage : public QScrollArea {
 public:
  explicit ViewPage(QWidget* view);
  QWidget* view() const { return view_; }
  QSize minimumSizeHint() const override { return {240, 120}; }

  static ViewPage* of(QWidget* view);  // that it was put into; null: none

 private:
  QWidget* view_;
};

}  // namespace strato
