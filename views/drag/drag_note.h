// A line of words beside the cursor while something is dragged over a widget: a child of it, since
// windows of their own may get between the cursor and where it drops.
#pragma once

#include <QPointer>
#include <QString>

class QLabel;
class QPoint;
class QWidget;

namespace strato {

class DragNote {
 public:
  explicit DragNote(QWidget& over) : over_(over) {}
  void tell(const QString& words, const QPoint& at, bool bad);  // bad: in the colour of infeasible
  void forget();

 private:
  QWidget& over_;
  QPointer<QLabel> label_;  // made when there is something to tell
};

}  // namespace strato
