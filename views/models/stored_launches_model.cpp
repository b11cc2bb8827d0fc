#include "views/models/stored_launches_model.h"

#include <QDateTime>
#include <algorithm>

#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

QString local_time(const std::string& utc) {
  const QDateTime time = QDateTime::fromString(text(utc), Qt::ISODate);
  return time.isValid() ? time.toLocalTime().toString(QStringLiteral("yyyy-MM-dd hh:mm"))
                        : text(utc);
}

double error_of(const StoredLaunch& launch) {
  return static_cast<double>(launch.measured_ns) / static_cast<double>(launch.predicted_ns) - 1;
}
bool has_error(const StoredLaunch& launch) {
  return launch.measured_ns > 0 && launch.predicted_ns > 0;
}

bool is_right(int column) { return column >= StoredLaunchesModel::Predicted; }

}  // namespace

bool StoredLaunchesModel::Row::same_as(const Row& other) const {
  return launch.id == other.launch.id && launch.state == other.launch.state &&
         launch.measured_ns == other.launch.measured_ns && launch.note == other.launch.note &&
         plan == other.plan;
}

StoredLaunchesModel::StoredLaunchesModel(Session& session, QObject* parent)
    : QAbstractTableModel(parent), session_(session) {
  connect(&session_, &Session::workspace_changed, this, &StoredLaunchesModel::refresh);
  refresh();
}

void StoredLaunchesModel::refresh() {
  std::vector<Row> rows;
  if (const WorkspaceLists* workspace = session_.workspace()) {
    for (const StoredLaunch& launch : workspace->launches()) {
      const StoredStrategy* strategy = workspace->strategy(launch.strategy);
      rows.push_back({launch, strategy ? text(strategy->label) : QString()});
    }
  }
  std::reverse(rows.begin(), rows.end());
  const auto same = [](const Row& a, const Row& b) { return a.same_as(b); };
  if (std::equal(rows.begin(), rows.end(), rows_.begin(), rows_.end(), same)) return;
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

int StoredLaunchesModel::left_running() const {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].launch.state == LaunchState::Running) return static_cast<int>(i);
  return -1;
}

int StoredLaunchesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}
int StoredLaunchesModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant StoredLaunchesModel::text_at(const Row& row, int column) const {
  const StoredLaunch& launch = row.launch;
  switch (column) {
    case When:
      return local_time(launch.created);
    case Plan:
      return row.plan;
    case Launcher:
      return text(launch.launcher);
    case State:
      return text(name_of(launch.state));
    case Predicted:
      return launch.predicted_ns > 0 ? style::time(Nanos(launch.predicted_ns)) : QString();
    case Measured:
      return launch.measured_ns > 0 ? style::time(Nanos(launch.measured_ns)) : QString();
    default:
      return has_error(launch) ? style::signed_percent(error_of(launch)) : QString();
  }
}

QVariant StoredLaunchesModel::sort_key(const Row& row, int column) const {
  switch (column) {
    case When:
      return static_cast<qlonglong>(row.launch.id);
    case Predicted:
      return static_cast<qlonglong>(row.launch.predicted_ns);
    case Measured:
      return static_cast<qlonglong>(row.launch.measured_ns);
    case Error:
      return has_error(row.launch) ? error_of(row.launch) : -2.0;
    default:
      return text_at(row, column);
  }
}

QVariant StoredLaunchesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
      return text_at(row, index.column());
    case SortRole:
      return sort_key(row, index.column());
    case Qt::TextAlignmentRole:
      return QVariant((is_right(index.column()) ? Qt::AlignRight : Qt::AlignLeft) |
                      Qt::AlignVCenter);
    case Qt::ToolTipRole: {
      if (index.column() == State && !row.launch.note.empty()) return text(row.launch.note);
      if (index.column() == State && !row.launch.job.empty()) return text(row.launch.job);
      return index.column() == Launcher ? text(row.launch.options) : text_at(row, index.column());
    }
    default:
      return {};
  }
}

QVariant StoredLaunchesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant((is_right(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case When:
      return tr("When");
    case Plan:
      return tr("Plan");
    case Launcher:
      return tr("Launcher");
    case State:
      return tr("State");
    case Predicted:
      return tr("Predicted");
    case Measured:
      return tr("Measured");
    default:
      return tr("Error");
  }
}

}  // namespace strato
