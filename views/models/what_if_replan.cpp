#include "views/models/what_if_replan.h"

#include <QCoreApplication>
#include <QEventLoop>

#include "core/base/error.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/search/run/run_planner.h"
#include "core/strategy/value/variable_check.h"
#include "views/models/simulation.h"
#include "views/style/text.h"

namespace strato {

struct WhatIfReplan::Job {
  std::uint64_t id = 0;
  std::shared_ptr<const Problem> problem;  // as it is, in the strategy's groups
  CostSources costs;
  Strategy strategy;
  Simulation simulation;
  ProblemChange change;
  std::string planner;
  PlannerOptions options;
  std::stop_token stop;
};

// Tells the GUI thread how fast the best strategy so far is.
class WhatIfReplan::Teller : public Observer {
 public:
  Teller(WhatIfReplan& replan, std::uint64_t job) : replan_(replan), job_(job) {}
  void on_improvement(const Strategy&, const Score& score, const Progress&) override {
    if (!score.feasible) return;
    replan_.post(job_, [&replan = replan_, time = score.step_time] {
      replan.best_ = time;
      emit replan.changed();
    });
  }

 private:
  WhatIfReplan& replan_;
  std::uint64_t job_;
};

WhatIfReplan::WhatIfReplan(Session& session, PlannerFactory make, QObject* parent)
    : QObject(parent), session_(session), make_(std::move(make)) {
  if (!make_)
    make_ = [&plugins = session.plugins()](std::string_view name) { return plugins.planner(name); };
  connect(&session_, &Session::problem_changed, this, &WhatIfReplan::take_problem);
  connect(&session_, &Session::simulation_changed, this, &WhatIfReplan::drop);
  take_problem();
}

WhatIfReplan::~WhatIfReplan() {
  stop_.request_stop();
  ++job_;
  worker_.end();
}

void WhatIfReplan::take_problem() {
  const auto& now = session_.snapshot().opened;
  if (now == opened_) return;  // shown in other groups
  opened_ = now;
  drop();
}

void WhatIfReplan::drop() {
  stop_.request_stop();
  ++job_;
  const bool had = running_ || found_ || !why_not_.isEmpty();
  running_ = false;
  latest_.reset();
  found_.reset();
  best_.reset();
  why_not_.clear();
  if (had) emit changed();
}

void WhatIfReplan::stop() {
  if (!running_ || stop_.stop_requested()) return;
  stop_.request_stop();
  emit changed();
}

void WhatIfReplan::start(const ProblemChange& change, const QString& planner, double seconds) {
  const Snapshot& snapshot = session_.snapshot();
  if (!snapshot.problem || planner.isEmpty()) return;
  auto job = std::make_shared<Job>();
  job->problem = snapshot.problem;
  job->costs = snapshot.costs;
  job->strategy = snapshot.strategy;
  job->simulation = session_.simulation();
  job->change = change;
  job->planner = planner.toStdString();
  job->options.budget_seconds = seconds;
  job->options.constraints = session_.constraints();
  begin(std::move(job));
}

void WhatIfReplan::start_next(const ProblemChange& change) {
  if (!latest_) return;
  auto job = std::make_shared<Job>(*latest_);
  job->change = change;
  begin(std::move(job));
}

void WhatIfReplan::begin(std::shared_ptr<Job> job) {
  stop_.request_stop();
  stop_ = {};
  job->id = ++job_;
  job->stop = stop_.get_token();
  change_ = job->change;
  latest_ = job;
  running_ = true;
  best_.reset();
  why_not_.clear();
  worker_.post([this, job] {
    try {
      run(*job);
    } catch (const std::exception& thrown) {
      post(job->id, [this, why = QString::fromUtf8(thrown.what())] {
        running_ = false;
        why_not_ = why;
        found_.reset();  // that was of another wish
        emit changed();
      });
    }
  });
  emit changed();
}

// To the GUI thread, unless something newer was asked for by then.
template <class Function>
void WhatIfReplan::post(std::uint64_t job, Function function) {
  QMetaObject::invokeMethod(
      this,
      [this, job, function = std::move(function)]() mutable {
        if (job_ == job) function();
      },
      Qt::QueuedConnection);
}

void WhatIfReplan::run(const Job& job) {
  if (job.stop.stop_requested()) {  // before it began
    post(job.id, [this] {
      running_ = false;
      emit changed();
    });
    return;
  }
  ProblemChanger changer(*job.problem, job.costs);
  const ChangedProblem then = changer.apply(job.change);
  const Strategy carried = carry_over(job.strategy, then);
  PlannerOptions options = job.options;
  if (!carried.grouping) options.seeds = {carried};
  const std::unique_ptr<Planner> planner = make_(job.planner);
  Teller teller(*this, job.id);
  PlanResult result = run_planner(*planner, then.problem, options, teller, job.stop);
  const auto figures = [&](const Strategy& strategy) {
    const Problem problem = problem_for(then.problem, strategy);
    return figures_of(problem, simulate_as(problem, strategy, job.simulation));
  };
  auto found = std::make_shared<ReplanFound>();
  found->change = job.change;
  found->planner = text(job.planner);
  found->strategy = std::move(result.strategy);
  found->figures = figures(found->strategy);
  found->note = text(result.note);
  const StepFigures as_it_is = figures(carried);
  const bool may_stay = options.constraints == nullptr && keeps_results(carried);
  const bool better = as_it_is.feasible != found->figures.feasible
                          ? as_it_is.feasible
                          : as_it_is.step_time < found->figures.step_time;
  if (better && may_stay) {
    found->strategy = carried;
    found->figures = as_it_is;
    found->note = tr("Nothing better than this strategy was found.");
  }
  found->problem = std::make_shared<const Problem>(problem_for(then.problem, found->strategy));
  if (found->figures.fullest.valid())
    found->fullest = text(then.problem.cluster->device(found->figures.fullest).name);
  post(job.id, [this, found = std::shared_ptr<const ReplanFound>(found)] {
    found_ = found;
    running_ = false;
    emit changed();
  });
}

void WhatIfReplan::settle() {
  while (running_) {
    worker_.wait();
    QCoreApplication::sendPostedEvents(this);
    QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
  }
}

}  // namespace strato
