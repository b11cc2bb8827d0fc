#include "views/models/workspace_model.h"

#include <QFont>
#include <algorithm>

#include "core/base/error.h"
#include "views/models/workspace_nodes.h"
#include "views/style/text.h"

namespace strato {
namespace {

StoredKind stored_kind(WorkspaceModel::Kind kind) {
  switch (kind) {
    case WorkspaceModel::Kind::Model:
      return StoredKind::Model;
    case WorkspaceModel::Kind::Cluster:
      return StoredKind::Cluster;
    case WorkspaceModel::Kind::Run:
      return StoredKind::Run;
    default:
      return StoredKind::Strategy;
  }
}

const WorkspaceModel::Node* find_node(const WorkspaceModel::Node& from, WorkspaceModel::Kind kind,
                                      std::int64_t row) {
  if (from.kind == kind && from.row == row && from.parent) return &from;
  for (const auto& child : from.children)
    if (const auto* found = find_node(*child, kind, row)) return found;
  return nullptr;
}

}  // namespace

WorkspaceModel::WorkspaceModel(Session& session, QObject* parent)
    : QAbstractItemModel(parent), session_(session), root_(std::make_unique<Node>()) {
  connect(&session_, &Session::workspace_changed, this, &WorkspaceModel::refresh);
  connect(&session_, &Session::problem_changed, this, &WorkspaceModel::follow);
  connect(&session_, &Session::strategy_changed, this, &WorkspaceModel::follow);
  refresh();
}

WorkspaceModel::~WorkspaceModel() = default;

void WorkspaceModel::refresh() {
  auto root = std::make_unique<Node>();
  if (const WorkspaceLists* workspace = session_.workspace()) root = read_nodes(*workspace);
  if (root->has_same_shape(*root_)) {
    take_text(*root_, *root);
  } else {
    beginResetModel();
    root_ = std::move(root);
    endResetModel();
  }
  follow();
}

// Where the same strategy was stored more than once: that with the name that is shown, or the last.
const WorkspaceModel::Node* WorkspaceModel::find_shown() const {
  const WorkspaceLists* workspace = session_.workspace();
  const Snapshot& snapshot = session_.snapshot();
  if (workspace == nullptr || !snapshot.opened) return nullptr;
  const Digest& model = snapshot.opened->graph->digest();
  const auto stored = workspace->strategies_of(model, snapshot.opened->cluster->digest());
  const Digest digest = snapshot.strategy.digest();
  const Node* last = nullptr;
  for (const StoredStrategy* strategy : stored) {
    if (strategy->digest != digest) continue;
    bool of_run = false;  // what several have found is stored once
    for (const StoredRun& run : workspace->runs()) {
      if (run.best != strategy->id) continue;
      of_run = true;
      const Node* node = find_node(*root_, Kind::Run, run.id);
      if (node != nullptr && node->name == snapshot.label) return node;
      if (node != nullptr) last = node;
    }
    if (of_run) continue;
    const Node* node = find_node(*root_, Kind::Strategy, strategy->id);
    if (node == nullptr) continue;
    if (node->name == snapshot.label) return node;
    last = node;
  }
  if (!stored.empty()) return last;
  const auto row = std::ranges::find(workspace->models(), model, &StoredModel::digest);
  return row == workspace->models().end() ? nullptr : find_node(*root_, Kind::Model, row->id);
}

void WorkspaceModel::follow() {
  const Node* found = find_shown();
  const std::pair now =
      found ? std::pair(found->kind, found->row) : std::pair(Kind::Section, std::int64_t{0});
  if (now == shown_) return;
  const QModelIndex before = shown();
  shown_ = now;
  for (const QModelIndex& index : {before, shown()})
    if (index.isValid())
      emit dataChanged(index, index.siblingAtColumn(kColumns - 1), {Qt::FontRole});
  emit shown_changed();
}

QModelIndex WorkspaceModel::shown() const {
  return shown_.first == Kind::Section ? QModelIndex() : find(shown_.first, shown_.second);
}

// The same rows: views keep what they have chosen and opened.
void WorkspaceModel::take_text(Node& node, Node& other) {
  if (!node.has_same_text(other)) {
    node.take_text(other);
    if (node.parent)
      emit dataChanged(createIndex(node.position, 0, &node),
                       createIndex(node.position, kColumns - 1, &node));
  }
  for (std::size_t i = 0; i < node.children.size(); ++i)
    take_text(*node.children[i], *other.children[i]);
}

const WorkspaceModel::Node* WorkspaceModel::node(const QModelIndex& index) const {
  return index.isValid() ? static_cast<const Node*>(index.internalPointer()) : root_.get();
}

QModelIndex WorkspaceModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  return createIndex(row, column, node(parent)->children[static_cast<std::size_t>(row)].get());
}

QModelIndex WorkspaceModel::parent(const QModelIndex& child) const {
  const Node* above = child.isValid() ? node(child)->parent : nullptr;
  if (!above || above == root_.get()) return {};
  return createIndex(above->position, 0, above);
}

int WorkspaceModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : static_cast<int>(node(parent)->children.size());
}
int WorkspaceModel::columnCount(const QModelIndex&) const { return kColumns; }

QModelIndex WorkspaceModel::find(Kind kind, std::int64_t row) const {
  const Node* found = find_node(*root_, kind, row);
  return found ? createIndex(found->position, 0, found) : QModelIndex();
}

std::vector<WorkspaceModel::Ancestor> WorkspaceModel::lineage(const QModelIndex& index) const {
  std::vector<Ancestor> line;
  if (!index.isValid()) return line;
  const Node& item = *node(index);
  for (const Node* at = item.origin; at; at = at->origin) {
    line.push_back({at->kind, at->row, at->name});
    if (line.size() <= kLongestLine) continue;
    line.erase(line.begin() + kLongestLine / 2);  // the middle of a long one is left out
    line[kLongestLine / 2 - 1].cut = true;
  }
  for (const auto& [kind, row] :
       {std::pair{Kind::Cluster, item.cluster}, {Kind::Model, item.model}})
    if (const Node* part = find_node(*root_, kind, row)) line.push_back({kind, row, part->name});
  std::ranges::reverse(line);
  return line;
}

QVariant WorkspaceModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Node& item = *node(index);
  switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
      if (index.column() == Name) return item.name;
      return item.feasible ? item.detail : item.detail + QStringLiteral(" !");
    case Qt::ToolTipRole:
      if (!item.feasible) return item.tip + QLatin1Char('\n') + tr("Does not fit into memory");
      return item.tip.isEmpty() ? QVariant() : item.tip;
    case Qt::AccessibleTextRole:
      if (index.column() != Name || item.tags.isEmpty()) return {};
      return tr("%1, tags: %2").arg(item.name, item.tags.join(QStringLiteral(", ")));
    case Qt::TextAlignmentRole:
      return QVariant((index.column() == Step ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::FontRole: {
      QFont font;
      font.setBold(true);
      const bool shown = std::pair(item.kind, item.row) == shown_;
      return item.kind == Kind::Section || shown ? QVariant(font) : QVariant();
    }
    case KindRole:
      return static_cast<int>(item.kind);
    case RowRole:
      return static_cast<qlonglong>(item.row);
    case TagsRole:
      return item.tags;
    case NoteRole:
      return item.note;
    case PictureRole:
      return static_cast<qlonglong>(item.picture);
    default:
      return {};
  }
}

QVariant WorkspaceModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == Name ? tr("Name") : tr("Step");
}

Qt::ItemFlags WorkspaceModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = QAbstractItemModel::flags(index);
  if (!index.isValid()) return flags;
  const Kind kind = node(index)->kind;
  if (kind == Kind::Section) flags &= ~Qt::ItemIsSelectable;
  if (kind == Kind::Strategy && index.column() == Name) flags |= Qt::ItemIsEditable;
  return flags;
}

bool WorkspaceModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  const QString label = value.toString().trimmed();
  if (role != Qt::EditRole || !(flags(index) & Qt::ItemIsEditable) || label.isEmpty()) return false;
  session_.rename_strategy(node(index)->row, label);  // comes back through refresh()
  return true;
}

QString WorkspaceModel::annotate(const QModelIndex& index, const QString& tags,
                                 const QString& note) {
  if (!index.isValid() || node(index)->kind == Kind::Section) return tr("Choose something first");
  const Node& item = *node(index);
  Annotation said;
  try {
    said = {parse_tags(tags.toStdString()), note.trimmed().toStdString()};
  } catch (const InputError& error) {
    return strato::text(error.what());
  }
  const StoredItem stored{stored_kind(item.kind), item.row};
  session_.in_workspace([stored, said](Workspace& workspace) {
    if (workspace.annotations().of(stored) != said) workspace.annotations().set(stored, said);
  });
  return {};
}

}  // namespace strato
