// Narrow windows: what is docked at the left moves behind the inspector, as tabs, so that there is
// room for the views.
#include <QDockWidget>
#include <QResizeEvent>
#include <QTimer>

#include "app/explorer/main_window.h"

namespace strato {

// What all docks and any view need beside each other; more with a larger font.
int MainWindow::narrow_width() const { return 165 * fontMetrics().averageCharWidth(); }

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  set_narrow(width() < narrow_width());
}

void MainWindow::set_narrow(bool narrow) {
  // A wide window can always be made narrow; a narrow one is as wide as its content needs.
  if (!narrow) setMinimumWidth(narrow_width() / 2);
  if (narrow == narrow_) return;
  narrow_ = narrow;
  if (narrow) {
    for (QDockWidget* dock : findChildren<QDockWidget*>(Qt::FindDirectChildrenOnly)) {
      if (dock == lesson_dock_ || dock->isFloating()) continue;
      if (dockWidgetArea(dock) == Qt::LeftDockWidgetArea) moved_docks_.emplace_back(dock);
    }
  }
  QDockWidget* beside = narrow ? inspector_dock_ : nullptr;
  for (QDockWidget* dock : moved_docks_) {
    if (!narrow && dockWidgetArea(dock) != Qt::RightDockWidgetArea) continue;  // by hand
    const bool hidden = dock->isHidden();
    if (!narrow) addDockWidget(Qt::LeftDockWidgetArea, dock);
    if (beside) tabifyDockWidget(beside, dock);
    beside = dock;
    dock->setHidden(hidden);
  }
  if (beside && !narrow) moved_docks_.front()->raise();
  if (narrow) inspector_dock_->raise();
  if (!narrow) moved_docks_.clear();
  size_docks();
  // Not while it is being resized: Qt lays docks out that have just been moved, and falls over
  // them.
  if (narrow)
    QTimer::singleShot(0, this, [this] {
      if (narrow_) setMinimumWidth(0);
    });
}

void MainWindow::size_docks() {
  if (narrow_) {
    resizeDocks({inspector_dock_}, {44 * fontMetrics().averageCharWidth()}, Qt::Horizontal);
  } else {
    const int letter = fontMetrics().averageCharWidth();  // room for three tabs
    resizeDocks({workspace_dock_, inspector_dock_},
                {std::max(228, 32 * letter), std::max(276, 39 * letter)}, Qt::Horizontal);
  }
}

}  // namespace strato
