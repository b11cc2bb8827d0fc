// Paints rows of the search tree: a patch for every device group that a decision uses before its
// words, what a person has told the search (pinned, boosted, excluded, starts here), and in a
// replay the path of the step.
#pragma once

#include <QStyledItemDelegate>

#include "core/search/tree/search_tree.h"
#include "views/search/search_tree_model.h"

namespace strato {

class SearchTreeDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  explicit SearchTreeDelegate(const SearchTreeModel& model, QObject* parent = nullptr);
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  void paint_decision(QPainter& painter, const QStyleOptionViewItem& option,
                      const QModelIndex& index) const;
  int paint_marks(QPainter& painter, const QStyleOptionViewItem& option, int marks, float weight,
                  QRect room) const;
  int paint_devices(QPainter& painter, const QStyleOptionViewItem& option, const Decision& decision,
                    QRect room) const;

  const SearchTreeModel& model_;
};

}  // namespace strato
