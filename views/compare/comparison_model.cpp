#include "views/compare/comparison_model.h"

#include <QCoreApplication>
#include <QEventLoop>

#include "core/compare/page/plans_html.h"
#include "views/compare/report_file.h"

namespace strato {

ComparisonModel::ComparisonModel(Session& session, SecondPlan& second, QObject* parent)
    : QObject(parent), session_(session), second_(&second) {
  connect(&session_, &Session::outcome_changed, this, &ComparisonModel::take_outcome);
  connect(&session_, &Session::problem_changed, this, [this] {
    if (!session_.snapshot().problem) take_outcome();
  });
  connect(&second, &SecondPlan::changed, this, &ComparisonModel::refresh);
  take_outcome();
}

ComparisonModel::~ComparisonModel() {
  ++job_;
  worker_.end();
}

void ComparisonModel::set_active(bool active) {
  active_ = active;
  if (second_) second_->use(this, active);
  if (other_) other_->use(this, active);
  refresh();
}

bool ComparisonModel::has_ids_of_session() const {
  const auto& problem = session_.snapshot().problem;
  return shown_ && problem && problem->graph == shown_->problem->graph &&
         problem->cluster == shown_->problem->cluster &&
         problem->grouping->digest() == shown_->problem->grouping->digest();
}

// The strategy of the snapshot is the outcome's at this moment, and may be ahead of it at others.
void ComparisonModel::take_outcome() {
  to_ = compared(session_.snapshot());
  refresh();
}

void ComparisonModel::set_to(SecondPlan* to) {
  if (to == other_) return;
  if (other_) {
    other_->use(this, false);
    other_->disconnect(this);
  }
  other_ = to;
  other_to_.reset();
  if (other_) {
    connect(other_, &SecondPlan::changed, this, &ComparisonModel::take_other);
    connect(other_, &QObject::destroyed, this, [this] { refresh(); });
    other_->use(this, active_);
  }
  take_other();
}

void ComparisonModel::take_other() {
  other_to_.reset();
  if (other_ && other_->plan()) other_to_ = compared(*other_->plan());
  refresh();
}

void ComparisonModel::refresh() {
  const std::shared_ptr<const OtherPlan> from = second_ ? second_->plan() : nullptr;
  const std::optional<ComparedPlan>& to_now = side_to();
  // One of them is still simulated in another way: it will be told when it is there.
  const bool alike =
      from && to_now && from->outcome->timeline->options == to_now->outcome->timeline->options;
  const bool waits = second_ && second_->busy();
  if (!active_ || !alike) {
    const bool lacks_other = other_ && !other_->busy() && !to_now;
    if (active_ && ((!from && !waits) || lacks_other) && shown_) {
      ++job_;
      shown_.reset();
      compared_from_.reset();
      busy_ = false;
    }
    emit changed();
    return;
  }
  if (from->outcome == compared_from_ && to_now->outcome == compared_to_ &&
      from->label == label_from_ && to_now->label == label_to_) {
    emit changed();
    return;
  }
  compared_from_ = from->outcome;
  compared_to_ = to_now->outcome;
  label_from_ = from->label;
  label_to_ = to_now->label;
  busy_ = true;
  const std::uint64_t job = ++job_;
  worker_.post([this, job, from, to = *to_now] {
    if (job_ != job) return;
    std::shared_ptr<const ShownComparison> found;
    QString problem;
    try {
      const PlanToCompare first{from->label.toStdString(), *from->problem, from->strategy,
                                *from->outcome};
      const PlanToCompare second{to.label.toStdString(), *to.problem, to.strategy, *to.outcome};
      found = std::make_shared<const ShownComparison>(
          ShownComparison{to.problem, compare_plans(first, second)});
    } catch (const std::exception& thrown) {
      problem = QString::fromUtf8(thrown.what());
    }
    QMetaObject::invokeMethod(
        this, [this, job, found, problem] { finish(job, found, problem); }, Qt::QueuedConnection);
  });
  emit changed();
}

void ComparisonModel::finish(std::uint64_t job, std::shared_ptr<const ShownComparison> found,
                             const QString& problem) {
  if (job != job_) return;
  busy_ = false;
  if (found) shown_ = std::move(found);
  if (!problem.isEmpty()) emit session_.message(problem);
  emit changed();
}

void ComparisonModel::save_report(const std::filesystem::path& file) {
  if (!shown_) return;
  write_report(*this, session_, worker_, file,
               [shown = shown_] { return comparison_html(shown->comparison); });
}

void ComparisonModel::settle() {
  while (busy_ || (second_ && second_->busy()) || (other_ && other_->busy())) {
    if (second_) second_->settle();
    if (other_) other_->settle();
    worker_.wait();
    QCoreApplication::sendPostedEvents(this);
    QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
  }
  worker_.wait();
  QCoreApplication::sendPostedEvents(this);
}

}  // namespace strato
