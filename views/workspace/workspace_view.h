// The open workspace as a tree: a double click shows a run or a strategy, F2 renames an edit,
// Backspace goes to what it came from. What is typed above leaves those whose name, time, planner,
// tags or note have all of the words, with what they are below. Below stands what is chosen: its
// picture, what it came from, its tags (T) and its note (N).
#pragma once

#include <QSet>
#include <QWidget>
#include <functional>
#include <vector>

#include "views/models/workspace_model.h"

class QAction;
class QLabel;
class QLineEdit;
class QTreeView;

namespace strato {

class ItemPanel;
class StrategyPictures;
class WorkspaceFilter;

class WorkspaceView : public QWidget {
  Q_OBJECT
 public:
  explicit WorkspaceView(Session& session, QWidget* parent = nullptr);
  QTreeView* tree() { return tree_; }
  QLineEdit& filter() { return *filter_; }
  ItemPanel& panel() { return *panel_; }
  StrategyPictures& pictures() { return *pictures_; }

  // Takes the words above away where they hide it. False: it is not there.
  bool choose(WorkspaceModel::Kind kind, std::int64_t row);
  void show_origin();                         // of what is chosen
  std::vector<RunRow> runs_to_chart() const;  // those chosen; else all that the words leave

 signals:
  void export_wanted();  // of what is shown now
  void convergence_wanted(const std::vector<strato::RunRow>& runs);

 private:
  using Name = std::pair<int, qint64>;  // kind and row

  void build_actions();
  void open(const QModelIndex& index);
  void context_menu(const QPoint& position);
  void expand_sections();
  void filter_changed();
  void go_to(const QModelIndex& index);
  void mark_shown();
  void remember();
  void restore();
  void chosen();
  static Name name_of(const QModelIndex& index);
  void visit(const std::function<void(const QModelIndex&)>& see) const;

  Session& session_;
  WorkspaceModel* model_;
  WorkspaceFilter* filtered_;
  StrategyPictures* pictures_;
  QLineEdit* filter_;
  QTreeView* tree_;
  QLabel* empty_;
  ItemPanel* panel_;
  QAction *tags_, *note_, *origin_, *chart_;
  QSet<Name> opened_, known_;  // while the tree is read again
  QSet<Name> selected_;
  Name current_{-1, -1};
};

}  // namespace strato
