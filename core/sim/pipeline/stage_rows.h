// A pipeline as people draw it: a row for each stage, the cells of its micro-batches where they
// run, and the bubbles between them with what they wait for. Pure functions of a timeline;
// deterministic; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/program/stages/stage_plan.h"
#include "core/sim/timeline/spans.h"
#include "core/sim/timeline/timeline.h"

namespace strato {

// A cell where it runs; in several pieces where another one runs in between.
struct StageCell {
  ScheduleCell cell;
  Nanos begin, end;
};

// What a stage that has nothing to do waits for.
enum class BubbleCause : std::uint8_t {
  Pass,      // another stage computes the cell that it waits for
  Transfer,  // what that one has made is on its way
  Exchange,  // several stages exchange something
  Peer,      // another device of its own stage, or its host
  Busy,      // links, or the process that starts kernels, are taken
  End,       // it is done, and other stages are not
};
inline constexpr std::size_t kBubbleCauses = 6;

struct StageBubble {
  Nanos begin, end;
  BubbleCause cause = BubbleCause::Pass;
  std::int32_t from = -1;                         // the stage that it waits for; -1: none
  std::optional<ScheduleCell> next = {};          // what it does afterwards
  std::optional<ScheduleCell> awaited_cell = {};  // of Pass, Transfer, End: what `from` computes
};

// Of a stage the device that has most to do: its others do the same, or wait for it.
struct StageRow {
  std::vector<DeviceId> devices;  // of the stage, ascending
  DeviceId shown;
  std::vector<std::int32_t> chunks;
  std::vector<StageCell> cells;  // ascending; none overlaps another
  Spans once;                    // what else occupies the device: updates, exchanges of gradients
  // Ascending; together with what is occupied they are the step. Waits within a cell are here, too.
  std::vector<StageBubble> bubbles;
  Nanos waits() const;
};

struct StageRows {
  Nanos step_time;
  std::vector<StageRow> rows;  // along the pipeline
  // The part of the step that devices wait, on average over the rows.
  double bubble() const;
};

// `plan`: of the strategy that the timeline is of. No rows: it is no pipeline of several stages.
StageRows stage_rows(const Timeline& timeline, const StagePlan& plan);

// The order in which the rows run the cells: the plan's own, or where it has none, as ready, that
// of their beginnings. A table that another strategy with these stages can have by hand.
ScheduleTable table_as_run(const StageRows& rows, const StagePlan& plan);

}  // namespace strato
