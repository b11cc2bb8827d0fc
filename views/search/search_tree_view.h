// The search tree of the run shown: a lazily opened table of actions beside an overview of its best
// part, what a person tells the search above, and its replay below. A click previews a vertex's
// decisions, a double click shows its strategy in the whole window.
#pragma once

#include <QList>
#include <QPersistentModelIndex>
#include <QWidget>
#include <vector>

#include "core/search/tree/search_tree.h"
#include "views/models/session.h"
#include "views/search/search_tree_model.h"

class QLabel;
class QSplitter;
class QStackedWidget;
class QTreeView;

namespace strato {

class IcicleWidget;
class PuctTable;
class ReplayPanel;
class SteerBar;

class SearchTreeView : public QWidget {
  Q_OBJECT
 public:
  explicit SearchTreeView(Session& session, QWidget* parent = nullptr);
  void show_tree(std::shared_ptr<const SearchTree> tree, std::shared_ptr<const Problem> problem);
  void replay(bool on);  // of the tree shown; the running search goes on unseen meanwhile
  void choose(std::int32_t vertex);

  QTreeView& tree_view() { return *view_; }
  SearchTreeModel& model() { return model_; }
  SteerBar& steer_bar() { return *bar_; }
  ReplayPanel& replay_panel() { return *replay_; }
  PuctTable& puct_table() { return *puct_; }

 signals:
  void cursor_info(const QString& text);

 protected:
  void resizeEvent(QResizeEvent*) override;
  void showEvent(QShowEvent*) override;

 private:
  void build_tree();
  void build_layout();
  void connect_parts();
  void update_tree();
  void update_comparison();
  void update_columns();
  void show_step();
  void show_choice(std::int32_t vertex);
  void open_step_path(const std::vector<std::int32_t>& path);
  void expand_best_path();
  void preview(std::int32_t vertex);
  void open(std::int32_t vertex);
  void context_menu(const QPoint& position);
  QString comparison_text() const;

  Session& session_;
  SearchTreeModel model_;
  SteerBar* bar_;
  QStackedWidget* pages_;
  QSplitter *splitter_, *beside_;
  QTreeView* view_;
  IcicleWidget* overview_;
  PuctTable* puct_;
  ReplayPanel* replay_;
  QLabel *empty_, *preview_, *note_;
  TreeSearchOptions options_;  // of the run that is replayed
  std::vector<QPersistentModelIndex> opened_by_step_;
  QList<int> sizes_before_replay_;
  bool stale_ = false;  // a tree came while nobody looked
};

}  // namespace strato
