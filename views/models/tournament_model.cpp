#include "views/models/tournament_model.h"

#include <QGuiApplication>
#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr int kClockTick = 250;  // ms between two looks at the clock
using Clock = std::chrono::steady_clock;

QString seconds_text(double seconds) { return style::time(nanos_from_seconds(seconds)); }

}  // namespace

// On the tournament's threads, one call at a time: sends copies to the model's thread.
class TournamentSender final : public TournamentObserver {
 public:
  TournamentSender(TournamentModel& model, std::uint64_t job, std::size_t planners)
      : model_(model), job_(job), told_(planners) {}

  void on_start(std::size_t, std::size_t planner) override {
    send([&model = model_, job = job_, planner] { model.started(job, planner); });
  }
  void on_progress(std::size_t, std::size_t planner, const Progress& progress) override {
    const Clock::time_point now = Clock::now();
    if (now - told_[planner] < std::chrono::milliseconds(100)) return;
    told_[planner] = now;
    send([&model = model_, job = job_, planner, progress] {
      model.progressed(job, planner, progress);
    });
  }
  void on_cell(const TournamentCell& cell, const TournamentProgress& progress) override {
    send([&model = model_, job = job_, cell = std::make_shared<const TournamentCell>(cell),
          progress] { model.finished(job, cell, progress); });
  }

 private:
  template <class Function>
  void send(Function function) {
    QMetaObject::invokeMethod(&model_, std::move(function), Qt::QueuedConnection);
  }

  TournamentModel& model_;
  const std::uint64_t job_;
  std::vector<Clock::time_point> told_;
};

TournamentModel::TournamentModel(Session& session, std::vector<PluginInfo> planners,
                                 PlannerFactory make, QObject* parent)
    : QAbstractTableModel(parent),
      session_(session),
      planners_(std::move(planners)),
      make_(std::move(make)) {
  tick_.setInterval(kClockTick);
  connect(&tick_, &QTimer::timeout, this, [this] {
    if (!order_.empty()) tell_rows(0, order_.size() - 1);
    emit ticked();
  });
  connect(&session_, &Session::problem_changed, this, &TournamentModel::drop_if_other_problem);
}

TournamentModel::~TournamentModel() { stop_.request_stop(); }

void TournamentModel::drop_if_other_problem() {
  const auto& opened = session_.snapshot().opened;
  if (opened == problem_ || !problem_) return;
  if (opened && opened->digest() == problem_digest_) return;
  stop_.request_stop();
  ++job_;
  tick_.stop();
  beginResetModel();
  entries_.clear();
  order_.clear();
  endResetModel();
  problem_.reset();
  marks_.reset();
  running_ = false;
  done_ = 0;
  took_ = 0;
  emit changed();
}

void TournamentModel::run(const std::vector<std::string>& planners, const PlannerOptions& options) {
  const auto& opened = session_.snapshot().opened;
  if (!opened || planners.empty()) return;
  stop_.request_stop();
  stop_ = std::stop_source();
  ++job_;
  beginResetModel();
  problem_ = opened;
  problem_digest_ = opened->digest();
  options_ = options;
  entries_.clear();
  for (const std::string& planner : planners) entries_.emplace_back().planner = planner;
  order_.resize(entries_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  marks_.reset();
  done_ = 0;
  running_ = true;
  endResetModel();
  since_.start();
  tick_.start();
  TournamentSetup setup;
  setup.problems.push_back({opened->graph->name(), *opened});
  setup.planners = planners;
  setup.options = options;
  worker_.post([this, job = job_, setup = std::move(setup), token = stop_.get_token()] {
    QString error;
    try {
      TournamentSender sender(*this, job, setup.planners.size());
      run_tournament(setup, make_, sender, token);
    } catch (const std::exception& thrown) {
      error = QString::fromUtf8(thrown.what());
    }
    QMetaObject::invokeMethod(
        this, [this, job, error] { ended(job, error); }, Qt::QueuedConnection);
  });
  emit changed();
}

void TournamentModel::stop() {
  if (!running_) return;
  stop_.request_stop();
  emit changed();
}

TournamentProgress TournamentModel::progress() const {
  return {done_, entries_.size(), running_ ? static_cast<double>(since_.elapsed()) / 1000 : took_};
}

// --- what the tournament tells
// ----------------------------------------------------------------------

void TournamentModel::started(std::uint64_t job, std::size_t planner) {
  if (job != job_) return;
  Entry& entry = entries_[planner];
  entry.state = RowState::Running;
  entry.since.start();
  settle_row(planner);
}

void TournamentModel::progressed(std::uint64_t job, std::size_t planner, const Progress& progress) {
  if (job != job_ || entries_[planner].state != RowState::Running) return;
  entries_[planner].progress = progress;
  const auto row = static_cast<std::size_t>(std::ranges::find(order_, planner) - order_.begin());
  tell_rows(row, row);
}

void TournamentModel::finished(std::uint64_t job, std::shared_ptr<const TournamentCell> cell,
                               const TournamentProgress& progress) {
  if (job != job_) return;
  Entry& entry = entries_[cell->planner];
  entry.cell = cell;
  entry.state = cell->has_result() ? RowState::Done : RowState::Refused;
  if (cell->has_result()) {
    entry.strategy = complete(cell->result.strategy, *problem_->cluster);
    if (!marks_) {
      const Nanos time = cell->result.score.step_time;
      const auto of_time = [time](double factor) {
        return Nanos(static_cast<std::int64_t>(static_cast<double>(time.value) * factor + 0.5));
      };
      marks_ = {of_time(cell->speedup), of_time(1 / (1 + cell->above_bound)),
                cell->speedup * (1 + cell->above_bound)};
    }
  }
  done_ = progress.done;
  settle_row(cell->planner);
  tell_rows(0, order_.size() - 1);  // ranks move, too
  emit changed();
}

void TournamentModel::ended(std::uint64_t job, const QString& error) {
  if (job != job_) return;
  running_ = false;
  took_ = static_cast<double>(since_.elapsed()) / 1000;
  tick_.stop();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].state != RowState::Waiting && entries_[i].state != RowState::Running) continue;
    entries_[i].state = RowState::Left;
    settle_row(i);
  }
  if (!order_.empty()) tell_rows(0, order_.size() - 1);
  emit changed();
  if (!error.isEmpty()) {
    emit session_.failed(error);
  } else if (!entries_.empty() && at(0).state == RowState::Done) {
    const TournamentCell& best = *at(0).cell;
    emit session_.message(tr("Tournament: %1 is best, %2, %3 data parallel")
                              .arg(planner(0), style::time(best.result.score.step_time),
                                   style::factor(best.speedup)));
  }
}

// --- order
// ------------------------------------------------------------------------------------------

bool TournamentModel::is_before(std::size_t a, std::size_t b) const {
  const Entry &left = entries_[a], &right = entries_[b];
  if (left.state != right.state) return left.state < right.state;
  if (left.state == RowState::Done) {
    const Score &x = left.cell->result.score, &y = right.cell->result.score;
    if (x.better_than(y)) return true;
    if (y.better_than(x)) return false;
  }
  return a < b;
}

std::size_t TournamentModel::rank_of(const Entry& entry) const {
  return 1 + static_cast<std::size_t>(std::ranges::count_if(entries_, [&](const Entry& other) {
           return other.state == RowState::Done &&
                  other.cell->result.score.better_than(entry.cell->result.score);
         }));
}

// One entry has changed: its row goes where it belongs now.
void TournamentModel::settle_row(std::size_t entry) {
  std::vector<std::size_t> wanted = order_;
  std::ranges::sort(wanted, [this](std::size_t a, std::size_t b) { return is_before(a, b); });
  const auto row_in = [entry](const std::vector<std::size_t>& order) {
    return static_cast<int>(std::ranges::find(order, entry) - order.begin());
  };
  const int from = row_in(order_), to = row_in(wanted);
  if (from != to) {
    beginMoveRows({}, from, from, {}, to > from ? to + 1 : to);
    order_ = std::move(wanted);
    endMoveRows();
  }
  tell_rows(static_cast<std::size_t>(to), static_cast<std::size_t>(to));
}

void TournamentModel::tell_rows(std::size_t first, std::size_t last) {
  emit dataChanged(index(static_cast<int>(first), 0),
                   index(static_cast<int>(last), ColumnCount - 1));
}

// --- rows
// -------------------------------------------------------------------------------------------

QString TournamentModel::planner(int row) const { return strato::text(at(row).planner); }
TournamentModel::RowState TournamentModel::state(int row) const { return at(row).state; }
const TournamentCell* TournamentModel::cell(int row) const { return at(row).cell.get(); }

bool TournamentModel::show(int row) {
  const Entry& entry = at(row);
  if (entry.state != RowState::Done) return false;
  const QString label = entry.kept.isEmpty() ? strato::text(entry.planner) : entry.kept;
  match_order(entry.strategy);
  session_.show_result(entry.strategy, label);
  return true;
}

// A strategy with priorities of its own turns the window to them (Session::show_result); the next
// one without is shown first in, first out again, as it was compared.
void TournamentModel::match_order(const Strategy& strategy) {
  Simulation simulation = session_.simulation();
  const bool own_order = !strategy.priorities.empty();
  if (own_order && simulation.order == TaskOrder::Fifo) order_taken_ = true;
  if (!own_order && std::exchange(order_taken_, false)) simulation.order = TaskOrder::Fifo;
  session_.set_simulation(simulation);
  if (simulation.fair_links || (!own_order && simulation.order == TaskOrder::Priority)) {
    emit session_.message(
        tr("A tournament compares strategies first in, first out on exclusive "
           "links; they are shown as chosen here"));
  }
}

void TournamentModel::keep(int row, std::function<void(const QString&)> told) {
  Entry& entry = entries_[order_[static_cast<std::size_t>(row)]];
  if (entry.state != RowState::Done) return told(tr("There is no result to keep yet"));
  if (!entry.kept.isEmpty()) return told(tr("Kept already, as %1").arg(entry.kept));
  const TournamentCell& cell = *entry.cell;
  const KeptResult result{strato::text(entry.planner), options_,    cell.result, cell.wall_seconds,
                          cell.seconds_to_best,        cell.stopped};
  const bool open = session_.keep_result(
      result,
      [this, job = job_, index = order_[static_cast<std::size_t>(row)], told](const QString& name) {
        if (job == job_) {
          entries_[index].kept = name;
          if (!order_.empty()) tell_rows(0, order_.size() - 1);
        }
        told(tr("Kept in the workspace as %1").arg(name));
      });
  if (!open) told(tr("No workspace is open to keep it in: File > New Workspace makes one"));
}

bool TournamentModel::shows(int row) const {
  return at(row).state == RowState::Done && at(row).strategy == session_.snapshot().strategy;
}

int TournamentModel::shown_row() const {
  for (int row = 0; row < rowCount(); ++row)
    if (shows(row)) return row;
  return -1;
}

const Score* TournamentModel::best_of(const Entry& entry) const {
  if (entry.state == RowState::Done) return &entry.cell->result.score;
  if (entry.state == RowState::Running && entry.progress.best) return &*entry.progress.best;
  return nullptr;
}

double TournamentModel::fraction(const Entry& entry) const {
  if (entry.state != RowState::Running) return -1;
  const auto info = std::ranges::find(planners_, entry.planner, &PluginInfo::name);
  if (info == planners_.end() || info->effort != Effort::Search) return -1;
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
