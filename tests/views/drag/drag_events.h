// Drags as Qt tells of them, for tests: a platform without a screen carries nothing.
#pragma once

#include <QDragEnterEvent>
#include <QDragMoveEvent>
#include <QDropEvent>
#include <QMimeData>

#include "tests/views/models/fixture.h"

namespace strato {

class DragTest : public SessionTest {
 protected:
  bool enter(QWidget& target, const QPoint& at, const QMimeData& data) {
    QDragEnterEvent event(at, Qt::MoveAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&target, &event);
    return event.isAccepted();
  }
  bool move(QWidget& target, const QPoint& at, const QMimeData& data,
            Qt::KeyboardModifiers keys = Qt::NoModifier) {
    enter(target, at, data);  // Qt sends moves and drops only to what has accepted this
    QDragMoveEvent event(at, Qt::MoveAction, &data, Qt::LeftButton, keys);
    event.ignore();
    QCoreApplication::sendEvent(&target, &event);
    return event.isAccepted();
  }
  bool drop(QWidget& target, const QPoint& at, const QMimeData& data) {
    enter(target, at, data);
    QDropEvent event(at, Qt::MoveAction, &data, Qt::LeftButton, Qt::NoModifier);
    event.ignore();
    QCoreApplication::sendEvent(&target, &event);
    return event.isAccepted();
  }
};

}  // namespace strato
