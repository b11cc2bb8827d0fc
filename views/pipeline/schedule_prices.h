// What each schedule with a name would cost with so many micro-batches, all else as it is shown:
// found in the background when somebody asks, one after the other. GUI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "views/models/session.h"
#include "views/models/worker.h"
#include "views/pipeline/pipeline_picture.h"

namespace strato {

class SchedulePrices : public QObject {
  Q_OBJECT
 public:
  struct Answer {
    std::optional<PipelinePrice> price;
    QString refusal;  // why there is none; empty: it is not known yet
  };

  explicit SchedulePrices(Session& session, QObject* parent = nullptr);
  ~SchedulePrices() override;

  void ask(std::int32_t micro_batches);  // nothing where it is known, or being found
  const Answer& of(PipelineSchedule schedule) const {
    return answers_[static_cast<std::size_t>(schedule)];
  }

 signals:
  void changed();

 private:
  void forget();

  Session& session_;
  std::int32_t asked_ = 0;  // micro-batches; 0: nothing
  std::array<Answer, kPipelineSchedules.size()> answers_;
  std::uint64_t job_ = 0;
  std::shared_ptr<std::atomic<std::uint64_t>> latest_;
  Worker worker_{Worker::OnExit::DropQueued};
};

}  // namespace strato
