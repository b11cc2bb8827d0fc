// The launches that the workspace has, the latest first: when, of which plan, by what, how they
// ended, and how far off the prediction was. Re-read when the session or another process has
// written.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "views/models/session.h"

namespace strato {

class StoredLaunchesModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { When, Plan, Launcher, State, Predicted, Measured, Error, ColumnCount };
  static constexpr int SortRole = Qt::UserRole;

  explicit StoredLaunchesModel(Session& session, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

  const StoredLaunch& launch(int row) const { return rows_[static_cast<std::size_t>(row)].launch; }
  QString plan(int row) const { return rows_[static_cast<std::size_t>(row)].plan; }
  // Of those whose job may still run, the latest; -1: there is none.
  int left_running() const;
  void refresh();

 private:
  struct Row {
    StoredLaunch launch;
    QString plan;
    bool same_as(const Row& other) const;
  };
  QVariant text_at(const Row& row, int column) const;
  QVariant sort_key(const Row& row, int column) const;

  Session& session_;
  std::vector<Row> rows_;
};

}  // namespace strato
