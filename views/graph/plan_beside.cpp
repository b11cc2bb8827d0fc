#include "views/graph/plan_beside.h"

namespace strato {

PlanBeside::PlanBeside(Session& session, SecondPlan& second, QObject* parent)
    : QObject(parent), session_(session), second_(&second) {
  connect(&second, &SecondPlan::changed, this, &PlanBeside::refresh);
  connect(&session_, &Session::strategy_changed, this, &PlanBeside::refresh);
  connect(&session_, &Session::problem_changed, this, &PlanBeside::refresh);
}

PlanBeside::~PlanBeside() {
  ++job_;
  worker_.end();
}

void PlanBeside::set_wanted(bool wanted) {
  if (wanted == wanted_) return;
  wanted_ = wanted;
  if (second_) second_->use(this, wanted);
  refresh();
}

QString PlanBeside::why_none() const {
  if (!session_.snapshot().problem) return tr("Open a model and a cluster (Ctrl+O).");
  if (busy()) return tr("Simulating…");
  const QString how = tr("Choose another plan above, or in Compare.");
  return second_ && !second_->problem().isEmpty() ? second_->problem() + QLatin1Char('\n') + how
                                                  : how;
}

void PlanBeside::refresh() {
  if (!wanted_) return;
  const Snapshot& now = session_.snapshot();
  const std::shared_ptr<const OtherPlan> other = second_ ? second_->plan() : nullptr;
  const bool fits = now.problem && now.strategy.groups.size() == now.problem->grouping->size();
  const bool gone = !other && !(second_ && second_->busy());
  if (plan_ && (!now.problem || !plan_->is_of(*now.problem) || gone)) plan_.reset();
  const std::uint64_t job = ++job_;
  busy_ = fits && other;
  if (busy_) {
    worker_.post([this, job, shown = now.problem, strategy = now.strategy, other, known = plan_] {
      if (job_ != job) return;
      auto made = plan_on_graph(shown, strategy, other, known.get());
      QMetaObject::invokeMethod(
          this,
          [this, job, made = std::move(made)] {
            if (job_ != job) return;
            plan_ = made;
            busy_ = false;
            emit changed();
          },
          Qt::QueuedConnection);
    });
  }
  emit changed();
}

}  // namespace strato
