// Searches that wait for each other: each is about the problem, the costs, the demands and the
// workspace of the moment in which it was added, and runs on a thread of the queue's beside
// whatever the session shows and searches. What each finds is in its workspace while it runs; one
// that fails does not hold up the next. Those that wait are in their workspace, too
// (queued_place.h): when it is opened again, after a restart or a crash, they are offered, and
// begin when a person says so.
//
// As a list: what is done, in the order in which it was, then what runs, then what waits; what is
// left from another time stays where it came until it is started. GUI thread only.
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <stop_token>
#include <vector>

#include "views/models/queued_search.h"
#include "views/models/session.h"
#include "views/models/worker.h"

namespace strato {

class RunQueue : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Planner, ProblemName, HowFar, Best, kColumns };
  enum class RowState { Done, Stopped, Failed, Running, Waiting, Left };
  enum Role {
    StateRole = Qt::UserRole,  // int of RowState
    FractionRole,              // double: how far one that runs is; negative: it does not tell
    RunRole,                   // of the workspace; 0: none yet
  };

  // `session` must outlive this.
  RunQueue(Session& session, PlannerFactory make_planner, QObject* parent = nullptr);
  ~RunQueue() override;  // stops what runs, keeps its best, and waits for that

  // Of the problem that is open. Why it cannot be, for people; empty: it waits or runs.
  QString add(const QString& planner, const PlannerOptions& options);
  void stop(int row);  // what it has found so far is kept
  // Nothing that was found is lost; what waited is not offered again. False: it runs.
  bool remove(int row);
  bool move(int row, int by);  // among those that wait or are left; false: there it cannot go
  bool start(int row);         // one that was left from another time: it waits for its turn
  void start_left();           // all of them
  void remove_waiting();
  void remove_done();

  RowState state(int row) const { return at(row).state; }
  RunRow run(int row) const { return at(row).now.run; }
  bool is_in_open_workspace(int row) const;
  int waiting() const;
  int left() const;         // from another time
  int running_row() const;  // -1: none
  QString status() const;   // "tag #4 runs, 2 wait"; empty: nothing to do

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 signals:
  void changed();  // which there are, or the state of one

 private:
  struct Entry {
    std::uint64_t job = 0;
    std::shared_ptr<const QueuedSearch> search;
    RowState state = RowState::Waiting;
    QueuedProgress now;
    bool stopping = false;
    QString words;  // an error or a note
  };

  const Entry& at(int row) const { return entries_[static_cast<std::size_t>(row)]; }
  int row_of_job(std::uint64_t job) const;
  bool is_to_come(int row) const;
  void begin_next();
  void look_for_left();
  void forget_left_of_others();
  void offer(const std::vector<LeftSearch>& left);
  void leave(const Entry& entry);
  void store_order(const std::filesystem::path& workspace);
  void progressed(std::uint64_t job, const QueuedProgress& progress);
  void ended(std::uint64_t job, const QueuedResult& result);
  void tell_row(int row);
  QString name(const Entry& entry) const;
  QString text(const Entry& entry, int column) const;
  QString tip(const Entry& entry) const;
  double fraction(const Entry& entry) const;

  Session& session_;
  const PlannerFactory make_planner_;
  std::vector<Entry> entries_;
  std::uint64_t last_job_ = 0;
  std::filesystem::path looked_into_;          // the open workspace, for what was left in it
  std::stop_source stop_;                      // of the one that runs
  Worker worker_{Worker::OnExit::DropQueued};  // last: ends first
};

}  // namespace strato
