// Pictures of the window and of every view, without a person.
#include <QApplication>
#include <QDir>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QScrollArea>
#include <QSplitter>
#include <QTabWidget>

#include "app/explorer/main_window.h"
#include "views/lessons/lesson_panel.h"

namespace strato {
namespace {

// Background layouts and row tables need a moment: until the picture stays the same, at most some
// seconds.
QPixmap grab_when_settled(QWidget& widget) {
  constexpr int kMostMilliseconds = 15000, kQuietMilliseconds = 700;
  QElapsedTimer total, quiet;
  total.start();
  quiet.start();
  QImage last;
  while (total.elapsed() < kMostMilliseconds && quiet.elapsed() < kQuietMilliseconds) {
    QApplication::processEvents(QEventLoop::AllEvents, 50);
    const QImage now = widget.grab().toImage();
    if (now != last) quiet.restart();
    last = now;
  }
  return QPixmap::fromImage(last);
}

}  // namespace

bool MainWindow::grab_view(const QString& folder, const NamedView& view) {
  show_view(view.widget);
  return grab_when_settled(*view.widget)
      .save(folder + QLatin1Char('/') + view.file + QStringLiteral(".png"));
}

// All of a page that scrolls.
bool MainWindow::grab_page(const QString& folder, const NamedView& view) {
  for (const QScrollArea* area : view.widget->findChildren<QScrollArea*>()) {
    if (!area->isVisible() || !area->widget()) continue;
    return grab_when_settled(*area->widget())
        .save(folder + QLatin1Char('/') + view.file + QStringLiteral(".png"));
  }
  return grab_view(folder, view);
}

bool MainWindow::capture(const QString& folder, const QSize& size) {
  if (!QDir().mkpath(folder)) return false;
  resize(size);
  explore_perspective();
  session_.settle();
  show_view(views_.front().widget);
  bool written = grab_when_settled(*this).save(folder + QStringLiteral("/window.png"));
  written &= grab_page(folder, inspector_);
  workspace_dock_->hide();
  history_dock_->hide();
  queue_dock_->hide();
  inspector_dock_->hide();
  timeline_.widget->hide();
  for (const NamedView& view : views_) written &= grab_view(folder, view);
  timeline_.widget->show();
  beside_->hide();
  written &= grab_view(folder, timeline_);
  beside_->show();
  teach_perspective();
  lessons_->show_list();
  written &= grab_when_settled(*this).save(folder + QStringLiteral("/lessons.png"));
  explore_perspective();
  return written;
}

}  // namespace strato
