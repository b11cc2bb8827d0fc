// A row of the workspace: what it is like at a glance, its name, and its tags at the end. Resting
// on it shows a larger picture with what there is to say.
#pragma once

#include <QStyledItemDelegate>

namespace strato {

class StrategyPictures;

class WorkspaceLines : public QStyledItemDelegate {
  Q_OBJECT
 public:
  WorkspaceLines(StrategyPictures& pictures, QObject* parent);
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                 const QModelIndex& index) override;
  QString tip_html(const QModelIndex& index, bool dark) const;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  StrategyPictures& pictures_;
};

}  // namespace strato
