// The placement matrix as a table: op groups (rows, by compute time) times device groups (columns),
// with the mode of each group. A cell's edit goes through the session, so that it is undoable,
// stored and simulated.
#pragma once

#include <QAbstractTableModel>

#include "views/models/constraint_edits.h"
#include "views/models/session.h"
#include "views/models/strategy_edits.h"

namespace strato {

class PlacementModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Name, Ops, Time, Parameters, ModeOfGroup, FirstDeviceGroup };
  enum Role {
    GroupRole = Qt::UserRole,  // int, of a row
    SortRole,                  // number or text
    ShareRole,                 // double, of a cell in a device group's column: 0 to 1
    WeightRole,  // int: weight of each of the device group's devices; 0: differs or unused
    UsedRole,
    OfRole,           // int: devices used, devices there
    DeviceGroupRole,  // int, of a column (headerData, too)
    SplitsRole,       // bool: whether weights mean something here
    ModeRole,         // int
    TimeShareRole,    // double: of all groups' computing in the step shown
    PinnedRole,       // bool: searches keep to the decision of this group
    TogetherRole,     // bool: it is decided as other groups are, on demand
    ForbiddenRole,    // bool, of a cell: the devices are not for this group
    ViolatedRole,     // bool: the strategy shown does not keep to a constraint of this group
    SummaryRole,      // QString of headerData: the column's sum
  };

  explicit PlacementModel(Session& session, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  // EditRole: a mode (int) in the mode's column, a weight (int >= 1) in a device group's.
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

  // Rows are dragged as groups; on a device group's column they are placed on it alone.
  QStringList mimeTypes() const override;
  QMimeData* mimeData(const QModelIndexList& indexes) const override;
  Qt::DropActions supportedDropActions() const override { return Qt::MoveAction; }
  bool canDropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                       const QModelIndex& parent) const override;
  bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                    const QModelIndex& parent) override;

  GroupId group_at(int row) const { return GroupId(static_cast<std::size_t>(row)); }
  DeviceGroupId device_group_at(int column) const;  // invalid for the other columns
  // Uses or frees the device group for all the groups, as one edit.
  void toggle(const std::vector<GroupId>& groups, DeviceGroupId device_group, bool used);
  void set_mode(const std::vector<GroupId>& groups, Mode mode);
  // What toggle() would make of the strategy shown.
  Strategy toggled(const std::vector<GroupId>& groups, DeviceGroupId device_group, bool used) const;

 private:
  const Problem* problem() const { return session_.snapshot().problem.get(); }
  const Decision* decision(int row) const;
  QVariant group_data(int row, int column, int role) const;
  QVariant cell_data(int row, DeviceGroupId group, int role) const;
  QString cell_text(const DeviceGroupShare& share, const Decision& decision) const;
  QVariant device_group_header(DeviceGroupId group, int role) const;
  QString load_of(DeviceGroupId group) const;
  void reset();
  void refresh();
  void take_times();
  void refresh_pins();
  bool is_pinned(int row) const;
  void refresh_constraints();
  const GroupConstraints& constraints(int row) const;
  QString with_constraints(QString tip, int row) const;

  Session& session_;
  int rows_ = 0, columns_ = 0;
  double total_seconds_ = 0;                   // of the groups' estimates
  IdVector<GroupId, Nanos> times_;             // that the groups' computing takes in the step shown
  Nanos total_;                                // of these
  std::vector<GroupConstraints> constraints_;  // by row; empty: none
};

}  // namespace strato
