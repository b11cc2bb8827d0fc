// The queue as a list: what each row says.
#include <algorithm>

#include "views/models/run_queue.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {

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
      return tr("%1 on %2")
          .arg(strato::text(entry.search->model.name),
               strato::text(entry.search->cluster.cluster ? entry.search->cluster.cluster->name()
                                                          : std::string("?")));
    case HowFar:
      switch (entry.state) {
        case RowState::Waiting:
          return options.budget_seconds > 0
                     ? tr("waits, %1 s").arg(style::significant(options.budget_seconds))
                     : tr("waits, %1 iterations").arg(options.iterations);
        case RowState::Running:
          return entry.stopping
                     ? tr("stops")
                     : tr("%1 s").arg(style::significant(entry.now.progress.elapsed_seconds));
        case RowState::Left:
          return tr("left from before");
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
  const double part = options.budget_seconds > 0
                          ? progress.elapsed_seconds / options.budget_seconds
                          : static_cast<double>(progress.iterations) /
                                static_cast<double>(std::max<std::int64_t>(options.iterations, 1));
  return progress.evaluations > 0 ? std::clamp(part, 0.0, 1.0) : -1;
}

QString RunQueue::tip(const Entry& entry) const {
  const PlannerOptions& options = entry.search->options.planner;
  QStringList lines{text(entry, Planner) + QStringLiteral(", ") + text(entry, ProblemName)};
  lines << (options.budget_seconds > 0
                ? tr("For %1 s, seed %2")
                      .arg(style::significant(options.budget_seconds))
                      .arg(options.seed)
                : tr("For %1 iterations, seed %2").arg(options.iterations).arg(options.seed));
  for (const auto& [key, value] : options.set)
    lines << strato::text(key) + QStringLiteral(" = ") + strato::text(value);
  if (entry.now.progress.best && entry.now.baseline > Nanos(0))
    lines << tr("%1, %2 data parallel")
                 .arg(text(entry, Best),
                      style::factor(entry.now.baseline /
                                    std::max(entry.now.progress.best->step_time, Nanos(1))));
  if (entry.state == RowState::Left)
    lines << tr("It waited when the workspace was closed: Enter starts it, Delete takes it away");
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
