#include "views/models/variable_model.h"

#include <QStringList>
#include <algorithm>

#include "core/strategy/value/variable_check.h"
#include "views/models/variable_edits.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

QString shape_text(const Tensor& tensor) {
  QStringList extents;
  for (const std::int64_t extent : tensor.shape) extents << QString::number(extent);
  return extents.empty() ? VariableModel::tr("scalar") : extents.join(QStringLiteral(" × "));
}

}  // namespace

VariableModel::VariableModel(Session& session, QObject* parent)
    : QAbstractTableModel(parent), session_(session) {
  connect(&session_, &Session::problem_changed, this, &VariableModel::take_selection);
  connect(&session_.selection(), &Selection::changed, this, &VariableModel::take_selection);
  connect(&session_, &Session::strategy_changed, this, &VariableModel::refresh);
  connect(&session_, &Session::outcome_changed, this, &VariableModel::refresh);
  take_selection();
}

void VariableModel::take_selection() {
  const std::shared_ptr<const Problem> problem = session_.snapshot().problem;
  const std::vector<GroupId>& groups = session_.selection().groups();
  if (problem == problem_ && groups == groups_) return;
  beginResetModel();
  problem_ = problem;
  groups_ = groups;
  updates_ = problem_ ? variables_of(*problem_, groups_) : std::vector<OpId>();
  endResetModel();
}

// Only what is said about the variables has changed.
void VariableModel::refresh() {
  if (session_.snapshot().problem != problem_) return take_selection();
  if (!updates_.empty())
    emit dataChanged(index(0, Name), index(static_cast<int>(updates_.size()) - 1, kColumns - 1));
}

int VariableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(updates_.size());
}

int VariableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(kColumns);
}

int VariableModel::row_of(OpId update) const {
  const auto at = std::ranges::find(updates_, update);
  return at == updates_.end() ? -1 : static_cast<int>(at - updates_.begin());
}

int VariableModel::by_hand() const {
  const Strategy& strategy = session_.snapshot().strategy;
  return static_cast<int>(std::ranges::count_if(
      updates_, [&](OpId update) { return sync_of(strategy, update) != nullptr; }));
}

QString VariableModel::text_of(OpId update, int column) const {
  const Tensor& variable = problem_->graph->tensor(parameter_of(*problem_->graph, update));
  const Strategy& strategy = session_.snapshot().strategy;
  switch (column) {
    case Name:
      return text(variable.name);
    case Group:
      return text(problem_->grouping->group(problem_->grouping->group_of(update)).name);
    case ShapeOf:
      return shape_text(variable);
    case Size:
      return style::bytes(variable.bytes());
    case Synchronised: {  // with the encoding, whose own column may be hidden
      const QString words = sync_words(strategy, *problem_, update);
      const QString encoding = encoding_words(strategy, update);
      return encoding == encoding_words(Encoding::None) ? words
                                                        : words + QStringLiteral(", ") + encoding;
    }
    case EncodedAs:
      return encoding_words(strategy, update);
    default:
      return {};
  }
}

QVariant VariableModel::data(const QModelIndex& index, int role) const {
  const Strategy& strategy = session_.snapshot().strategy;
  const bool same_groups = problem_ && strategy.groups.size() == problem_->grouping->size();
  if (!index.isValid() || index.row() >= rowCount() || !same_groups) return {};
  const OpId update = update_at(index.row());
  const Tensor& variable = problem_->graph->tensor(parameter_of(*problem_->graph, update));
  switch (role) {
    case Qt::DisplayRole:
      return text_of(update, index.column());
    case SortRole:
      return index.column() == Size ? QVariant(static_cast<qlonglong>(variable.bytes().value))
                                    : QVariant(text_of(update, index.column()));
    case UpdateRole:
      return update.value();
    case ByHandRole:
      return sync_of(strategy, update) != nullptr;
    case Qt::TextAlignmentRole:
      return QVariant((index.column() == Size ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ToolTipRole: {
      const VariableSync* sync = sync_of(strategy, update);
      return sync ? text(describe(*sync, *problem_->graph, *problem_->cluster))
                  : QStringLiteral("%1, %2, %3: %4")
                        .arg(text(variable.name), shape_text(variable),
                             style::bytes(variable.bytes()),
                             sync_words(strategy, *problem_, update));
    }
    default:
      return {};
  }
}

QVariant VariableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant((section == Size ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case Name:
      return tr("Variable");
    case Group:
      return tr("Op group");
    case ShapeOf:
      return tr("Shape");
    case Size:
      return tr("Size");
    case Synchronised:
      return tr("Synchronised");
    case EncodedAs:
      return tr("Encoding");
    default:
      return {};
  }
}

}  // namespace strato
