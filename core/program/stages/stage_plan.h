// What a strategy makes of its devices when micro-batches follow each other, for those who look at
// a pipeline or order it by hand: its stages, the chunks of the model that each has, the cell that
// each op is of, and the order of all cells. The same stages, chunks and cells that lowering finds.
// Immutable once made; safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/cost/value/cost_model.h"
#include "core/graph/group/grouping.h"
#include "core/program/value/program.h"
#include "core/strategy/value/strategy.h"

namespace strato {

class StagePlan {
 public:
  struct Stage {
    std::vector<DeviceId> devices;     // ascending
    std::vector<std::int32_t> chunks;  // ascending: in the order of its visits
  };
  // Of a strategy in these groups. Throws InputError where its micro-batches cannot follow each
  // other so: see Tables and Pipeline.
  StagePlan(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
            std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost,
            const Strategy& strategy);
  ~StagePlan();

  // As Program::stage_of numbers them. One or none: there is nothing to order.
  const std::vector<Stage>& stages() const { return stages_; }
  std::int32_t stage_of_chunk(std::int32_t chunk) const { return stage_of_chunk_[at(chunk)]; }
  std::size_t chunk_count() const { return stage_of_chunk_.size(); }
  const MicroBatches& micro_batches() const { return micro_batches_; }
  // Are backward passes in two?
  bool splits_backward() const { return splits_backward_; }
  // Of its first micro-batch; nothing: it runs once a step.
  std::optional<ScheduleCell> cell_of(OpId op) const;
  // The cells of the same micro-batch that make what this one reads.
  std::vector<ScheduleCell> awaited(const ScheduleCell& cell) const;

  // A row for each stage: its cells in their order. Of as-ready one of the orders that can be.
  const ScheduleTable& table() const { return table_; }
  // The same by another schedule of as many micro-batches, named or by hand. Throws InputError
  // where a table cannot go on, with the cells that wait for each other, or is not of these stages.
  ScheduleTable order(const MicroBatches& other) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
  MicroBatches micro_batches_;
  bool splits_backward_ = false;
  std::vector<Stage> stages_;
  std::vector<std::int32_t> stage_of_chunk_;
  IdVector<OpId, std::int32_t> pass_of_;           // -1: it runs once
  std::vector<std::vector<std::size_t>> follows_;  // by pass
  ScheduleTable table_;
};

}  // namespace strato
