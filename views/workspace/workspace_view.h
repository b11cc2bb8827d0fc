// The open workspace as a tree: a double click shows a run or a strategy, F2 renames an edit. What is
// typed above leaves those whose name, time, planner or note has all of the words, with what they are
// below.
#pragma once

#include <QWidget>

#include "views/models/workspace_model.h"

class QLabel;
class QLineEdit;
class QTreeView;

namespace strato {

class WorkspaceFilter;

class WorkspaceView : public QWidget {
  Q_OBJECT
 public:
  explicit WorkspaceView(Session& session, QWidget* parent = nullptr);
  QTreeView* tree() { return tree_; }
  QLineEdit& filter() { return *filter_; }

 signals:
  void export_wanted();  // of what is shown now

 private:
  void open(const QModelIndex& index);
  void context_menu(const QPoint& position);
  void expand_sections();
  void filter_changed();

  Session& session_;
  WorkspaceModel* model_;
  WorkspaceFilter* filtered_;
  QLineEdit* filter_;
  QTreeView* tree_;
  QLabel* empty_;
};

}  // namespace strato
