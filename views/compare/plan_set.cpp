#include "views/compare/plan_set.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <algorithm>

#include "core/compare/page/plans_html.h"
#include "core/search/evaluate/outcome.h"
#include "views/compare/report_file.h"

namespace strato {
namespace {

// Of sides that stay.
std::vector<PlanToCompare> to_compare(const std::vector<ComparedPlan>& sides) {
  std::vector<PlanToCompare> plans;
  for (const ComparedPlan& side : sides)
    plans.push_back({side.label.toStdString(), *side.problem, side.strategy, *side.outcome});
  return plans;
}

}  // namespace

PlanSet::PlanSet(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::outcome_changed, this, &PlanSet::take_outcome);
  connect(&session_, &Session::problem_changed, this, [this] {
    if (!session_.snapshot().problem) take_outcome();
  });
  take_outcome();
}

PlanSet::~PlanSet() {
  ++job_;
  worker_.end();
}

void PlanSet::set_active(bool active) {
  active_ = active;
  for (const auto& member : members_) member->use(this, active);
  if (active) refresh();  // a hidden page tells nothing: it may be going with all that listens
}

bool PlanSet::add(const SecondChoice& choice, const SecondPlan* like) {
  if (members_.size() >= kMost || find(choice) != nullptr) return false;
  members_.push_back(std::make_unique<SecondPlan>(session_));
  asked_.push_back(choice);
  SecondPlan& member = *members_.back();
  connect(&member, &SecondPlan::changed, this, &PlanSet::member_changed);
  if (like != nullptr) member.remember_as(*like);
  member.choose(choice);
  member.use(this, active_);
  refresh();
  return true;
}

void PlanSet::remove(const SecondChoice& choice) {
  const auto at = std::ranges::find(asked_, choice);
  if (at == asked_.end()) return;
  const auto number = at - asked_.begin();
  asked_.erase(at);
  SecondPlan* member = members_[static_cast<std::size_t>(number)].release();
  member->disconnect(this);
  member->setParent(this);
  member->deleteLater();  // it may be speaking
  members_.erase(members_.begin() + number);
  refresh();
}

SecondPlan* PlanSet::find(const SecondChoice& choice) const {
  const auto at = std::ranges::find(asked_, choice);
  return at == asked_.end() ? nullptr
                            : members_[static_cast<std::size_t>(at - asked_.begin())].get();
}

// Of rows of a workspace that was closed: a plan of another name in their place is nobody's choice.
void PlanSet::member_changed() {
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (members_[m]->choice() == asked_[m]) continue;
    remove(SecondChoice(asked_[m]));
    return;
  }
  refresh();
}

QStringList PlanSet::problems() const {
  QStringList lines;
  for (const auto& member : members_)
    if (!member->problem().isEmpty()) lines << member->problem();
  return lines;
}

bool PlanSet::busy() const {
  return comparing_ ||
         std::ranges::any_of(members_, [](const auto& member) { return member->busy(); });
}

bool PlanSet::has_ids_of_session() const {
  const auto& problem = session_.snapshot().problem;
  return shown_ && problem && problem->graph == shown_->problem->graph &&
         problem->cluster == shown_->problem->cluster &&
         problem->grouping->digest() == shown_->problem->grouping->digest();
}

// The strategy of the snapshot is the outcome's at this moment, and may be ahead of it at others.
void PlanSet::take_outcome() {
  reference_ = compared(session_.snapshot());
  refresh();
}

// Those that are simulated as the plan shown is: the others will tell when they are.
std::vector<ComparedPlan> PlanSet::sides(std::vector<SecondChoice>& choices) const {
  std::vector<ComparedPlan> result;
  if (!reference_) return result;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const std::shared_ptr<const OtherPlan>& plan = members_[m]->plan();
    if (!plan || plan->outcome->timeline->options != reference_->outcome->timeline->options)
      continue;
    result.push_back(compared(*plan));
    choices.push_back(asked_[m]);
  }
  result.push_back(*reference_);
  return result;
}

void PlanSet::refresh() {
  std::vector<SecondChoice> choices;
  if (!active_) {
    emit changed();
    return;
  }
  auto all = sides(choices);
  std::vector<std::shared_ptr<const Outcome>> outcomes;
  for (const ComparedPlan& side : all) outcomes.push_back(side.outcome);
  const QString label = all.empty() ? QString() : all.back().label;
  const bool known = (shown_ || comparing_) && outcomes == compared_ &&
                     choices == compared_choices_ && label == compared_label_;
  if (all.empty()) {
    ++job_;
    comparing_ = false;
    shown_.reset();
    compared_.clear();
  } else if (!known) {
    compared_ = std::move(outcomes);
    compared_choices_ = choices;
    compared_label_ = label;
    comparing_ = true;
    const std::uint64_t job = ++job_;
    worker_.post([this, job, all = std::move(all), choices = std::move(choices)] {
      if (job_ != job) return;
      std::shared_ptr<const ShownMatrix> found;
      QString problem;
      try {
        found = std::make_shared<const ShownMatrix>(
            ShownMatrix{all.back().problem, choices, all, compare_many(to_compare(all))});
      } catch (const std::exception& thrown) {
        problem = QString::fromUtf8(thrown.what());
      }
      const auto finish = [this, job, found, problem] {
        if (job != job_) return;
        comparing_ = false;
        if (found) shown_ = found;
        if (!problem.isEmpty()) emit session_.message(problem);
        emit changed();
      };
      QMetaObject::invokeMethod(this, finish, Qt::QueuedConnection);
    });
  }
  emit changed();
}

void PlanSet::save_report(const std::filesystem::path& file) {
  if (!shown_) return;
  write_report(*this, session_, worker_, file,
               [shown = shown_] { return plans_html(to_compare(shown->sides)); });
}

void PlanSet::settle() {
  while (busy()) {
    for (const auto& member : members_) member->settle();
    worker_.wait();
    QCoreApplication::sendPostedEvents(this);
    QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
  }
  worker_.wait();  // a report
  QCoreApplication::sendPostedEvents(this);
}

}  // namespace strato
