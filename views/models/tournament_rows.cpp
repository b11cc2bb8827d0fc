// The rows of the tournament as tables show them: words, figures, sort keys, tips.
#include <QGuiApplication>
#include <algorithm>

#include "views/models/tournament_model.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

QString seconds_text(double seconds) { return style::time(nanos_from_seconds(seconds)); }

}  // namespace

const Score* TournamentModel::best_of(const Entry& entry) const {
  if (entry.state == RowState::Done) return &entry.cell->result.score;
  if (entry.state == RowState::Running && entry.progress.best) return &*entry.progress.best;
  return nullptr;
}

double TournamentModel::fraction(const Entry& entry) const {
  if (entry.state != RowState::Running) return -1;
  const auto info = std::ranges::find(planners_, entry.planner, &PluginInfo::name);
  if (info == planners_.end() ||
      (info->effort != Effort::Search && info->effort != Effort::Learning))
    return -1;
  const double fraction =
      options_.budget_seconds > 0
          ? entry.progress.elapsed_seconds / options_.budget_seconds
          : static_cast<double>(entry.progress.iterations) /
                static_cast<double>(std::max<std::int64_t>(1, options_.iterations));
  return std::clamp(fraction, 0.0, 1.0);
}

QString TournamentModel::note(const Entry& entry) const {
  switch (entry.state) {
    case RowState::Waiting:
      return tr("waits");
    case RowState::Left:
      return tr("not begun, or not done, when it was stopped");
    case RowState::Refused:
      return tr("does not serve this problem: %1").arg(strato::text(entry.cell->error));
    case RowState::Running: {
      const double done = fraction(entry);
      return done > 0 ? tr("runs, %1").arg(style::percent(done)) : tr("runs");
    }
    case RowState::Done:
      break;
  }
  QStringList parts;
  if (!entry.kept.isEmpty()) parts << tr("kept as %1").arg(entry.kept);
  if (entry.cell->stopped) parts << tr("stopped");
  if (!entry.cell->result.note.empty()) parts << strato::text(entry.cell->result.note);
  for (const auto& [name, value] : entry.cell->result.facts)
    parts << strato::text(name) + QStringLiteral(": ") + strato::text(value);
  return parts.join(QStringLiteral("; "));
}

QString TournamentModel::words(int row) const {
  const Entry& entry = at(row);
  QStringList lines{note(entry)};
  if (entry.state == RowState::Done) {
    const TournamentCell& cell = *entry.cell;
    lines.prepend(tr("evaluations: %1, took %2, had its best after %3; the fullest device holds %4")
                      .arg(cell.result.evaluations)
                      .arg(seconds_text(cell.wall_seconds), seconds_text(cell.seconds_to_best),
                           style::bytes(cell.memory_peak)));
  }
  lines.removeAll(QString());
  return lines.join(QStringLiteral("; "));
}

QString TournamentModel::text(const Entry& entry, int column) const {
  if (column == PlannerName) return strato::text(entry.planner);
  if (column == Note) return note(entry);
  const Score* best = best_of(entry);
  if (best != nullptr && column == StepTime) return style::time(best->step_time);
  if (best != nullptr && column == Speedup && marks_)
    return style::factor(marks_->data_parallel / std::max(best->step_time, Nanos(1)));
  if (entry.state == RowState::Running && column == Took)
    return seconds_text(static_cast<double>(entry.since.elapsed()) / 1000);
  if (entry.state == RowState::Running && column == Evaluations)
    return entry.progress.evaluations > 0 ? QString::number(entry.progress.evaluations) : QString();
  if (entry.state == RowState::Refused && column == Took)
    return seconds_text(entry.cell->wall_seconds);
  if (entry.state != RowState::Done) return column == Rank ? QStringLiteral("–") : QString();
  const TournamentCell& cell = *entry.cell;
  switch (column) {
    case Rank:
      return QString::number(rank_of(entry));
    case Memory:
      return (best->feasible ? QStringLiteral("✓ ") : QStringLiteral("✗ ")) +
             style::percent(cell.memory_part);
    case AboveBound:
      return style::signed_percent(cell.above_bound);
    case Evaluations:
      return QString::number(cell.result.evaluations);
    case Took:
      return seconds_text(cell.wall_seconds);
    case TimeToBest:
      return seconds_text(cell.seconds_to_best);
    default:
      return {};
  }
}

// Rows without a figure sort behind those with one, the rest by the figure.
QVariant TournamentModel::sort_key(const Entry& entry, int column) const {
  constexpr double kLast = 1e300;
  const Score* best = best_of(entry);
  const bool done = entry.state == RowState::Done;
  switch (column) {
    case Rank:
      return static_cast<double>(std::ranges::find(order_, &entry - entries_.data()) -
                                 order_.begin());
    case PlannerName:
    case Note:
      return text(entry, column);
    case StepTime:
      return best != nullptr ? static_cast<double>(best->step_time.value) : kLast;
    case Speedup:
      return best != nullptr ? -static_cast<double>(best->step_time.value) : -kLast;
    case Memory:
      return done ? entry.cell->memory_part : kLast;
    case AboveBound:
      return done ? entry.cell->above_bound : kLast;
    case Evaluations:
      return done ? static_cast<double>(entry.cell->result.evaluations) : kLast;
    case Took:
      return done ? entry.cell->wall_seconds : kLast;
    default:
      return done ? entry.cell->seconds_to_best : kLast;
  }
}

QString TournamentModel::tip(const Entry& entry, int column) const {
  if (column == PlannerName) {
    const auto info = std::ranges::find(planners_, entry.planner, &PluginInfo::name);
    return info == planners_.end() ? QString() : strato::text(info->summary);
  }
  if (column == Memory && entry.state == RowState::Done) {
    return (entry.cell->result.score.feasible ? tr("Fits: the fullest device holds %1")
                                              : tr("Does not fit: the fullest device needs %1"))
        .arg(style::bytes(entry.cell->memory_peak));
  }
  if (column == Speedup && marks_) {
    return tr("Data parallel takes %1; nothing takes less than %2, so that no speed-up exceeds %3")
        .arg(style::time(marks_->data_parallel), style::time(marks_->lower_bound),
             style::factor(marks_->bound_speedup));
  }
  return column == Note ? note(entry) : QString();
}

int TournamentModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}
int TournamentModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant TournamentModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Entry& entry = at(index.row());
  const Score* best = best_of(entry);
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      return text(entry, column);
    case Qt::ToolTipRole:
      return tip(entry, column);
    case Qt::TextAlignmentRole:
      return QVariant((column == PlannerName || column == Note ? Qt::AlignLeft : Qt::AlignRight) |
                      Qt::AlignVCenter);
    case Qt::ForegroundRole: {
      const bool red = column == Memory && entry.state == RowState::Done && !best->feasible;
      if (red) return style::infeasible(style::is_dark(QGuiApplication::palette()));
      if (entry.state == RowState::Done) return {};
      return style::muted_text(QGuiApplication::palette());
    }
    case SortRole:
      return sort_key(entry, column);
    case StateRole:
      return static_cast<int>(entry.state);
    case SpeedupRole:
      return best != nullptr && marks_ ? marks_->data_parallel / std::max(best->step_time, Nanos(1))
                                       : 0.0;
    case FeasibleRole:
      return best != nullptr && best->feasible;
    case FractionRole:
      return fraction(entry);
    default:
      return {};
  }
}

QVariant TournamentModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
  static const char* const names[] = {"#",          "Planner",     "Step time",   "Speed-up",
                                      "Memory",     "Above bound", "Evaluations", "Took",
                                      "Best after", "Note"};
  static const char* const help[] = {
      "Rank: equals share the better one",
      "Click a row to see its strategy in all views",
      "Of the strategy that it found, simulated; of one that runs: the best so far",
      "Over data parallelism with AllReduce on all devices",
      "The fullest device's peak as a part of its capacity: ✓ it fits, ✗ it does not",
      "How much longer than the lower bound, which no strategy beats",
      "Strategies that it simulated",
      "How long the planner took",
      "How long until it had what it returned",
      "What the planner says about its result"};
  if (role == Qt::DisplayRole) return QString::fromUtf8(names[section]);
  if (role == Qt::ToolTipRole) return QString::fromUtf8(help[section]);
  if (role == Qt::TextAlignmentRole)
    return QVariant((section == PlannerName || section == Speedup || section == Note
                         ? Qt::AlignLeft
                         : Qt::AlignRight) |
                    Qt::AlignVCenter);
  return {};
}

}  // namespace strato
