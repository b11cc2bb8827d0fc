// The second plan on the shown problem's graph, made in the background whenever one of the two
// plans is another. What was found last stays meanwhile, while it is about this graph; what arrives
// too late is dropped. In the GUI thread. Must not outlive the session.
#pragma once

#include <QObject>
#include <QPointer>
#include <atomic>

#include "views/graph/plan_on_graph.h"
#include "views/models/worker.h"

namespace strato {

class PlanBeside : public QObject {
  Q_OBJECT
 public:
  PlanBeside(Session& session, SecondPlan& second, QObject* parent = nullptr);
  ~PlanBeside() override;

  void set_wanted(bool wanted);  // only then does it, or the second plan, work
  const std::shared_ptr<const PlanOnGraph>& plan() const { return plan_; }  // null: none yet
  bool busy() const { return busy_ || (second_ && second_->busy()); }
  QString why_none() const;  // while there is no plan
  SecondPlan* second() const { return second_; }

 signals:
  void changed();  // plan() or busy()

 private:
  void refresh();

  Session& session_;
  QPointer<SecondPlan> second_;
  std::shared_ptr<const PlanOnGraph> plan_;
  bool wanted_ = false, busy_ = false;
  std::atomic<std::uint64_t> job_ = 0;
  Worker worker_{Worker::OnExit::DropQueued};  // last: ends before what its jobs use
};

}  // namespace strato
