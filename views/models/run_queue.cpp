#include "views/models/run_queue.h"

#include <algorithm>

#include "core/search/bound_constraints.h"
#include "core/search/constraints.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {

RunQueue::RunQueue(Session& session, PlannerFactory make_planner, QObject* parent)
    : QAbstractTableModel(parent), session_(session), make_planner_(std::move(make_planner)) {}

RunQueue::~RunQueue() { stop_.request_stop(); }

QString RunQueue::add(const QString& planner, const PlannerOptions& options) {
  const Snapshot& snapshot = session_.snapshot();
  const ModelSource* model = session_.model_source();
  if (!snapshot.opened || !model) return tr("Open a model first: a search is about one");
  if (!session_.workspace())
    return tr("Open a workspace first: File > New Workspace makes one, and results go there");
  auto search = std::make_shared<QueuedSearch>();
  search->planner = planner.toStdString();
  search->options = {options, run_costs(snapshot.cost_files, snapshot.costs)};
  if (!options.constraints && session_.bound_constraints())
    search->options.planner.constraints = session_.constraints();
  search->model = *model;
  search->cluster.cluster = snapshot.opened->cluster;
  search->problem = snapshot.opened;
  search->workspace = session_.workspace()->file();
  const int row = rowCount();
  beginInsertRows({}, row, row);
  entries_.push_back({++last_job_, std::move(search), RowState::Waiting, {}, false, {}});
  endInsertRows();
  begin_next();
  emit changed();
  return {};
}

void RunQueue::begin_next() {
  if (running_row() >= 0) return;
  const auto next = std::ranges::find(entries_, RowState::Waiting, &Entry::state);
  if (next == entries_.end()) return;
  next->state = RowState::Running;
  stop_ = std::stop_source();
  worker_.post([this, job = next->job, search = next->search, token = stop_.get_token()] {
    const auto send = [this](auto function) {
      QMetaObject::invokeMethod(this, std::move(function), Qt::QueuedConnection);
    };
    const QueuedResult result = run_and_store(
        *search, make_planner_,
        [&](const QueuedProgress& progress) {
          send([this, job, progress] { progressed(job, progress); });
        },
        [&] {
          send([this, file = search->workspace] {
            if (session_.workspace() && session_.workspace()->file() == file)
              session_.look_at_workspace();
          });
        },
        token);
    send([this, job, result] { ended(job, result); });
  });
  tell_row(static_cast<int>(next - entries_.begin()));
}

int RunQueue::row_of_job(std::uint64_t job) const {
  return static_cast<int>(std::ranges::find(entries_, job, &Entry::job) - entries_.begin());
}

void RunQueue::progressed(std::uint64_t job, const QueuedProgress& progress) {
  const int row = row_of_job(job);  // one that runs is never removed
  Entry& entry = entries_[static_cast<std::size_t>(row)];
  const bool begins = entry.now.run == 0;
  entry.now = progress;
  tell_row(row);
  if (begins) emit changed();
}

void RunQueue::ended(std::uint64_t job, const QueuedResult& result) {
  const int row = row_of_job(job);
  Entry& entry = entries_[static_cast<std::size_t>(row)];
  entry.now = {result.run, result.baseline, result.progress};
  entry.words = strato::text(result.error.empty() ? result.note : result.error);
  entry.state = !result.error.empty() ? RowState::Failed
                : result.stopped      ? RowState::Stopped
                                      : RowState::Done;
  tell_row(row);
  if (entry.state == RowState::Failed) {
    emit session_.message(tr("In the queue, %1 failed: %2").arg(name(entry), entry.words));
  } else {
    emit session_.message(tr("In the queue, %1 is done: %2").arg(name(entry), text(entry, Best)));
  }
  begin_next();
  emit changed();
}

void RunQueue::stop(int row) {
  if (row < 0 || row >= rowCount() || state(row) != RowState::Running) return;
  entries_[static_cast<std::size_t>(row)].stopping = true;
  stop_.request_stop();
  tell_row(row);
  emit changed();
}

bool RunQueue::remove(int row) {
  if (row < 0 || row >= rowCount() || state(row) == RowState::Running) return false;
  beginRemoveRows({}, row, row);
  entries_.erase(entries_.begin() + row);
  endRemoveRows();
  emit changed();
  return true;
}

bool RunQueue::move(int row, int by) {
  const int to = row + by;
  if (by == 0 || row < 0 || row >= rowCount() || to < 0 || to >= rowCount()) return false;
  if (state(row) != RowState::Waiting || state(to) != RowState::Waiting) return false;
  beginMoveRows({}, row, row, {}, by > 0 ? to + 1 : to);
  const auto begin = entries_.begin();
  if (by > 0) {
    std::rotate(begin + row, begin + row + 1, begin + to + 1);
  } else {
    std::rotate(begin + to, begin + row, begin + row + 1);
  }
  endMoveRows();
  emit changed();
  return true;
}

void RunQueue::remove_waiting() {
  for (int row = rowCount(); row-- > 0;)
    if (state(row) == RowState::Waiting) remove(row);
}

void RunQueue::remove_done() {
  for (int row = rowCount(); row-- > 0;)
    if (state(row) < RowState::Running) remove(row);
}

bool RunQueue::is_in_open_workspace(int row) const {
  return session_.workspace() && session_.workspace()->file() == at(row).search->workspace;
}

int RunQueue::waiting() const {
  return static_cast<int>(std::ranges::count(entries_, RowState::Waiting, &Entry::state));
}

int RunQueue::running_row() const {
  const auto found = std::ranges::find(entries_, RowState::Running, &Entry::state);
  return found == entries_.end() ? -1 : static_cast<int>(found - entries_.begin());
}

QString RunQueue::status() const {
  const int row = running_row();
  if (row < 0) return {};
  const int more = waiting();
  return more == 0 ? tr("%1 runs").arg(name(at(row)))
                   : tr("%1 runs, %2 wait").arg(name(at(row))).arg(more);
}

void RunQueue::tell_row(int row) { emit dataChanged(index(row, 0), index(row, kColumns - 1)); }

// --- rows
// -------------------------------------------------------------------------------------------

int RunQueue::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(entries_.size());
}
int RunQueue::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QString RunQueue::name(const Entry& entry) const {
  const QString planner = strato::text(entry.search->planner);
  return entry.now.run > 0 ? QStringLiteral("%1 #%2").arg(planner).arg(entry.now.run) : planner;
}

QString RunQueue::text(const Entry& entry, int column) const {
  const PlannerOptions& options = entry.search->options.planner;
  switch (column) {
    case Planner:
      return name(entry);
    case ProblemName:
      return tr("%1 on %2").arg(strato::text(entry.search->model.name),
                                strato::text(entry.search->problem->cluster->name()));
    case HowFar:
      switch (entry.state) {
        case RowState::Waiting:
          return options.budget_seconds > 0
                     ? tr("waits, %1 s").arg(style::significant(options.budget_seconds))
                     : tr("waits, %1 iterations").arg(options.iterations);
        case RowState::Running:
          return entry.stopping ? tr("stops") : tr("%1 s").arg(style::significant(
                                                    entry.now.progress.elapsed_seconds));
        case RowState::Done:
          return tr("done");
        case RowState::Stopped:
          return tr("stopped");
        case RowState::Failed:
          return tr("failed");
      }
      return {};
    case Best: {
      const auto& best = entry.now.progress.best;
      if (!best || entry.state == RowState::Failed) return {};
      return best->feasible ? style::time(best->step_time) : tr("does not fit");
    }
    default:
      return {};
  }
}

double RunQueue::fraction(const Entry& entry) const {
  const PlannerOptions& options = entry.search->options.planner;
  const Progress& progress = entry.now.progress;
  if (entry.state != RowState::Running) return -1;
  const double part =
      options.budget_seconds > 0
          ? progress.elapsed_seconds / options.budget_seconds
          : static_cast<double>(progress.iterations) /
                static_cast<double>(std::max<std::int64_t>(options.iterations, 1));
  return progress.evaluations > 0 ? std::clamp(part, 0.0, 1.0) : -1;
}

QString RunQueue::tip(const Entry& entry) const {
  const PlannerOptions& options = entry.search->options.planner;
  QStringList lines{text(entry, Planner) + QStringLiteral(", ") + text(entry, ProblemName)};
  lines << (options.budget_seconds > 0
                ? tr("For %1 s, seed %2").arg(style::significant(options.budget_seconds)).arg(options.seed)
                : tr("For %1 iterations, seed %2").arg(options.iterations).arg(options.seed));
  for (const auto& [key, value] : options.set)
    lines << strato::text(key) + QStringLiteral(" = ") + strato::text(value);
  if (entry.now.progress.best && entry.now.baseline > Nanos(0))
    lines << tr("%1, %2 data parallel")
                 .arg(text(entry, Best), style::factor(entry.now.baseline /
                                                       std::max(entry.now.progress.best->step_time,
                                                                Nanos(1))));
  if (!entry.words.isEmpty()) lines << entry.words;
  lines << tr("In %1").arg(strato::text(entry.search->workspace.filename().string()));
  return lines.join(QLatin1Char('\n'));
}

QVariant RunQueue::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Entry& entry = at(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return text(entry, index.column());
    case Qt::ToolTipRole:
      return tip(entry);
    case Qt::AccessibleTextRole:
      return QStringList{text(entry, Planner), text(entry, ProblemName), text(entry, HowFar),
                         text(entry, Best)}
          .join(QStringLiteral(", "));
    case StateRole:
      return static_cast<int>(entry.state);
    case FractionRole:
      return fraction(entry);
    case RunRole:
      return static_cast<qlonglong>(entry.now.run);
    default:
      return {};
  }
}

QVariant RunQueue::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case Planner:
      return tr("Planner");
    case ProblemName:
      return tr("Problem");
    case HowFar:
      return tr("How far");
    default:
      return tr("Best");
  }
}

}  // namespace strato
