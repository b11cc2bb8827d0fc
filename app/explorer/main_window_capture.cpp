// Pictures of the window and of every view, without a person.
#include <QApplication>
#include <QDir>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QScrollArea>

#include "app/explorer/main_window.h"
#include "app/explorer/places/centre.h"
#include "app/explorer/places/place_docks.h"
#include "views/lessons/lesson_panel.h"
#include "views/traces/traces_view.h"

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

bool save(QWidget& widget, const QString& folder, const QString& name) {
  if (widget.size().isEmpty()) widget.adjustSize();  // nothing is laid out before a model is open
  return grab_when_settled(widget).save(folder + QLatin1Char('/') + name + QStringLiteral(".png"));
}

}  // namespace

// All of it, which scrolls.
bool MainWindow::grab_inspector(const QString& folder) {
  const QString name = QStringLiteral("inspector");
  for (const QScrollArea* area : inspector_->findChildren<QScrollArea*>())
    if (area->isVisible() && area->widget()) return save(*area->widget(), folder, name);
  return save(*inspector_, folder, name);
}

bool MainWindow::capture(const QString& folder, const QSize& size) {
  if (!QDir().mkpath(folder)) return false;
  resize(size);
  session_.settle();
  traces().model().settle();
  bool written = true;
  for (std::size_t i = places().size(); i-- > 0;) {
    const auto place = static_cast<Place>(i);
    centre_->go_to(place);
    written &=
        save(*this, folder, QStringLiteral("place-%1").arg(QString::fromUtf8(info(place).key)));
    for (const NamedView& view : centre_->views()) centre_->put_beside(view.widget, false);
  }
  written &= save(*this, folder, QStringLiteral("window"));
  written &= grab_inspector(folder);
  centre_->show_parts(true, false);
  for (const NamedView& view : centre_->views()) {
    centre_->show_view(view.widget);
    docks_->hide_all();  // those of its place
    written &= save(*view.widget, folder, view.file);
  }
  centre_->show_parts(false, true);
  written &= save(*timeline_, folder, QStringLiteral("timeline"));
  centre_->show_parts(true, true);
  centre_->show_view(centre_->views().front().widget);
  docks_->usual_docks();
  docks_->teach();
  lessons_->show_list();
  written &= save(*this, folder, QStringLiteral("lessons"));
  centre_->go_to(Place::Understand);
  return written;
}

}  // namespace strato
