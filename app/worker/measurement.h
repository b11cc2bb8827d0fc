// What each rank measured, on its way to rank 0 and into the job's result.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/worker/alignment.h"
#include "app/worker/step_runner.h"
#include "core/launch/job/job_result.h"

namespace strato::worker {

// One step of one rank, on its own clock.
struct StepReport {
  Span span;
  std::optional<double> loss;
};
std::string pack(const StepReport& report);
StepReport unpack_step(const std::string& text);

// All ranks' reports of one step: the losses of shards add up.
struct StepSummary {
  Nanos time;              // from the earliest start to the latest end
  std::int64_t start = 0;  // on rank 0's clock
  std::optional<double> loss;
};
StepSummary summarise(std::span<const StepReport> reports, std::span<const ClockLine> clocks);

// The spans of the last steps, as many as a bounded memory holds.
class SpanHistory {
 public:
  explicit SpanHistory(std::size_t instructions);
  void add(std::int64_t step, std::span<const Span> spans);
  std::int64_t oldest() const;  // -1: none
  std::span<const Span> of(std::int64_t step) const;

 private:
  struct Kept {
    std::int64_t step;
    std::vector<Span> spans;
  };
  std::size_t limit_;
  std::deque<Kept> kept_;
};

// What a rank hands over of the measured step.
struct RankMeasurement {
  Bytes peak;
  std::vector<MeasuredTask> tasks;  // on the rank's own clock
};
RankMeasurement measurement_of(const RankProgram& program, std::span<const Span> spans, Bytes peak);
std::string pack(const RankMeasurement& measurement);
RankMeasurement unpack_measurement(const std::string& text, int rank);

// The step after the warm-up, from `oldest` on, whose time is nearest to the median; the median.
struct Typical {
  std::size_t index = 0;  // of step_times
  Nanos median;
};
Typical typical_step(std::span<const Nanos> step_times, std::size_t warm_up, std::size_t oldest);

}  // namespace strato::worker
