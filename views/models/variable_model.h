// Variables and how they are synchronised, as a table: those of the groups selected, of all groups
// when none is. Follows the session's strategy.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "views/models/session.h"

namespace strato {

class VariableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Name, Group, ShapeOf, Size, Synchronised, EncodedAs, kColumns };
  static constexpr int SortRole = Qt::UserRole;
  static constexpr int UpdateRole = Qt::UserRole + 1;  // int: the update op
  static constexpr int ByHandRole = Qt::UserRole + 2;  // bool: not as its group

  explicit VariableModel(Session& session, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  OpId update_at(int row) const { return updates_[static_cast<std::size_t>(row)]; }
  int row_of(OpId update) const;  // -1: none
  int by_hand() const;            // how many are not as their groups

 private:
  void take_selection();
  void refresh();
  QString text_of(OpId update, int column) const;

  Session& session_;
  std::shared_ptr<const Problem> problem_;  // null: nothing is open
  std::vector<GroupId> groups_;
  std::vector<OpId> updates_;  // largest first
};

}  // namespace strato
