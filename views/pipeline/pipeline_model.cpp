#include "views/pipeline/pipeline_model.h"

#include <atomic>
#include <utility>

#include "views/style/text.h"

namespace strato {
namespace {

PipelineModel::Picture picture_of(const Problem& opened, const Strategy& strategy,
                                  std::shared_ptr<const Timeline> timeline) {
  return std::make_shared<const PipelinePicture>(
      std::make_shared<const Problem>(problem_for(opened, strategy)), strategy,
      std::move(timeline));
}

}  // namespace

PipelineModel::PipelineModel(Session& session, QObject* parent)
    : QObject(parent), session_(session), latest_(std::make_shared<std::atomic<std::uint64_t>>(0)) {
  connect(&session_, &Session::outcome_changed, this, &PipelineModel::refresh);
  connect(&session_, &Session::problem_changed, this, &PipelineModel::refresh);
  for (const auto changed :
       {&Session::problem_changed, &Session::strategy_changed, &Session::simulation_changed})
    connect(&session_, changed, this, &PipelineModel::forget);
}

PipelineModel::~PipelineModel() {
  *latest_ = ++job_;
  worker_.end();
}

void PipelineModel::watch(bool on) {
  watched_ = on;
  refresh();
}

void PipelineModel::refresh() {
  const Snapshot& snapshot = session_.snapshot();
  if (!watched_ || snapshot.outcome == of_) return;
  of_ = snapshot.outcome;
  looking_ = of_ != nullptr;
  trouble_.clear();
  if (!looking_) {
    shown_.reset();
    emit shown_changed();
    return;
  }
  worker_.post([this, outcome = of_, opened = snapshot.opened, strategy = snapshot.strategy] {
    Picture picture;
    QString trouble;
    try {
      picture = picture_of(*opened, strategy, outcome->timeline);
    } catch (const std::exception& thrown) {
      trouble = QString::fromUtf8(thrown.what());
    }
    QMetaObject::invokeMethod(
        this,
        [this, outcome, picture = std::move(picture), trouble] {
          if (outcome != of_) return;
          shown_ = picture;
          trouble_ = trouble;
          looking_ = false;
          emit shown_changed();
        },
        Qt::QueuedConnection);
  });
  emit shown_changed();
}

void PipelineModel::think(StrategyChange change, const QString& label) {
  const Snapshot& snapshot = session_.snapshot();
  if (!snapshot.problem) return;
  *latest_ = ++job_;
  label_ = label;
  refusal_.clear();
  thinks_ = waiting_ = true;
  const Strategy& now = thought_ ? thought_->strategy() : snapshot.strategy;
  worker_.post([this, job = job_, change = std::move(change), opened = snapshot.opened, now,
                latest = latest_, simulation = session_.simulation()] {
    if (*latest != job) return;
    Picture picture;
    QString refusal;
    try {
      const Problem problem = problem_for(*opened, now);
      const auto times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
      const Strategy wanted = change({problem, *opened, now, times});
      const Outcome outcome = simulate_as(*opened, wanted, simulation);
      picture = picture_of(*opened, wanted, outcome.timeline);
    } catch (const std::exception& thrown) {
      refusal = QString::fromUtf8(thrown.what());
    }
    QMetaObject::invokeMethod(
        this, [this, job, picture, refusal] { take(job, picture, refusal); }, Qt::QueuedConnection);
  });
  emit thought_changed();
}

void PipelineModel::take(std::uint64_t job, Picture picture, const QString& refusal) {
  if (job != job_ || !waiting_) return;
  waiting_ = false;
  if (picture) thought_ = std::move(picture);
  refusal_ = refusal;
  emit thought_changed();
}

void PipelineModel::forget() {
  *latest_ = ++job_;
  const bool had = thinks_;
  thinks_ = waiting_ = false;
  thought_.reset();
  refusal_.clear();
  if (had) emit thought_changed();
}

bool PipelineModel::apply() {
  if (!thought_ || waiting_ || !refusal_.isEmpty() ||
      thought_->strategy() == session_.snapshot().strategy)
    return false;
  const Picture wanted = thought_;
  session_.edit(wanted->strategy(), label_);
  return true;
}

}  // namespace strato
