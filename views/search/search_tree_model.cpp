#include "views/search/search_tree_model.h"

#include <QFont>
#include <QGuiApplication>
#include <algorithm>

#include "core/search/tree/search_tree.h"
#include "views/models/steering.h"
#include "views/models/strategy_edits.h"
#include "views/style/style.h"

namespace strato {

std::vector<std::int32_t> children_by_visits(const SearchTree& tree, std::int32_t id) {
  std::vector<std::int32_t> children = tree.children(id);
  std::sort(children.begin(), children.end(), [&](std::int32_t a, std::int32_t b) {
    const SearchTree::Vertex &x = tree.vertices[static_cast<std::size_t>(a)],
                             &y = tree.vertices[static_cast<std::size_t>(b)];
    if (x.visits != y.visits) return x.visits > y.visits;
    if (x.value() != y.value()) return x.value() > y.value();
    return x.action < y.action;
  });
  return children;
}

SearchTreeModel::SearchTreeModel(QObject* parent) : QAbstractItemModel(parent), items_(1) {}

void SearchTreeModel::show(std::shared_ptr<const SearchTree> tree,
                           std::shared_ptr<const Problem> problem) {
  if (tree && tree->vertices.empty()) tree = nullptr;
  if (tree == tree_ && problem == problem_) return;
  const bool goes_on =
      tree && tree_ && !pair_ && !replay_ && problem == problem_ && tree->order == tree_->order &&
      tree->actions.size() >= tree_->actions.size() &&
      std::equal(tree_->actions.begin(), tree_->actions.end(), tree->actions.begin());
  if (!goes_on || !update(tree)) reset(std::move(tree), std::move(problem));
}

void SearchTreeModel::reset(std::shared_ptr<const SearchTree> tree,
                            std::shared_ptr<const Problem> problem) {
  beginResetModel();
  tree_ = std::move(tree);
  problem_ = std::move(problem);
  replay_ = nullptr;
  pair_.reset();
  step_path_.clear();
  items_.assign(1, Item());
  item_of_ = {{0, 0}};
  texts_.clear();
  best_.clear();
  if (tree_) {
    take_best_path();
    fetch(0);
  }
  endResetModel();
}

// False, and nothing is changed, when a row that is shown is not in the tree.
bool SearchTreeModel::update(const std::shared_ptr<const SearchTree>& tree) {
  std::vector<std::int32_t> place(items_.size(), 0);
  std::vector<std::int32_t> child_of(tree->actions.size(), -1);
  for (std::size_t i = 0; i < items_.size(); ++i) {  // parents come before their children
    if (!items_[i].fetched) continue;
    const std::vector<std::int32_t> now = tree->children(place[i]);
    for (const std::int32_t child : now)
      child_of[static_cast<std::size_t>(tree->vertices[static_cast<std::size_t>(child)].action)] =
          child;
    bool all = true;
    for (const std::int32_t child : items_[i].children) {
      const std::int32_t found =
          child_of[static_cast<std::size_t>(vertex(item(child).vertex).action)];
      place[static_cast<std::size_t>(child)] = found;
      all &= found >= 0;
    }
    for (const std::int32_t child : now)
      child_of[static_cast<std::size_t>(tree->vertices[static_cast<std::size_t>(child)].action)] =
          -1;
    if (!all) return false;
  }
  tree_ = tree;
  item_of_.clear();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    items_[i].vertex = place[i];
    item_of_[place[i]] = static_cast<std::int32_t>(i);
  }
  take_best_path();
  add_new_children(*tree);
  sort();
  return true;
}

void SearchTreeModel::add_new_children(const SearchTree& tree) {
  const std::size_t known = items_.size();
  for (std::size_t i = 0; i < known; ++i) {
    const auto id = static_cast<std::int32_t>(i);
    if (!items_[i].fetched) continue;
    std::vector<std::int32_t> fresh;
    for (const std::int32_t child : tree.children(items_[i].vertex)) {
      if (!item_of_.contains(child)) fresh.push_back(child);
    }
    if (fresh.empty()) continue;
    const int begin = static_cast<int>(items_[i].children.size());
    beginInsertRows(index_of_item(id), begin, begin + static_cast<int>(fresh.size()) - 1);
    for (const std::int32_t child : fresh) {
      const auto place = static_cast<std::int32_t>(items_.size());
      items_.push_back({child, id, static_cast<int>(items_[i].children.size()), false, {}});
      items_[i].children.push_back(place);
      item_of_[child] = place;
    }
    endInsertRows();
  }
}

void SearchTreeModel::sort() {
  emit layoutAboutToBeChanged({}, VerticalSortHint);
  for (Item& parent : items_) {
    if (!parent.fetched) continue;
    std::vector<std::int32_t> sorted;
    for (const std::int32_t child : children_by_visits(*tree_, parent.vertex)) {
      const std::int32_t place = item_of_.at(child);
      item(place).row = static_cast<int>(sorted.size());
      sorted.push_back(place);
    }
    parent.children = std::move(sorted);
  }
  const QModelIndexList before = persistentIndexList();
  QModelIndexList after;
  for (const QModelIndex& index : before) after << index_of_item(item_at(index), index.column());
  changePersistentIndexList(before, after);
  emit layoutChanged({}, VerticalSortHint);
}

void SearchTreeModel::take_best_path() {
  const std::vector<std::int32_t> path = tree_->best_path();
  best_ = {path.begin(), path.end()};
}

void SearchTreeModel::show_moment(const TreeReplay* replay) {
  if (!tree_ || (replay && &replay->tree() != tree_.get())) return;
  replay_ = replay;
  step_path_.clear();
  new_vertex_ = -1;
  if (replay && replay->step() > 0) {
    const std::vector<std::int32_t> path = replay->path();
    step_path_ = {path.begin(), path.end()};
    if (replay->expanded() && !path.empty()) new_vertex_ = path.back();
  }
  figures_changed();
}

void SearchTreeModel::compare(std::shared_ptr<const TreePair> pair) {
  if (!pair) {
    pair_.reset();
    return;
  }
  reset(pair->both, problem_);
  pair_ = std::move(pair);
  best_ = {pair_->best.begin(), pair_->best.end()};
  figures_changed();
}

void SearchTreeModel::figures_changed() {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& parent = items_[i];
    if (parent.children.empty()) continue;
    emit dataChanged(index_of_item(parent.children.front()),
                     index_of_item(parent.children.back(), ColumnCount - 1));
  }
}

std::int32_t SearchTreeModel::vertex_at(const QModelIndex& index) const {
  return item(item_at(index)).vertex;
}

SearchTreeModel::Path SearchTreeModel::path_to(std::int32_t id) const {
  return strato::path_to(*tree_, id);
}

std::int32_t SearchTreeModel::find(const Path& path) const {
  return tree_ ? strato::find(*tree_, path) : -1;
}

QModelIndex SearchTreeModel::index_of_item(std::int32_t id, int column) const {
  if (id <= 0) return {};
  return createIndex(item(id).row, column, static_cast<quintptr>(id));
}

QModelIndex SearchTreeModel::index_of(std::int32_t id) {
  if (!tree_ || id <= 0) return {};
  const QModelIndex above = index_of(vertex(id).parent);
  if (canFetchMore(above)) fetchMore(above);
  return index_of_item(item_of_.at(id));
}

bool SearchTreeModel::on_best_path(std::int32_t id) const { return best_.contains(id); }

int SearchTreeModel::marks(std::int32_t id) const {
  const SearchTree::Vertex& v = vertex(id);
  int marks = 0;
  if (id > 0 && !tree_->pinned.empty()) {
    const auto depth = static_cast<std::size_t>(v.depth - 1);
    const auto& pin = tree_->pinned[tree_->order[depth]];
    if (pin && *pin == tree_->actions[static_cast<std::size_t>(v.action)]) marks |= Pinned;
  }
  if (v.weight > 1) marks |= Boosted;
  if (is_left_alone(*tree_, id)) marks |= Excluded;
  if (id == tree_->focus) marks |= Focus;
  if (is_new(id)) marks |= New;
  if (on_step_path(id)) marks |= OnPath;
  if (pair_ && id > 0 && id == pair_->parts && pair_->best != pair_->other_best) marks |= Parts;
  return marks;
}

QString SearchTreeModel::action_text(std::int32_t id) const {
  if (!tree_ || !problem_ || id <= 0) return tr("start");
  return group_text(id) + QStringLiteral(" → ") + choice_text(id);
}

QString SearchTreeModel::choice_text(std::int32_t id) const {
  const std::int32_t action = vertex(id).action;
  if (!problem_ || static_cast<std::size_t>(action) >= tree_->actions.size())
    return QString::number(action);
  QString& text = texts_[action];
  if (text.isEmpty()) text = decision_text(tree_->actions[static_cast<std::size_t>(action)]);
  return text;
}

// Unequal shares as parts of the batch: weights alone mean nothing to a reader.
QString SearchTreeModel::decision_text(const Decision& decision) const {
  const Cluster& cluster = *problem_->cluster;
  const bool shared = splits_batch(decision.mode);
  const bool equal = std::all_of(
      decision.devices.begin(), decision.devices.end(),
      [&](const DeviceShare& share) { return share.weight == decision.devices.front().weight; });
  if (!shared || equal) return describe_shares(decision, cluster);
  QStringList parts;
  for (const DeviceGroupId group : device_groups_of(decision, cluster)) {
    const DeviceGroupShare share = share_on(decision, cluster, group);
    QString part = QString::fromStdString(cluster.groups()[group].name);
    if (share.devices < share.of) part += tr(" (%1 of %2)").arg(share.devices).arg(share.of);
    parts << part + QStringLiteral(" %1 %").arg(qRound(100 * share.share));
  }
  const std::string_view mode = label_of(decision.mode);
  return QString::fromUtf8(mode.data(), static_cast<qsizetype>(mode.size())) + tr(" on ") +
         parts.join(QStringLiteral(", "));
}

QString SearchTreeModel::name_of_group(GroupId group) const {
  if (!problem_ || group.index() >= problem_->grouping->size())
    return QString::number(group.value());
  QString name = QString::fromStdString(problem_->grouping->group(group).name);
  const qsizetype last = name.lastIndexOf(QLatin1Char('/'));
  if (last > 0) name = name.mid(name.lastIndexOf(QLatin1Char('/'), last - 1) + 1);
  return name;
}

QString SearchTreeModel::group_text(std::int32_t id) const {
  const auto depth = static_cast<std::size_t>(vertex(id).depth - 1);
  if (!problem_ || depth >= tree_->order.size()) return {};
  return name_of_group(tree_->order[depth]);
}

QModelIndex SearchTreeModel::index(int row, int column, const QModelIndex& parent) const {
  if (!tree_ || row < 0 || column < 0 || column >= ColumnCount || parent.column() > 0) return {};
  const Item& above = item(item_at(parent));
  if (row >= static_cast<int>(above.children.size())) return {};
  return createIndex(row, column,
                     static_cast<quintptr>(above.children[static_cast<std::size_t>(row)]));
}

QModelIndex SearchTreeModel::parent(const QModelIndex& child) const {
  return child.isValid() ? index_of_item(item(item_at(child)).parent) : QModelIndex();
}

int SearchTreeModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : static_cast<int>(item(item_at(parent)).children.size());
}

int SearchTreeModel::columnCount(const QModelIndex&) const { return ColumnCount; }

bool SearchTreeModel::hasChildren(const QModelIndex& parent) const {
  return tree_ && parent.column() <= 0 && vertex(vertex_at(parent)).child_count > 0;
}

bool SearchTreeModel::canFetchMore(const QModelIndex& parent) const {
  return hasChildren(parent) && !item(item_at(parent)).fetched;
}

void SearchTreeModel::fetch(std::int32_t id) {
  const std::vector<std::int32_t> children = children_by_visits(*tree_, item(id).vertex);
  for (std::size_t i = 0; i < children.size(); ++i) {
    const auto place = static_cast<std::int32_t>(items_.size());
    items_.push_back({children[i], id, static_cast<int>(i), false, {}});
    item(id).children.push_back(place);
    item_of_[children[i]] = place;
  }
  item(id).fetched = true;
}

void SearchTreeModel::fetchMore(const QModelIndex& parent) {
  if (!canFetchMore(parent)) return;
  const std::int32_t id = item_at(parent);
  beginInsertRows(parent, 0, vertex(item(id).vertex).child_count - 1);
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
  const int marks = this->marks(id);
  if (marks & Pinned) text += tr("<br>pinned: the search keeps to it");
  if (v.weight > 1) text += tr("<br>boosted: its prior counts %1 times").arg(v.weight);
  if (v.weight == 0) text += tr("<br>excluded: the search leaves it alone");
  if (!(v.weight == 0) && (marks & Excluded))
    text += tr("<br>left alone because of a pin or above");
  if (marks & Focus) text += tr("<br>the search starts here");
  if (marks & Parts) text += tr("<br>the best paths of the two runs part below it");
  return text + tr("<br>double click shows this strategy");
}

QVariant SearchTreeModel::text(std::int32_t id, int column) const {
  const SearchTree::Vertex& v = vertex(id);
  const TreeMoment now = moment();
  const QString nothing = QStringLiteral("–");
  switch (column) {
    case Action:
      return choice_text(id);
    case Group:
      return group_text(id);
    case Visits:
      return now.visits(id) > 0 ? QString::number(now.visits(id)) : nothing;
    case Value:
      return now.visits(id) > 0 ? style::significant(now.value(id), 2) : nothing;
    case OtherVisits:
    case OtherValue: {
      if (!pair_) return {};
      const TreePair::Figures& other = pair_->other[static_cast<std::size_t>(id)];
      if (other.visits == 0) return nothing;
      return column == OtherVisits ? QString::number(other.visits)
                                   : style::significant(other.value, 2);
    }
    case Prior:
      return style::significant(v.prior, 2);
    case StepTime:
      if (v.step_time_ns == 0 || !now.exists(id)) return nothing;
      return v.reward <= -1 ? tr("no room") : style::time(Nanos(v.step_time_ns));
    default:
      return {};
  }
}

QVariant SearchTreeModel::font(std::int32_t id, int column) const {
  const bool bold = is_highlighted(id);
  const bool struck = column == Action && (marks(id) & Excluded);
  if (!bold && !struck) return {};
  QFont font;
  font.setBold(bold);
  font.setStrikeOut(struck);
  return font;
}

QVariant SearchTreeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !tree_) return {};
  const std::int32_t id = vertex_at(index);
  switch (role) {
    case Qt::DisplayRole:
      return text(id, index.column());
    case Qt::TextAlignmentRole:
      return index.column() <= Group ? QVariant() : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      return index.column() == Group || data(index, MutedRole).toBool()
                 ? QVariant(style::muted_text(QGuiApplication::palette()))
                 : QVariant();
    case Qt::FontRole:
      return font(id, index.column());
    case Qt::ToolTipRole:
      return tooltip(id);
    case VertexRole:
      return id;
    case MarkRole:
      return marks(id);
    case MutedRole:
      return (marks(id) & Excluded) != 0 || !moment().exists(id) ||
             (pair_ && pair_->first[static_cast<std::size_t>(id)] < 0);
    default:
      return {};
  }
}

QVariant SearchTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  static const char* const names[] = {
      QT_TR_NOOP("Decision"), QT_TR_NOOP("Group"),  QT_TR_NOOP("Visits"), QT_TR_NOOP("Value"),
      QT_TR_NOOP("Visits′"),  QT_TR_NOOP("Value′"), QT_TR_NOOP("Prior"),  QT_TR_NOOP("Step time")};
  static const char* const help[] = {
      QT_TR_NOOP("Where the group of this row goes"),
      QT_TR_NOOP("The group that is decided at this depth"),
      QT_TR_NOOP("N: how often the search went this way"),
      QT_TR_NOOP("Q: mean of baseline time / step time - 1 below it; -1 does not fit into memory"),
      QT_TR_NOOP("N of the run that this one is compared with"),
      QT_TR_NOOP("Q of the run that this one is compared with"),
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
