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

}  // namespace

// On the tournament's threads, one call at a time: sends copies to the model's thread.
class TournamentSender final : public TournamentObserver {
 public:
  TournamentSender(TournamentModel& model, std::uint64_t job, std::size_t planners)
      : model_(model), job_(job), told_(planners), courses_(planners) {}

  void on_start(std::size_t, std::size_t planner) override {
    send([&model = model_, job = job_, planner] { model.started(job, planner); });
  }
  void on_progress(std::size_t, std::size_t planner, const Progress& progress) override {
    note(courses_[planner], progress);
    const Clock::time_point now = Clock::now();
    if (now - told_[planner] < std::chrono::milliseconds(100)) return;
    told_[planner] = now;
    send([&model = model_, job = job_, planner, progress] {
      model.progressed(job, planner, progress);
    });
  }
  void on_cell(const TournamentCell& cell, const TournamentProgress& progress) override {
    std::vector<HistoryPoint>& course = courses_[cell.planner];
    if (cell.has_result()) {
      HistoryPoint end{cell.result.evaluations, cell.wall_seconds,
                       cell.result.score.step_time.value};
      if (!course.empty()) {  // planners count in their own ways
        end.evaluations = std::max(end.evaluations, course.back().evaluations);
        end.elapsed_seconds = std::max(end.elapsed_seconds, course.back().elapsed_seconds);
      }
      course.push_back(end);
    }
    send([&model = model_, job = job_, cell = std::make_shared<const TournamentCell>(cell),
          progress, course = std::move(course)] { model.finished(job, cell, progress, course); });
  }

 private:
  // Each improvement, however fast they follow each other.
  static void note(std::vector<HistoryPoint>& course, const Progress& progress) {
    if (!progress.best || !progress.best->feasible) return;
    const std::int64_t best = progress.best->step_time.value;
    if (!course.empty() && course.back().best_ns <= best) return;
    course.push_back({progress.evaluations, progress.elapsed_seconds, best});
  }
  template <class Function>
  void send(Function function) {
    QMetaObject::invokeMethod(&model_, std::move(function), Qt::QueuedConnection);
  }

  TournamentModel& model_;
  const std::uint64_t job_;
  std::vector<Clock::time_point> told_;
  std::vector<std::vector<HistoryPoint>> courses_;  // by planner
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
  const WorkspaceLists* workspace = session_.workspace();
  if (workspace && !workspace->is_read())  // what a person demands of this problem is in there
    return emit session_.message(tr("The workspace is still being opened: begin in a moment"));
  stop_.request_stop();
  stop_ = std::stop_source();
  ++job_;
  beginResetModel();
  problem_ = opened;
  problem_digest_ = opened->digest();
  options_ = options;
  options_.constraints = session_.bound_constraints() ? session_.constraints() : nullptr;
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
  setup.options = options_;
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
                               const TournamentProgress& progress,
                               const std::vector<HistoryPoint>& course) {
  if (job != job_) return;
  Entry& entry = entries_[cell->planner];
  entry.course = course;
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
  const KeptResult result{strato::text(entry.planner), options_,     cell.result, cell.wall_seconds,
                          cell.seconds_to_best,        cell.stopped, entry.course};
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

}  // namespace strato
