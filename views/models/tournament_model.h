// A tournament of planners on the open problem as a table, filled while it runs: the best result
// first, equals in the order in which they were asked for; then what runs, what waits, and who does
// not serve the problem. It runs on threads of its own; what a tournament of another problem, or an
// earlier one, still sends is dropped. GUI thread only.
#pragma once

#include <QAbstractTableModel>
#include <QElapsedTimer>
#include <QTimer>
#include <memory>
#include <stop_token>
#include <vector>

#include "core/search/run/tournament.h"
#include "views/models/session.h"
#include "views/models/worker.h"

namespace strato {

class TournamentModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column {
    Rank,
    PlannerName,
    StepTime,
    Speedup,
    Memory,
    AboveBound,
    Evaluations,
    Took,
    TimeToBest,
    Note,
    ColumnCount
  };
  enum class RowState { Done, Running, Waiting, Left, Refused };  // Left: not begun when it ended
  enum Role {
    SortRole = Qt::UserRole,
    StateRole,     // int of RowState
    SpeedupRole,   // double, of what is best so far; 0: nothing yet
    FeasibleRole,  // bool: of that
    FractionRole,  // double: how far a running planner is; negative: it does not tell
  };

  // `planners`: who can take part. `session` must outlive this.
  TournamentModel(Session& session, std::vector<PluginInfo> planners, PlannerFactory make,
                  QObject* parent = nullptr);
  ~TournamentModel() override;  // stops what runs, and waits for it

  const std::vector<PluginInfo>& planners() const { return planners_; }
  // Ends the one before. Nothing without an open problem or without planners.
  void run(const std::vector<std::string>& planners, const PlannerOptions& options);
  void stop();  // what runs ends soon, with the best that it has

  bool running() const { return running_; }
  bool stopping() const { return running_ && stop_.stop_requested(); }
  TournamentProgress progress() const;
  // Step times: data parallel with AllReduce, and the bound. Nothing before the first result.
  struct Marks {
    Nanos data_parallel, lower_bound;
    double bound_speedup = 0;  // that nothing can exceed
  };
  const std::optional<Marks>& marks() const { return marks_; }

  QString planner(int row) const;
  RowState state(int row) const;
  const TournamentCell* cell(int row) const;  // of a planner that is done; else null
  QString words(int row) const;               // all that its planner says, for people
  bool show(int row);                         // its strategy in all views; false: it has none
  // In the workspace. `told`: where it went, or why it did not.
  void keep(int row, std::function<void(const QString& told)> told);
  bool shows(int row) const;  // the session shows its strategy
  int shown_row() const;      // whose strategy the session shows: the first; -1: nobody's

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 signals:
  void changed();  // running(), marks() or which results there are
  void ticked();   // progress() only

 private:
  friend class TournamentSender;
  struct Entry {
    std::string planner;
    RowState state = RowState::Waiting;
    std::shared_ptr<const TournamentCell> cell;
    Progress progress;                 // of one that runs
    QElapsedTimer since;               // it began
    QString kept;                      // "heft #3"
    Strategy strategy;                 // complete
    std::vector<HistoryPoint> course;  // its best while it ran, and its end
  };

  const Entry& at(int row) const { return entries_[order_[static_cast<std::size_t>(row)]]; }
  bool is_before(std::size_t a, std::size_t b) const;
  std::size_t rank_of(const Entry& entry) const;
  void drop_if_other_problem();
  void started(std::uint64_t job, std::size_t planner);
  void progressed(std::uint64_t job, std::size_t planner, const Progress& progress);
  void finished(std::uint64_t job, std::shared_ptr<const TournamentCell> cell,
                const TournamentProgress& progress, const std::vector<HistoryPoint>& course);
  void ended(std::uint64_t job, const QString& error);
  void match_order(const Strategy& strategy);
  void settle_row(std::size_t entry);
  void tell_rows(std::size_t first, std::size_t last);
  QString text(const Entry& entry, int column) const;
  QString note(const Entry& entry) const;
  QVariant sort_key(const Entry& entry, int column) const;
  QString tip(const Entry& entry, int column) const;
  double fraction(const Entry& entry) const;
  const Score* best_of(const Entry& entry) const;

  Session& session_;
  const std::vector<PluginInfo> planners_;
  const PlannerFactory make_;
  std::shared_ptr<const Problem> problem_;  // that the rows are about
  Digest problem_digest_;
  PlannerOptions options_;
  std::vector<Entry> entries_;      // as they were asked for
  std::vector<std::size_t> order_;  // entry by row
  std::optional<Marks> marks_;
  std::uint64_t job_ = 0;
  std::size_t done_ = 0;
  bool running_ = false;
  bool order_taken_ = false;  // the window simulates by priority because a row asked for it
  QElapsedTimer since_;
  double took_ = 0;
  QTimer tick_;
  std::stop_source stop_;
  Worker worker_{Worker::OnExit::DropQueued};  // last: ends first
};

}  // namespace strato
