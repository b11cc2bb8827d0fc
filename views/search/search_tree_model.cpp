#include "views/search/search_tree_model.h"

#include <QFont>
#include <QGuiApplication>
#include <algorithm>

#include "views/models/strategy_edits.h"
#include "views/style/style.h"

namespace strato {

std::vector<std::int32_t> children_by_visits(const SearchTree& tree, std::int32_t id) {
  const SearchTree::Vertex& parent = tree.vertices[static_cast<std::size_t>(id)];
  std::vector<std::int32_t> children;
  for (std::int32_t i = 0; i < parent.child_count; ++i) children.push_back(parent.first_child + i);
  std::sort(children.begin(), children.end(), [&](std::int32_t a, std::int32_t b) {
    const SearchTree::Vertex &x = tree.vertices[static_cast<std::size_t>(a)],
                             &y = tree.vertices[static_cast<std::size_t>(b)];
    if (x.visits != y.visits) return x.visits > y.visits;
    if (x.value() != y.value()) return x.value() > y.value();
    return x.action < y.action;
  });
  return children;
}

void SearchTreeModel::show(std::shared_ptr<const SearchTree> tree,
                           std::shared_ptr<const Problem> problem) {
  beginResetModel();
  tree_ = tree && !tree->vertices.empty() ? std::move(tree) : nullptr;
  problem_ = std::move(problem);
  fetched_.clear();
  row_.clear();
  best_.clear();
  if (tree_) {
    best_.assign(tree_->vertices.size(), 0);
    for (const std::int32_t id : tree_->best_path()) best_[static_cast<std::size_t>(id)] = 1;
    best_[0] = 1;
    fetch(0);
  }
  endResetModel();
}

std::int32_t SearchTreeModel::vertex_at(const QModelIndex& index) const {
  return index.isValid() ? static_cast<std::int32_t>(index.internalId()) : 0;
}

SearchTreeModel::Path SearchTreeModel::path_to(std::int32_t id) const {
  Path path;
  for (; id > 0; id = vertex(id).parent) path.push_back(vertex(id).action);
  std::reverse(path.begin(), path.end());
  return path;
}

std::int32_t SearchTreeModel::find(const Path& path) const {
  if (!tree_) return -1;
  std::int32_t at = 0;
  for (const std::int32_t action : path) {
    const SearchTree::Vertex& here = vertex(at);
    std::int32_t next = -1;
    for (std::int32_t i = 0; i < here.child_count && next < 0; ++i) {
      if (vertex(here.first_child + i).action == action) next = here.first_child + i;
    }
    if (next < 0) return -1;
    at = next;
  }
  return at;
}

QModelIndex SearchTreeModel::index_of(std::int32_t id) {
  if (!tree_ || id <= 0) return {};
  const QModelIndex above = index_of(vertex(id).parent);
  if (canFetchMore(above)) fetchMore(above);
  return createIndex(row_.at(id), 0, static_cast<quintptr>(id));
}

bool SearchTreeModel::on_best_path(std::int32_t id) const {
  return id >= 0 && static_cast<std::size_t>(id) < best_.size() &&
         best_[static_cast<std::size_t>(id)] != 0;
}

QString SearchTreeModel::action_text(std::int32_t id) const {
  if (!tree_ || !problem_ || id <= 0) return tr("start");
  return group_text(id) + QStringLiteral(" → ") + choice_text(id);
}

// Unequal shares as parts of the batch: weights alone mean nothing to a reader.
QString SearchTreeModel::choice_text(std::int32_t id) const {
  const auto action = static_cast<std::size_t>(vertex(id).action);
  if (!problem_ || action >= tree_->actions.size()) return QString::number(action);
  const Decision& decision = tree_->actions[action];
  const Cluster& cluster = *problem_->cluster;
  const bool shared =
      decision.mode == Mode::ReplicateAllReduce || decision.mode == Mode::ReplicatePs;
  const bool equal = std::all_of(
      decision.devices.begin(), decision.devices.end(),
      [&](const DeviceShare& share) { return share.weight == decision.devices.front().weight; });
  if (!shared || equal) return describe_shares(decision, cluster);
  QStringList parts;
  for (const DeviceGroupId group : device_groups_of(decision, cluster)) {
    const DeviceGroupShare share = share_on(decision, cluster, group);
    QString part = QString::fromStdString(cluster.groups()[group].name);
    if (share.devices < share.of)
      part += QStringLiteral(" (%1 of %2)").arg(share.devices).arg(share.of);
    parts << part + QLatin1Char(' ') + style::percent(share.share);
  }
  const std::string_view mode = label_of(decision.mode);
  return QString::fromUtf8(mode.data(), static_cast<qsizetype>(mode.size())) + tr(" on ") +
         parts.join(QStringLiteral(", "));
}

QString SearchTreeModel::group_text(std::int32_t id) const {
  const auto depth = static_cast<std::size_t>(vertex(id).depth - 1);
  if (!problem_ || depth >= tree_->order.size()) return {};
  QString group = QString::number(tree_->order[depth].value());
  if (tree_->order[depth].index() < problem_->grouping->size()) {
    group = QString::fromStdString(problem_->grouping->group(tree_->order[depth]).name);
    const qsizetype last = group.lastIndexOf(QLatin1Char('/'));
    if (last > 0) group = group.mid(group.lastIndexOf(QLatin1Char('/'), last - 1) + 1);
  }
  return group;
}

QModelIndex SearchTreeModel::index(int row, int column, const QModelIndex& parent) const {
  const auto found = fetched_.find(vertex_at(parent));
  if (found == fetched_.end() || row < 0 || column < 0 || column >= ColumnCount ||
      row >= static_cast<int>(found->second.size()) || parent.column() > 0) {
    return {};
  }
  return createIndex(row, column,
                     static_cast<quintptr>(found->second[static_cast<std::size_t>(row)]));
}

QModelIndex SearchTreeModel::parent(const QModelIndex& child) const {
  if (!child.isValid()) return {};
  const std::int32_t above = vertex(vertex_at(child)).parent;
  return above <= 0 ? QModelIndex() : createIndex(row_.at(above), 0, static_cast<quintptr>(above));
}

int SearchTreeModel::rowCount(const QModelIndex& parent) const {
  if (parent.column() > 0) return 0;
  const auto found = fetched_.find(vertex_at(parent));
  return found == fetched_.end() ? 0 : static_cast<int>(found->second.size());
}

int SearchTreeModel::columnCount(const QModelIndex&) const { return ColumnCount; }

bool SearchTreeModel::hasChildren(const QModelIndex& parent) const {
  return tree_ && parent.column() <= 0 && vertex(vertex_at(parent)).child_count > 0;
}

bool SearchTreeModel::canFetchMore(const QModelIndex& parent) const {
  return hasChildren(parent) && !fetched_.contains(vertex_at(parent));
}

void SearchTreeModel::fetch(std::int32_t id) {
  std::vector<std::int32_t> children = children_by_visits(*tree_, id);
  for (std::size_t i = 0; i < children.size(); ++i) row_[children[i]] = static_cast<int>(i);
  fetched_[id] = std::move(children);
}

void SearchTreeModel::fetchMore(const QModelIndex& parent) {
  if (!canFetchMore(parent)) return;
  const std::int32_t id = vertex_at(parent);
  beginInsertRows(parent, 0, vertex(id).child_count - 1);
  fetch(id);
  endInsertRows();
}

QString SearchTreeModel::tooltip(std::int32_t id) const {
  const SearchTree::Vertex& v = vertex(id);
  QString text = QStringLiteral("<b>%1</b>").arg(action_text(id).toHtmlEscaped());
  if (v.step_time_ns > 0)
    text += tr("<br>its own step time %1").arg(style::time(Nanos(v.step_time_ns)));
  if (v.reward <= -1) text += tr("<br>does not fit into memory");
  text += tr("<br>%1 of %2 actions tried below it").arg(v.child_count).arg(tree_->actions.size());
  return text + tr("<br>double click shows this strategy");
}

QVariant SearchTreeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !tree_) return {};
  const std::int32_t id = vertex_at(index);
  const SearchTree::Vertex& v = vertex(id);
  switch (role) {
    case Qt::DisplayRole:
      switch (index.column()) {
        case Action:
          return choice_text(id);
        case Group:
          return group_text(id);
        case Visits:
          return QString::number(v.visits);
        case Value:
          return style::significant(v.value(), 2);
        case Prior:
          return style::significant(v.prior, 2);
        case StepTime:
          if (v.step_time_ns == 0) return QStringLiteral("–");
          return v.reward <= -1 ? tr("no room") : style::time(Nanos(v.step_time_ns));
        default:
          return {};
      }
    case Qt::TextAlignmentRole:
      return index.column() <= Group ? QVariant() : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      return index.column() == Group ? QVariant(style::muted_text(QGuiApplication::palette()))
                                     : QVariant();
    case Qt::FontRole:
      if (on_best_path(id)) {
        QFont font;
        font.setBold(true);
        return font;
      }
      return {};
    case Qt::ToolTipRole:
      return tooltip(id);
    default:
      return {};
  }
}

QVariant SearchTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  static const char* const names[] = {QT_TR_NOOP("Decision"), QT_TR_NOOP("Group"),
                                      QT_TR_NOOP("Visits"),   QT_TR_NOOP("Value"),
                                      QT_TR_NOOP("Prior"),    QT_TR_NOOP("Step time")};
  static const char* const help[] = {
      QT_TR_NOOP("Where the group of this row goes"),
      QT_TR_NOOP("The group that is decided at this depth"),
      QT_TR_NOOP("How often the search went this way"),
      QT_TR_NOOP("Mean of baseline time / step time - 1 below it; -1 does not fit into memory"),
      QT_TR_NOOP("How promising the action looked before it was tried"),
      QT_TR_NOOP("Of this partial strategy, the rest decided like the most expensive group")};
  if (section < 0 || section >= ColumnCount) return {};
  if (role == Qt::DisplayRole) return tr(names[section]);
  if (role == Qt::ToolTipRole) return tr(help[section]);
  if (role == Qt::TextAlignmentRole && section > Group)
    return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  return {};
}

}  // namespace strato
