// The ops of one op group, with the time that each took in the outcome shown. Rows are dragged as
// ops.
#pragma once

#include <QAbstractTableModel>

#include "views/models/carried.h"
#include "views/models/session.h"

namespace strato {

class OpTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Name, Type, PhaseOfOp, Flops, Time, kColumns };
  static constexpr int SortRole = Qt::UserRole, OpRole = Qt::UserRole + 1;

  explicit OpTableModel(Session& session, QObject* parent = nullptr);
  void show(GroupId group);  // invalid: nothing

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QStringList mimeTypes() const override { return {drag_type()}; }
  QMimeData* mimeData(const QModelIndexList& indexes) const override;
  Qt::DropActions supportedDragActions() const override { return Qt::MoveAction; }
  int row_of(OpId op) const;  // -1 when it is not here

 private:
  void refresh_times();

  Session& session_;
  std::shared_ptr<const Problem> problem_;
  GroupId group_;
  std::vector<OpId> ops_;
  std::vector<Nanos> times_;  // of all its compute tasks together
};

}  // namespace strato
