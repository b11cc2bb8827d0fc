// The search tree of the run shown: a lazily opened table of actions beside an overview of its best
// part. A click previews a vertex's decisions, a double click shows its strategy in the whole
// window.
#pragma once

#include <QWidget>
#include <set>

#include "views/models/session.h"
#include "views/search/search_tree_model.h"

class QLabel;
class QSplitter;
class QStackedWidget;
class QTreeView;

namespace strato {

class IcicleWidget;

class SearchTreeView : public QWidget {
  Q_OBJECT
 public:
  explicit SearchTreeView(Session& session, QWidget* parent = nullptr);
  void show_tree(std::shared_ptr<const SearchTree> tree, std::shared_ptr<const Problem> problem);
  QTreeView& tree_view() { return *view_; }

 signals:
  void cursor_info(const QString& text);

 protected:
  void resizeEvent(QResizeEvent*) override;

 private:
  void update_tree();
  void restore(const std::set<SearchTreeModel::Path>& open, const SearchTreeModel::Path& current,
               int scroll);
  void collect_open(const QModelIndex& parent, std::set<SearchTreeModel::Path>& open) const;
  void expand_best_path();
  void preview(std::int32_t vertex);
  void open(std::int32_t vertex);
  void choose(std::int32_t vertex);

  Session& session_;
  SearchTreeModel model_;
  QStackedWidget* pages_;
  QSplitter* splitter_;
  QTreeView* view_;
  IcicleWidget* overview_;
  QLabel *empty_, *preview_;
};

}  // namespace strato
