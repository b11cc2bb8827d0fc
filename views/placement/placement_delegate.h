// Paints and edits the cells of the placement matrix: device groups as patches of their colour, as
// strong as their share; modes as a choice.
#pragma once

#include <QStyledItemDelegate>

#include "views/models/placement_model.h"

namespace strato {

class PlacementDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  PlacementDelegate(Session& session, QObject* parent);

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const override;
  void setEditorData(QWidget* editor, const QModelIndex& index) const override;
  void setModelData(QWidget* editor, QAbstractItemModel* model,
                    const QModelIndex& index) const override;

 signals:
  void mode_chosen(int mode) const;  // for all selected rows

 private:
  void paint_share(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index,
                   DeviceGroupId group) const;
  void paint_time(QPainter* painter, const QStyleOptionViewItem& option,
                  const QModelIndex& index) const;
  void paint_mode(QPainter* painter, const QStyleOptionViewItem& option,
                  const QModelIndex& index) const;

  Session& session_;
};

}  // namespace strato
