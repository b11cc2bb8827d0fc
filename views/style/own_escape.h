// Escape is the window's "Clear Selection". A widget that means something else by it accepts this
// event, which comes before.
#pragma once

#include <QKeyEvent>

namespace strato {

inline bool is_own_escape(const QEvent& event) {
  return event.type() == QEvent::ShortcutOverride &&
         static_cast<const QKeyEvent&>(event).key() == Qt::Key_Escape;
}

}  // namespace strato
