#include "views/pipeline/schedule_prices.h"

#include <utility>

#include "views/style/text.h"

namespace strato {

SchedulePrices::SchedulePrices(Session& session, QObject* parent)
    : QObject(parent), session_(session), latest_(std::make_shared<std::atomic<std::uint64_t>>(0)) {
  for (const auto changed :
       {&Session::problem_changed, &Session::strategy_changed, &Session::simulation_changed})
    connect(&session_, changed, this, &SchedulePrices::forget);
}

SchedulePrices::~SchedulePrices() {
  *latest_ = ++job_;
  worker_.end();
}

void SchedulePrices::forget() {
  *latest_ = ++job_;
  if (std::exchange(asked_, 0) == 0) return;
  answers_ = {};
  emit changed();
}

void SchedulePrices::ask(std::int32_t micro_batches) {
  const Snapshot& snapshot = session_.snapshot();
  if (!snapshot.opened || micro_batches < 2 || micro_batches == asked_) return;
  forget();
  asked_ = micro_batches;
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    const MicroBatches wanted{micro_batches, static_cast<PipelineSchedule>(i)};
    worker_.post([this, i, wanted, job = job_, latest = latest_, opened = snapshot.opened,
                  strategy = snapshot.strategy, simulation = session_.simulation()]() mutable {
      if (*latest != job) return;
      Answer answer;
      try {
        strategy.micro_batches = wanted;
        const Outcome outcome = simulate_as(*opened, strategy, simulation);
        const auto problem = std::make_shared<const Problem>(problem_for(*opened, strategy));
        answer.price = PipelinePicture(problem, strategy, outcome.timeline).price();
      } catch (const std::exception& thrown) {
        answer.refusal = QString::fromUtf8(thrown.what());
      }
      QMetaObject::invokeMethod(
          this,
          [this, i, job, answer] {
            if (job != job_) return;
            answers_[i] = answer;
            emit changed();
          },
          Qt::QueuedConnection);
    });
  }
}

}  // namespace strato
