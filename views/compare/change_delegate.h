// Cells of a ChangeTable: what does not fit is red, what is alike is pale. Names are paths, whose
// ends tell them apart.
#pragma once

#include <QStyledItemDelegate>

#include "views/compare/change_table.h"
#include "views/style/style.h"

namespace strato {

class ChangeDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.column() == 0) option->textElideMode = Qt::ElideLeft;
    if (index.data(ChangeTable::TooMuchRole).toBool())
      option->palette.setColor(QPalette::Text, style::infeasible(style::is_dark(option->palette)));
    else if (!index.data(ChangeTable::DiffersRole).toBool())
      option->palette.setColor(QPalette::Text, style::muted_text(option->palette));
  }
};

}  // namespace strato
