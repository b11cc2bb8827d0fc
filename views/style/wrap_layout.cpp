#include "views/style/wrap_layout.h"

#include <QGuiApplication>
#include <QStyle>
#include <QWidget>
#include <algorithm>

#include "views/style/style.h"

namespace strato::style {

WrapLayout::WrapLayout(QWidget* parent) : QLayout(parent) {
  setContentsMargins(0, 0, 0, 0);
  setSpacing(2 * kGrid);
}

WrapLayout::~WrapLayout() = default;

void WrapLayout::addItem(QLayoutItem* item) {
  items_.emplace_back(item);
  invalidate();
}

int WrapLayout::count() const { return static_cast<int>(items_.size()); }

QLayoutItem* WrapLayout::itemAt(int index) const {
  return index >= 0 && index < count() ? items_[static_cast<std::size_t>(index)].get() : nullptr;
}

QLayoutItem* WrapLayout::takeAt(int index) {
  if (itemAt(index) == nullptr) return nullptr;
  const auto at = items_.begin() + index;
  QLayoutItem* taken = at->release();
  items_.erase(at);
  invalidate();
  return taken;
}

bool WrapLayout::takes_room(std::size_t index) const { return !items_[index]->isEmpty(); }

int WrapLayout::heightForWidth(int width) const { return arrange({0, 0, width, 0}, false); }

QSize WrapLayout::sizeHint() const {
  QSize size;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (!takes_room(i)) continue;
    const QSize wanted = items_[i]->sizeHint();
    size.rwidth() += wanted.width() + (size.width() > 0 ? spacing() : 0);
    size.setHeight(std::max(size.height(), wanted.height()));
  }
  return size.grownBy(contentsMargins());
}

QSize WrapLayout::minimumSize() const {
  QSize size;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (takes_room(i)) size = size.expandedTo(items_[i]->minimumSize());
  return size.grownBy(contentsMargins());
}

void WrapLayout::setGeometry(const QRect& area) {
  QLayout::setGeometry(area);
  arrange(area, true);
}

int WrapLayout::arrange(const QRect& area, bool place) const {
  const QRect inside = area.marginsRemoved(contentsMargins());
  int top = inside.top(), used = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (!takes_room(i)) continue;
    const int width = items_[i]->sizeHint().width();
    if (used > 0 && used + spacing() + width > inside.width()) {
      top += place_row(inside, begin, i, top, place) + kGrid;
      begin = i;
      used = 0;
    }
    used += width + (used > 0 ? spacing() : 0);
  }
  top += place_row(inside, begin, items_.size(), top, place);
  return top - area.top() + contentsMargins().bottom();
}

int WrapLayout::place_row(const QRect& inside, std::size_t begin, std::size_t end, int top,
                          bool place) const {
  int height = 0;
  for (std::size_t i = begin; i < end; ++i)
    if (takes_room(i)) height = std::max(height, items_[i]->sizeHint().height());
  int left = inside.left();
  for (std::size_t i = begin; place && i < end; ++i) {
    if (!takes_room(i)) continue;
    const QSize wanted = items_[i]->sizeHint();
    const QSize size(std::min(wanted.width(), inside.width()), wanted.height());
    const QRect box(QPoint(left, top + (height - size.height()) / 2), size);
    items_[i]->setGeometry(QStyle::visualRect(QGuiApplication::layoutDirection(), inside, box));
    left += size.width() + spacing();
  }
  return height;
}

}  // namespace strato::style
