// A search of the queue as two lines: planner and best so far; problem and how far it is, with a
// bar below while it runs.
#pragma once

#include <QStyledItemDelegate>

namespace strato {

class QueueLines : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace strato
