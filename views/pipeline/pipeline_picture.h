// All that the Pipeline view shows of one strategy, found off the GUI thread: rows with cells and
// bubbles, memory under them, and what the schedule would wait for ideally. Immutable once made;
// shared between threads.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/schedule/list/stage_layers.h"
#include "core/search/api/problem.h"
#include "core/search/evaluate/outcome.h"
#include "core/sim/pipeline/ideal_schedule.h"
#include "core/sim/pipeline/stage_rows.h"
#include "views/timeline/memory_curve.h"

namespace strato {

// What a step costs, as far as schedules differ in it.
struct PipelinePrice {
  Nanos step_time;
  double bubble = 0;
  Bytes peak, capacity;  // of the device that is fullest
  bool feasible = true;
};

class PipelinePicture {
 public:
  // `problem`: in the strategy's groups. Throws InputError as lowering does.
  PipelinePicture(std::shared_ptr<const Problem> problem, const Strategy& strategy,
                  std::shared_ptr<const Timeline> timeline);

  struct CellAt {  // of rows
    std::size_t row = 0, cell = 0;
    friend bool operator==(const CellAt&, const CellAt&) = default;
  };

  const Problem& problem() const { return *problem_; }
  const Strategy& strategy() const { return strategy_; }
  const Timeline& timeline() const { return *timeline_; }
  const StagePlan& plan() const { return plan_; }
  // None: the step has no stages that micro-batches go through.
  const StageRows& rows() const { return rows_; }
  bool is_pipeline() const { return !rows_.rows.empty(); }
  const StageCell& cell(CellAt place) const { return rows_.rows[place.row].cells[place.cell]; }
  const PipelinePrice& price() const { return price_; }
  // All passes as they run; without transfers; and of stages that are equal, too.
  const PassesLength& passes() const { return passes_; }
  const PassesLength& without_transfers() const { return without_transfers_; }
  const PassesLength& ideal() const { return ideal_; }
  const std::vector<MemoryCurve>& memory() const { return memory_; }  // by row, of its device
  // Cells in the order in which they begin: what is played step by step.
  const std::vector<CellAt>& in_time() const { return in_time_; }
  std::size_t place_in_time(CellAt place) const { return rank_[place.row][place.cell]; }
  // Nothing: its chunks do not follow each other along the model's layers.
  const std::optional<StageLayers>& layers() const { return layers_; }
  std::optional<CellAt> find(const ScheduleCell& cell) const;  // its first piece

 private:
  void list_memory();
  void list_in_time();

  std::shared_ptr<const Problem> problem_;
  Strategy strategy_;
  std::shared_ptr<const Timeline> timeline_;
  StagePlan plan_;
  StageRows rows_;
  PipelinePrice price_;
  PassesLength passes_, without_transfers_, ideal_;
  std::vector<MemoryCurve> memory_;
  std::optional<StageLayers> layers_;
  std::vector<CellAt> in_time_;
  std::vector<std::vector<std::size_t>> rank_;  // by row and cell: place in in_time_
  std::map<ScheduleCell, CellAt> first_;
};

}  // namespace strato
