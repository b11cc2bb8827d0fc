// A scaling planned anew at every number of machines, one after the other in the background: a
// strategy that is carried over to other devices is not the one that a planner would find for them.
// All numbers of a start are planned from the strategy and the constraints that there were then.
// What was found stays until the problem that is open or the way of simulating is another. GUI
// thread only.
#pragma once

#include "views/models/problem_what_if.h"
#include "views/models/what_if_replan.h"

namespace strato {

class ScalingReplan : public QObject {
  Q_OBJECT
 public:
  // `make`: of the session's plugins when it is empty.
  explicit ScalingReplan(Session& session, PlannerFactory make = {}, QObject* parent = nullptr);

  // Of every row, strong or weak; ends what runs, and drops what another planner found. `seconds`
  // is the budget for each of them.
  void start(const WhatIfScaling& scaling, bool weak, const QString& planner, double seconds);
  void stop();  // ends soon, with the best for this number; the others are not begun

  bool running() const { return running_; }
  bool stopping() const { return running_ && stopped_; }
  std::size_t done() const { return at_; }
  std::size_t wanted() const { return wanted_.size(); }
  // Null: not planned, or it could not be.
  const ReplanFound* found(const ProblemChange& change) const;
  // Why the first one that could not be planned could not; empty: there is none.
  const QString& problem() const { return problem_; }

  void settle();  // until it is done and told: for tests. Runs the event loop.

 signals:
  void changed();

 private:
  void take();
  void next();
  void clear();

  Session& session_;
  WhatIfReplan replan_;
  std::shared_ptr<const Problem> opened_;  // what found_ is about
  std::vector<ProblemChange> wanted_;
  std::vector<std::shared_ptr<const ReplanFound>> found_;  // also of earlier starts
  std::shared_ptr<const ReplanFound> found_before_;        // of replan_, as wanted_[at_] began
  std::size_t at_ = 0;
  QString planner_, problem_;
  double seconds_ = 0;
  bool running_ = false, stopped_ = false;
};

}  // namespace strato
