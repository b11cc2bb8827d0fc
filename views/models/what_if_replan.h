// The changed problem of a what-if planned anew in the background, beside the strategy as it is.
// What was found stays until the problem that is open or the way of simulating is another; it says
// which change it is for. GUI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <stop_token>

#include "core/search/run/problem_change.h"
#include "core/search/run/tournament.h"
#include "views/models/session.h"
#include "views/models/worker.h"

namespace strato {

// Immutable.
struct ReplanFound {
  ProblemChange change;
  QString planner;
  std::shared_ptr<const Problem> problem;  // the changed one, in the strategy's groups
  Strategy strategy;                       // complete
  StepFigures figures;                     // simulated as the session simulates
  QString fullest;                         // a device
  QString note;                            // of the planner, or that nothing better was found
};

class WhatIfReplan : public QObject {
  Q_OBJECT
 public:
  // `make`: of the session's plugins when it is empty.
  explicit WhatIfReplan(Session& session, PlannerFactory make = {}, QObject* parent = nullptr);
  ~WhatIfReplan() override;  // stops what runs, and waits for it

  // Ends the one before, and drops it. The strategy shown is carried over: searches start from it,
  // and the result is never worse, unless it changes the results of training (lossy or stale) or
  // does not keep to the constraints. `seconds` is the budget of planners that search.
  void start(const ProblemChange& change, const QString& planner, double seconds);
  // The latest start for another change: of the same strategy, costs and constraints, whatever the
  // session has by now. Nothing without a start, or after drop().
  void start_next(const ProblemChange& change);
  void stop();  // ends soon, with the best that it has
  void drop();  // what runs, and what was found

  bool running() const { return running_; }
  bool stopping() const { return running_ && stop_.stop_requested(); }
  const ProblemChange& change() const { return change_; }  // of the latest start
  std::optional<Nanos> best_so_far() const { return best_; }
  const std::shared_ptr<const ReplanFound>& found() const { return found_; }  // null: nothing
  const QString& problem() const { return why_not_; }  // of the latest start; empty: none

  void settle();  // until it is done and told: for tests. Runs the event loop.

 signals:
  void changed();

 private:
  struct Job;
  class Teller;
  void take_problem();
  void begin(std::shared_ptr<Job> job);
  void run(const Job& job);
  template <class Function>
  void post(std::uint64_t job, Function function);

  Session& session_;
  PlannerFactory make_;
  std::shared_ptr<const Problem> opened_;  // what found_ and change_ are about
  ProblemChange change_;
  std::shared_ptr<const Job> latest_;  // null: none since it was dropped
  std::shared_ptr<const ReplanFound> found_;
  QString why_not_;
  std::optional<Nanos> best_;
  bool running_ = false;
  std::uint64_t job_ = 0;
  std::stop_source stop_;
  Worker worker_{Worker::OnExit::DropQueued};  // last: ends before what its jobs use
};

}  // namespace strato
