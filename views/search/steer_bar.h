// What a person can tell the search, as a tool bar over its tree and as a context menu: pin, boost,
// exclude, search deeper, search only the selected groups; and, as chips that one click removes,
// all that was told.
#pragma once

#include <QWidget>
#include <cstdint>

#include "core/search/tree/search_tree.h"
#include "views/models/session.h"
#include "views/search/search_tree_model.h"

class QAction;
class QLabel;
class QMenu;
class QToolButton;

namespace strato {

class ChipRow;

class SteerBar : public QWidget {
  Q_OBJECT
 public:
  // Keys work where `keys`, or what is in it, has the focus.
  SteerBar(Session& session, const SearchTreeModel& model, QWidget& keys);
  void set_current(std::int32_t vertex);  // what the actions are about; 0 or less: nothing
  void refresh();                         // the tree, its steering or the selection have changed
  void fill(QMenu& menu) const;
  QAction* replay_action() { return replay_; }
  ChipRow& chips() { return *chips_; }

  void toggle_pin();
  void set_weight(float weight);
  void search_deeper(std::int64_t iterations);
  void search_only_selected();

 private:
  void build(QWidget& keys);
  QAction* make_action(const QString& text, const QString& key, const QString& tip, QWidget& keys);
  void fill_compare_menu();
  void fill_iterations(QMenu& menu, bool deeper);
  void refresh_chips();
  QString name_of(const Steering::Path& path) const;
  Steering::Path path() const;
  std::optional<GroupId> group() const;
  const Decision* decision() const;

  Session& session_;
  const SearchTreeModel& model_;
  std::int32_t current_ = 0;
  QAction *pin_, *boost2_, *boost4_, *normal_, *exclude_, *deeper_, *only_, *replay_;
  QMenu *boost_menu_, *deeper_menu_, *continue_menu_, *compare_menu_;
  QToolButton* compare_;
  ChipRow* chips_;
};

}  // namespace strato
