// Every view of the window by its keys: Ctrl and the number of the place, then Alt and its number
// in it.
#pragma once

#include <QTest>
#include <array>
#include <string>

#include "app/explorer/places/centre.h"

namespace strato {

inline void press_digit(QWidget& window, int digit, Qt::KeyboardModifiers modifiers) {
  QTest::keyClick(&window, static_cast<Qt::Key>(Qt::Key_0 + digit), modifiers);
}

// `visit` gets each that is shown, and the keys that led there: "Ctrl+2, Alt+3".
template <class Visit>
void visit_views(QWidget& window, const Visit& visit) {
  std::array<int, 4> numbers{};
  for (const NamedView& view : window.findChild<Centre*>()->views()) {
    const int place = static_cast<int>(view.place);
    const int number = ++numbers[static_cast<std::size_t>(place)];
    press_digit(window, place + 1, Qt::ControlModifier);
    press_digit(window, number, Qt::AltModifier);
    visit(view, "Ctrl+" + std::to_string(place + 1) + ", Alt+" + std::to_string(number));
  }
}

}  // namespace strato
