// A search tree as a Qt item model: one row per tried action, most visited first, fetched when a
// vertex is opened. A new snapshot of the tree resets the model; vertices are found again by the
// actions that lead to them.
#pragma once

#include <QAbstractItemModel>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/search/problem.h"
#include "core/search/search_tree.h"

namespace strato {

class SearchTreeModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum Column { Action, Group, Visits, Value, Prior, StepTime, ColumnCount };
  using Path = std::vector<std::int32_t>;  // actions from the root

  using QAbstractItemModel::QAbstractItemModel;
  void show(std::shared_ptr<const SearchTree> tree,
            std::shared_ptr<const Problem> problem);  // null: empty
  const std::shared_ptr<const SearchTree>& tree() const { return tree_; }

  std::int32_t vertex_at(const QModelIndex& index) const;  // 0, the root, for an invalid index
  QModelIndex index_of(std::int32_t vertex);               // fetches what is above it
  Path path_to(std::int32_t vertex) const;
  std::int32_t find(const Path& path) const;  // -1: not in this tree
  bool on_best_path(std::int32_t vertex) const;
  QString action_text(std::int32_t vertex) const;  // "conv4 → AllReduce on v100"
  QString group_text(std::int32_t vertex) const;   // "conv4", what is decided here
  QString choice_text(std::int32_t vertex) const;  // "AllReduce on v100"

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
  const SearchTree::Vertex& vertex(std::int32_t id) const {
    return tree_->vertices[static_cast<std::size_t>(id)];
  }
  void fetch(std::int32_t id);
  QString tooltip(std::int32_t id) const;

  std::shared_ptr<const SearchTree> tree_;
  std::shared_ptr<const Problem> problem_;
  std::unordered_map<std::int32_t, std::vector<std::int32_t>> fetched_;  // children by visits
  std::unordered_map<std::int32_t, int> row_;                            // of fetched vertices
  std::vector<char> best_;                                               // per vertex
};

// Children of `id`, most visited first; ties: the better value, then the lower action.
std::vector<std::int32_t> children_by_visits(const SearchTree& tree, std::int32_t id);

}  // namespace strato
