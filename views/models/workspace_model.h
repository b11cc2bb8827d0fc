// The open workspace as a tree: Models, Clusters, Runs (each with its best strategy and the edits
// made from it, by parent), and Strategies that come from no run. Re-read when the session or
// another process has written.
#pragma once

#include <QAbstractItemModel>
#include <memory>

#include "views/models/session.h"

namespace strato {

class WorkspaceModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum class Kind { Section, Model, Cluster, Run, Strategy };
  enum Column { Name, Step, kColumns };
  static constexpr int KindRole = Qt::UserRole, RowRole = Qt::UserRole + 1;

  explicit WorkspaceModel(Session& session, QObject* parent = nullptr);
  ~WorkspaceModel() override;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;  // renames

  void refresh();  // reads the workspace again; keeps what is there when nothing changed
  void poll();     // the same, when another process has written

 private:
  struct Node;
  const Node* node(const QModelIndex& index) const;

  Session& session_;
  std::unique_ptr<Node> root_;
  std::int64_t version_ = -1;
};

}  // namespace strato
