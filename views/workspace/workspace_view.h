// The open workspace as a tree: a double click shows a run or a strategy, F2 renames an edit.
#pragma once

#include <QWidget>

#include "views/models/workspace_model.h"

class QTreeView;
class QLabel;

namespace strato {

class WorkspaceView : public QWidget {
  Q_OBJECT
 public:
  explicit WorkspaceView(Session& session, QWidget* parent = nullptr);
  QTreeView* tree() { return tree_; }

 signals:
  void export_wanted();  // of what is shown now

 private:
  void open(const QModelIndex& index);
  void context_menu(const QPoint& position);
  void expand_sections();

  Session& session_;
  WorkspaceModel* model_;
  QTreeView* tree_;
  QLabel* empty_;
};

}  // namespace strato
