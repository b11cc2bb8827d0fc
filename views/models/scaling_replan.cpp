#include "views/models/scaling_replan.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <algorithm>

namespace strato {

ScalingReplan::ScalingReplan(Session& session, PlannerFactory make, QObject* parent)
    : QObject(parent), session_(session), replan_(session, std::move(make)) {
  connect(&replan_, &WhatIfReplan::changed, this, &ScalingReplan::take);
  connect(&session_, &Session::problem_changed, this, [this] {
    if (session_.snapshot().opened != opened_) clear();
  });
  connect(&session_, &Session::simulation_changed, this, &ScalingReplan::clear);
}

const ReplanFound* ScalingReplan::found(const ProblemChange& change) const {
  const auto at =
      std::ranges::find_if(found_, [&](const auto& each) { return each->change == change; });
  return at == found_.end() ? nullptr : at->get();
}

void ScalingReplan::start(const WhatIfScaling& scaling, bool weak, const QString& planner,
                          double seconds) {
  if (!session_.snapshot().problem || scaling.rows.empty() || planner.isEmpty()) return;
  replan_.stop();
  opened_ = session_.snapshot().opened;
  wanted_.clear();
  for (const ScalingRow& row : scaling.rows) wanted_.push_back(weak ? row.at.weak : row.at.strong);
  std::erase_if(found_, [&](const auto& each) {  // one line is of one planner
    return each->planner != planner || std::ranges::find(wanted_, each->change) != wanted_.end();
  });
  planner_ = planner;
  seconds_ = seconds;
  problem_.clear();
  at_ = 0;
  running_ = true;
  stopped_ = false;
  next();
}

void ScalingReplan::next() {
  found_before_ = replan_.found();
  if (at_ == wanted_.size() || stopped_) {
    running_ = false;
    emit changed();
  } else if (at_ == 0) {
    replan_.start(wanted_[0], planner_, seconds_);  // tells that it began
  } else {
    replan_.start_next(wanted_[at_]);
  }
}

void ScalingReplan::stop() {
  if (!running_ || stopped_) return;
  stopped_ = true;
  replan_.stop();
  emit changed();
}

void ScalingReplan::clear() {
  const bool had = running_ || !found_.empty() || !problem_.isEmpty();
  running_ = false;
  wanted_.clear();
  found_.clear();
  at_ = 0;
  problem_.clear();
  replan_.drop();
  if (had) emit changed();
}

// The planner began, has something better, or is done; or all of it was dropped.
void ScalingReplan::take() {
  if (!running_) return;
  if (session_.snapshot().opened != opened_) return clear();
  if (replan_.running()) {
    emit changed();
    return;
  }
  const auto& found = replan_.found();
  if (found && found != found_before_) {
    found_.push_back(found);
  } else if (!replan_.problem().isEmpty()) {
    if (problem_.isEmpty()) problem_ = replan_.problem();
  } else if (!stopped_) {
    return clear();
  }
  ++at_;
  next();
}

void ScalingReplan::settle() {
  while (running_) {
    replan_.settle();
    QCoreApplication::sendPostedEvents(this);
    QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
  }
}

}  // namespace strato
