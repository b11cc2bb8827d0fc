#include "core/strategy/file/schedule_json.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/io/json.h"

namespace strato {

Json schedule_to_json(const MicroBatches& micro_batches) {
  if (micro_batches.schedule != PipelineSchedule::ByHand) return name_of(micro_batches.schedule);
  return schedule_rows(micro_batches.table);
}

void read_schedule(const JsonView& view, MicroBatches& micro_batches) {
  if (view.is_array()) {
    std::vector<std::string> rows;
    for (const JsonView& row : view.items()) rows.push_back(row.string());
    try {
      micro_batches = by_hand(parse_schedule_rows(rows), micro_batches.count);
    } catch (const InputError& error) {
      view.fail(fmt::format("{}: {}", error.place(), error.problem()), error.remedy());
    }
    return;
  }
  const auto known = pipeline_schedule_from(view.string());
  if (!known)
    view.fail(fmt::format("\"{}\" is no schedule of micro-batches", view.string().substr(0, 64)),
              fmt::format("schedules: {}, or a list of rows", fmt::join(kPipelineSchedules, ", ")));
  micro_batches.schedule = *known;
}

}  // namespace strato
