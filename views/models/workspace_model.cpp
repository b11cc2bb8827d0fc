#include "views/models/workspace_model.h"

#include <QFont>
#include <QTimer>
#include <map>

#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {

struct WorkspaceModel::Node {
  Kind kind = Kind::Section;
  std::int64_t row = 0;
  QString name, detail, tip;
  bool feasible = true;
  Node* parent = nullptr;
  int position = 0;
  std::vector<std::unique_ptr<Node>> children;

  Node& add(Kind kind_of_child, std::int64_t row_of_child, QString text) {
    auto child = std::make_unique<Node>();
    child->kind = kind_of_child;
    child->row = row_of_child;
    child->name = std::move(text);
    child->parent = this;
    child->position = static_cast<int>(children.size());
    children.push_back(std::move(child));
    return *children.back();
  }

  bool same_as(const Node& other) const {
    if (kind != other.kind || row != other.row || name != other.name || detail != other.detail ||
        children.size() != other.children.size()) {
      return false;
    }
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (!children[i]->same_as(*other.children[i])) return false;
    }
    return true;
  }
};

namespace {

using Strategies = std::map<std::optional<StrategyRow>, std::vector<const StoredStrategy*>>;

QString time_or_nothing(std::int64_t nanos) {
  return nanos > 0 ? style::time(Nanos(nanos)) : QString();
}

QString tip_of(const StoredRun& run) {
  QString tip = QStringLiteral("%1 #%2, %3: %4 evaluations in %5 s\nBegun %6")
                    .arg(text(run.planner))
                    .arg(run.id)
                    .arg(QString::fromUtf8(name_of(run.state).data()))
                    .arg(run.evaluations)
                    .arg(style::significant(run.wall_seconds), text(run.created));
  if (run.best_ns > 0 && run.baseline_ns > 0) {
    tip += QStringLiteral("\n%1 data parallel")
               .arg(style::factor(static_cast<double>(run.baseline_ns) /
                                  static_cast<double>(run.best_ns)));
  }
  return run.note.empty() ? tip : tip + QStringLiteral("\n") + text(run.note);
}

}  // namespace

WorkspaceModel::WorkspaceModel(Session& session, QObject* parent)
    : QAbstractItemModel(parent), session_(session), root_(std::make_unique<Node>()) {
  connect(&session_, &Session::workspace_changed, this, &WorkspaceModel::refresh);
  auto* timer = new QTimer(this);
  connect(timer, &QTimer::timeout, this, &WorkspaceModel::poll);
  timer->start(2000);
  refresh();
}

WorkspaceModel::~WorkspaceModel() = default;

void WorkspaceModel::poll() {
  const Workspace* workspace = session_.workspace();
  if (workspace && workspace->data_version() != version_) refresh();
}

void WorkspaceModel::refresh() {
  auto root = std::make_unique<Node>();
  if (const Workspace* workspace = session_.workspace()) {
    version_ = workspace->data_version();
    const std::vector<StoredStrategy> strategies = workspace->strategies();
    std::map<StrategyRow, const StoredStrategy*> by_row;
    Strategies edits;
    for (const StoredStrategy& strategy : strategies) {
      by_row[strategy.id] = &strategy;
      edits[strategy.parent].push_back(&strategy);
    }
    // Edits hang below what they were made from; depth first without recursion limits of note.
    const std::function<void(Node&, StrategyRow)> add_edits = [&](Node& node, StrategyRow parent) {
      for (const StoredStrategy* edit : edits[parent]) {
        if (edit->run) continue;
        Node& child = node.add(Kind::Strategy, edit->id, text(edit->label));
        child.detail = time_or_nothing(edit->step_time_ns);
        child.feasible = edit->feasible;
        child.tip = text(edit->label) + QStringLiteral("\nStored ") + text(edit->created);
        add_edits(child, edit->id);
      }
    };
    Node& models = root->add(Kind::Section, 0, QStringLiteral("Models"));
    for (const StoredModel& model : workspace->models()) {
      models.add(Kind::Model, model.id, text(model.name)).tip =
          text(model.path) + QStringLiteral("\n") + text(model.options);
    }
    Node& clusters = root->add(Kind::Section, 1, QStringLiteral("Clusters"));
    for (const StoredCluster& cluster : workspace->clusters()) {
      clusters.add(Kind::Cluster, cluster.id, text(cluster.name));
    }
    Node& runs = root->add(Kind::Section, 2, QStringLiteral("Runs"));
    const std::vector<StoredRun> stored_runs = workspace->runs();
    for (auto run = stored_runs.rbegin(); run != stored_runs.rend(); ++run) {
      Node& node = runs.add(Kind::Run, run->id,
                            QStringLiteral("%1 #%2").arg(text(run->planner)).arg(run->id));
      node.detail =
          run->state == RunState::Failed ? QStringLiteral("failed") : time_or_nothing(run->best_ns);
      node.tip = tip_of(*run);
      if (!run->best) continue;
      for (const StoredStrategy& strategy : strategies) {  // its bests so far may have been edited
        if (strategy.run == run->id) add_edits(node, strategy.id);
      }
    }
    Node& rest = root->add(Kind::Section, 3, QStringLiteral("Strategies"));
    for (const StoredStrategy* strategy : edits[std::nullopt]) {
      if (strategy->run) continue;
      Node& node = rest.add(Kind::Strategy, strategy->id, text(strategy->label));
      node.detail = time_or_nothing(strategy->step_time_ns);
      node.feasible = strategy->feasible;
      add_edits(node, strategy->id);
    }
    for (std::size_t i = root->children.size(); i-- > 0;) {  // no empty sections
      if (root->children[i]->children.empty())
        root->children.erase(root->children.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (std::size_t i = 0; i < root->children.size(); ++i) {
      root->children[i]->position = static_cast<int>(i);
    }
  }
  if (root->same_as(*root_)) return;
  beginResetModel();
  root_ = std::move(root);
  endResetModel();
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

QVariant WorkspaceModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Node& item = *node(index);
  switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
      if (index.column() == Name) return item.name;
      return item.feasible ? item.detail : item.detail + QStringLiteral(" !");
    case Qt::ToolTipRole:
      if (!item.feasible) return item.tip + QStringLiteral("\nDoes not fit into memory");
      return item.tip.isEmpty() ? QVariant() : item.tip;
    case Qt::TextAlignmentRole:
      return QVariant((index.column() == Step ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::FontRole: {
      QFont font;
      font.setBold(item.kind == Kind::Section);
      return item.kind == Kind::Section ? QVariant(font) : QVariant();
    }
    case KindRole:
      return static_cast<int>(item.kind);
    case RowRole:
      return static_cast<qlonglong>(item.row);
    default:
      return {};
  }
}

QVariant WorkspaceModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == Name ? QStringLiteral("Name") : QStringLiteral("Step");
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

}  // namespace strato
