// Boxes whose items lie beside each other where there is room, else below each other.
#pragma once

#include <QBoxLayout>
#include <algorithm>

namespace strato {

// What the widest item needs: the box, with its items below each other.
inline int stacked_width(const QBoxLayout& box) {
  int widest = 0;
  for (int i = 0; i < box.count(); ++i)
    widest = std::max(widest, box.itemAt(i)->minimumSize().width());
  return widest;
}

// What the items need beside each other.
inline int unstacked_width(const QBoxLayout& box) {
  int needed = box.spacing() * std::max(0, box.count() - 1);
  for (int i = 0; i < box.count(); ++i) needed += box.itemAt(i)->minimumSize().width();
  return needed;
}

// Whether that changes anything.
inline bool stack(QBoxLayout& box, bool stacked) {
  const auto direction = stacked ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight;
  if (box.direction() == direction) return false;
  box.setDirection(direction);
  return true;
}

}  // namespace strato
