// The schedule of a transformer's pipeline as PyTorch reads it from a file (the compute_only form
// of PipelineScheduleMulti._load_csv, torchtitan's pipeline_parallel_schedule_csv): a row for each
// stage, its cells in their order. A backward pass in two is I, for inputs, and W, for weights. A
// schedule that came as such a table leaves as it is.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/framework/layout/recognise.h"
#include "core/plugin/api/plugin.h"
#include "core/program/lower/pipeline_order.h"
#include "core/strategy/value/schedule_csv.h"

namespace strato {
namespace {

std::string table_of(const frameworks::TrainingLayout& layout) {
  const MicroBatches micro{.count = layout.micro_batches, .schedule = layout.schedule};
  const auto letter_of = [&](PassKind pass) {
    return pass == PassKind::Forward   ? 'F'
           : pass == PassKind::Weights ? 'W'
           : splits_backward(micro)    ? 'I'
                                       : 'B';
  };
  std::string text;
  for (std::int32_t stage = 0; stage < layout.stages; ++stage) {
    std::vector<std::string> row;
    for (const ScheduleCell& cell :
         stage_order(micro, {.stages = layout.stages, .depth = stage, .chunks = layout.chunks}))
      row.push_back(fmt::format("{}{}{}", cell.chunk * layout.stages + stage, letter_of(cell.pass),
                                cell.micro));
    text += fmt::format("{}\n", fmt::join(row, ","));
  }
  return text;
}

class ScheduleExporter final : public Exporter {
 public:
  bool needs_all_tasks() const override { return false; }
  std::string write(const ExportInput& input) override {
    const MicroBatches& micro = input.strategy.micro_batches;
    if (micro.schedule == PipelineSchedule::ByHand) return schedule_csv(micro.table);
    const auto layout = frameworks::recognise(input.problem, input.strategy).layout;
    if (layout.stages == 1)
      throw InputError("", "strategy", "has one stage, which needs no schedule",
                       "plan a pipeline of two stages or more");
    if (layout.schedule == PipelineSchedule::AsReady)
      throw InputError("", "strategy", "has no schedule: stages compute what is ready",
                       "plan with a schedule, as 1f1b");
    return table_of(layout);
  }
};

}  // namespace
}  // namespace strato

STRATOSCOPE_EXPORTER([](std::string_view) { return std::make_unique<strato::ScheduleExporter>(); })
