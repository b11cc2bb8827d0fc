#include "app/worker/measurement.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "app/worker/bytes.h"
#include "core/base/error.h"
#include "core/launch/job/job_result.h"

namespace strato::worker {
namespace {

constexpr std::size_t kHistoryBytes = std::size_t{64} << 20;

}  // namespace

std::string pack(const StepReport& report) {
  std::string text;
  put(text, report.span);
  put(text, report.loss.has_value());
  put(text, report.loss.value_or(0));
  return text;
}

StepReport unpack_step(const std::string& text) {
  Taker taker(text, "report of a step");
  StepReport report;
  report.span = taker.take<Span>();
  const bool has_loss = taker.take<bool>();
  const auto loss = taker.take<double>();
  if (has_loss) report.loss = loss;
  return report;
}

StepSummary summarise(std::span<const StepReport> reports, std::span<const ClockLine> clocks) {
  StepSummary summary;
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    const StepReport& report = reports[rank];
    start = std::min(start, clocks[rank].on_rank_0(report.span.start));
    end = std::max(end, clocks[rank].on_rank_0(report.span.end));
    if (report.loss) summary.loss = summary.loss.value_or(0) + *report.loss;
  }
  summary.time = Nanos(end - start);
  summary.start = start;
  return summary;
}

SpanHistory::SpanHistory(std::size_t instructions)
    : limit_(std::max<std::size_t>(
          1, kHistoryBytes / (sizeof(Span) * std::max<std::size_t>(1, instructions)))) {}

// The oldest one's memory is used again.
void SpanHistory::add(std::int64_t step, std::span<const Span> spans) {
  Kept kept{step, {}};
  if (kept_.size() == limit_) {
    kept.spans = std::move(kept_.front().spans);
    kept_.pop_front();
  }
  kept.spans.assign(spans.begin(), spans.end());
  kept_.push_back(std::move(kept));
}

std::int64_t SpanHistory::oldest() const { return kept_.empty() ? -1 : kept_.front().step; }

std::span<const Span> SpanHistory::of(std::int64_t step) const {
  const auto found =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.step == step; });
  CHECK(found != kept_.end(), "the measured step is not kept");
  return found->spans;
}

RankMeasurement measurement_of(const RankProgram& program, std::span<const Span> spans,
                               Bytes peak) {
  RankMeasurement measurement{peak, {}};
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    if (instruction.kind == InstructionKind::View) continue;
    measurement.tasks.push_back(
        {instruction.task, program.rank, Nanos(spans[i].start), Nanos(spans[i].end)});
  }
  return measurement;
}

std::string pack(const RankMeasurement& measurement) {
  std::string text;
  put(text, measurement.peak);
  for (const MeasuredTask& task : measurement.tasks) {
    put(text, task.task.value());
    put(text, task.start);
    put(text, task.end);
  }
  return text;
}

RankMeasurement unpack_measurement(const std::string& text, int rank) {
  Taker taker(text, "times of rank " + std::to_string(rank));
  RankMeasurement measurement;
  measurement.peak = taker.take<Bytes>();
  while (!taker.empty()) {
    const TaskId task(static_cast<std::size_t>(taker.take<std::int32_t>()));
    const auto start = taker.take<Nanos>();
    measurement.tasks.push_back({task, rank, start, taker.take<Nanos>()});
  }
  return measurement;
}

Typical typical_step(std::span<const Nanos> step_times, std::size_t warm_up, std::size_t oldest) {
  CHECK(!step_times.empty(), "no step was measured");
  const std::size_t first = std::min(warm_up, step_times.size() - 1);
  std::vector<Nanos> times(step_times.begin() + static_cast<std::ptrdiff_t>(first),
                           step_times.end());
  std::sort(times.begin(), times.end());
  Typical typical{0, times[(times.size() - 1) / 2]};
  typical.index = std::max(first, std::min(oldest, step_times.size() - 1));
  const auto distance = [&](std::size_t i) {
    return std::abs(step_times[i].value - typical.median.value);
  };
  for (std::size_t i = typical.index; i < step_times.size(); ++i) {
    if (distance(i) < distance(typical.index)) typical.index = i;
  }
  return typical;
}

}  // namespace strato::worker
