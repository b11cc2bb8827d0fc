// A search tree as a Qt item model: one row per tried action, most visited first, fetched when a
// vertex is opened. A later snapshot of the same search keeps every row that is there (what is open
// and chosen stays so), adds what is new and sorts again; another tree resets the model. In a
// replay the rows keep their places, and show N and Q of its step.
#pragma once

#include <QAbstractItemModel>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/search/api/problem.h"
#include "core/search/tree/search_tree.h"
#include "views/search/tree_moment.h"
#include "views/search/tree_pair.h"

namespace strato {

class SearchTreeModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum Column {
    Action,
    Group,
    Visits,
    Value,
    OtherVisits,
    OtherValue,
    Prior,
    StepTime,
    ColumnCount
  };
  enum Role { VertexRole = Qt::UserRole, MarkRole, MutedRole };
  enum Mark { Pinned = 1, Boosted = 2, Excluded = 4, Focus = 8, New = 16, OnPath = 32, Parts = 64 };
  using Path = std::vector<std::int32_t>;  // actions from the root

  explicit SearchTreeModel(QObject* parent = nullptr);
  void show(std::shared_ptr<const SearchTree> tree,
            std::shared_ptr<const Problem> problem);  // null: empty
  // The step of the replay of the tree shown, or null: as it is. Call again after every step.
  void show_moment(const TreeReplay* replay);
  // Figures of another tree beside those of this one (both are `pair`'s); null: none.
  void compare(std::shared_ptr<const TreePair> pair);
  const std::shared_ptr<const SearchTree>& tree() const { return tree_; }
  const std::shared_ptr<const Problem>& problem() const { return problem_; }
  const TreePair* pair() const { return pair_.get(); }
  TreeMoment moment() const { return TreeMoment(*tree_, replay_); }
  bool compares() const { return pair_ != nullptr; }

  std::int32_t vertex_at(const QModelIndex& index) const;  // 0, the root, for an invalid index
  QModelIndex index_of(std::int32_t vertex);               // fetches what is above it
  Path path_to(std::int32_t vertex) const;
  std::int32_t find(const Path& path) const;  // -1: not in this tree
  const TreeReplay* replay() const { return replay_; }
  bool on_best_path(std::int32_t vertex) const;
  // On the best path; in a replay: on the path of its step.
  bool is_highlighted(std::int32_t vertex) const {
    return replay_ ? on_step_path(vertex) : on_best_path(vertex);
  }
  bool on_step_path(std::int32_t vertex) const { return step_path_.contains(vertex); }
  bool is_new(std::int32_t vertex) const { return replay_ && vertex == new_vertex_; }
  int marks(std::int32_t vertex) const;            // Mark bits
  QString action_text(std::int32_t vertex) const;  // "conv4 → AllReduce on v100"
  QString group_text(std::int32_t vertex) const;   // "conv4", what is decided here
  QString choice_text(std::int32_t vertex) const;  // "AllReduce on v100"
  QString decision_text(const Decision& decision) const;
  QString name_of_group(GroupId group) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  bool hasChildren(const QModelIndex& parent = {}) const override;
  bool canFetchMore(const QModelIndex& parent) const override;
  void fetchMore(const QModelIndex& parent) override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  // A row that was fetched: it stays while snapshots of the tree come and go. 0 is the root.
  struct Item {
    std::int32_t vertex = 0;
    std::int32_t parent = -1;  // index into items_
    int row = 0;
    bool fetched = false;
    std::vector<std::int32_t> children;  // items, as they are shown
  };

  const SearchTree::Vertex& vertex(std::int32_t id) const {
    return tree_->vertices[static_cast<std::size_t>(id)];
  }
  Item& item(std::int32_t id) { return items_[static_cast<std::size_t>(id)]; }
  const Item& item(std::int32_t id) const { return items_[static_cast<std::size_t>(id)]; }
  std::int32_t item_at(const QModelIndex& index) const {
    return index.isValid() ? static_cast<std::int32_t>(index.internalId()) : 0;
  }
  QModelIndex index_of_item(std::int32_t id, int column = 0) const;
  void reset(std::shared_ptr<const SearchTree> tree, std::shared_ptr<const Problem> problem);
  bool update(const std::shared_ptr<const SearchTree>& tree);
  void add_new_children(const SearchTree& tree);
  void sort();
  void fetch(std::int32_t item);
  void take_best_path();
  void figures_changed();
  QString tooltip(std::int32_t id) const;
  QVariant text(std::int32_t id, int column) const;
  QVariant font(std::int32_t id, int column) const;

  std::shared_ptr<const SearchTree> tree_;
  std::shared_ptr<const Problem> problem_;
  std::shared_ptr<const TreePair> pair_;
  const TreeReplay* replay_ = nullptr;
  std::vector<Item> items_;
  std::unordered_map<std::int32_t, std::int32_t> item_of_;  // by vertex
  std::unordered_set<std::int32_t> best_, step_path_;
  std::int32_t new_vertex_ = -1;
  mutable std::unordered_map<std::int32_t, QString> texts_;  // by action
};

// Children of `id`, most visited first; ties: the better value, then the lower action.
std::vector<std::int32_t> children_by_visits(const SearchTree& tree, std::int32_t id);

}  // namespace strato
