#include "views/memory/fitting.h"

#include <utility>

#include "core/base/error.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "views/style/text.h"

namespace strato {
namespace {

std::size_t broken_by(const BoundConstraints* constraints, const Strategy& strategy) {
  return constraints != nullptr ? constraints->violated(strategy).size() : 0;
}

}  // namespace

QString words_of(const ChangedPlan& plan) {
  QStringList words;
  for (const std::string& change : plan.words) words << text(change);
  QString result = words.join(Fitting::tr(", and "));
  result[0] = result[0].toUpper();
  return result;
}

Fitting::Fitting(Session& session, QObject* parent) : QObject(parent), session_(session) {
  for (const auto changed : {&Session::problem_changed, &Session::strategy_changed,
                             &Session::constraints_changed, &Session::simulation_changed})
    connect(&session_, changed, this, &Fitting::forget);
}

Fitting::~Fitting() {
  stopping_.request_stop();
  worker_.end();
}

void Fitting::forget() {
  ++job_;
  stopping_.request_stop();
  looking_ = false;
  found_.reset();
  trouble_.clear();
  emit changed();
}

void Fitting::look() {
  const Snapshot& snapshot = session_.snapshot();
  if (looking_ || found_ || !snapshot.problem || !snapshot.strategy.is_complete()) return;
  looking_ = true;
  done_ = all_ = 0;
  trouble_.clear();
  stopping_ = std::stop_source();
  Job job{++job_, snapshot.problem, snapshot.strategy, session_.bound_constraints(),
          stopping_.get_token()};
  emit changed();
  worker_.post([this, job = std::move(job)] { try_all(job); });
}

void Fitting::stop() { stopping_.request_stop(); }

void Fitting::apply(std::size_t index) {
  if (!found_ || index >= found_->plans.size()) return;
  const ChangedPlan chosen = found_->plans[index];
  session_.edit(chosen.strategy, words_of(chosen));
}

template <class F>
void Fitting::tell(std::uint64_t job, F take) {
  const auto if_wanted = [this, job, take = std::move(take)]() mutable {
    if (job != job_) return;
    take();
    emit changed();
  };
  QMetaObject::invokeMethod(this, if_wanted, Qt::QueuedConnection);
}

void Fitting::try_all(const Job& job) {
  try {
    const auto evaluator = make_simulating_evaluator(*job.problem, 0, true);
    FittingPlans found = fitting_plans(*job.problem, job.strategy, *evaluator, job.stop,
                                       [&](std::size_t done, std::size_t all) {
                                         tell(job.number, [this, done, all] {
                                           done_ = done;
                                           all_ = all;
                                         });
                                       });
    const std::size_t broken = broken_by(job.constraints.get(), job.strategy);
    std::erase_if(found.plans, [&](const ChangedPlan& plan) {
      return broken_by(job.constraints.get(), plan.strategy) > broken;
    });
    tell(job.number, [this, found = std::move(found)]() mutable {
      found_ = std::move(found);
      looking_ = false;
    });
  } catch (const InputError& error) {
    tell(job.number, [this, why = text(error.what())] {
      trouble_ = why;
      looking_ = false;
    });
  }
}

}  // namespace strato
