#include "core/program/stages/stage_plan.h"

#include <utility>

#include "core/program/lower/pipeline.h"
#include "core/program/lower/pipeline_order.h"

namespace strato {
namespace {

ScheduleTable rows_of(const Pipeline& pipeline) {
  ScheduleTable table(pipeline.chunks().stages().size());
  for (const ScheduleCell& cell : pipeline.cells())
    table[at(pipeline.chunks().stage_of_chunk(cell.chunk))].push_back(cell);
  return table;
}

}  // namespace

struct StagePlan::Parts {
  Parts(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
        std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost,
        const CompleteStrategy& strategy)
      : tables(std::move(graph), std::move(grouping), std::move(cluster), std::move(cost),
               strategy->micro_batches.count),
        placement(tables) {
    placement.place(*strategy);
  }
  Tables tables;
  Placement placement;
};

StagePlan::~StagePlan() = default;

StagePlan::StagePlan(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
                     std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost,
                     const Strategy& strategy)
    : micro_batches_(strategy.micro_batches) {
  const CompleteStrategy whole(strategy, *cluster);
  parts_ = std::make_unique<const Parts>(std::move(graph), std::move(grouping), std::move(cluster),
                                         std::move(cost), whole);
  pass_of_.assign(parts_->tables.graph->op_count(), -1);
  if (micro_batches_.count < 2) return;
  const Pipeline pipeline(parts_->tables, parts_->placement, micro_batches_);
  const Chunks& chunks = pipeline.chunks();
  splits_backward_ = strato::splits_backward(micro_batches_);
  for (const Chunks::Stage& stage : chunks.stages()) stages_.push_back({{}, stage.chunks});
  for (const DeviceId device : chunks.stages_of_devices().ids())
    if (const std::int32_t stage = chunks.stage_of(device); stage >= 0)
      stages_[at(stage)].devices.push_back(device);
  for (const std::int32_t chunk : Numbers{static_cast<std::int32_t>(chunks.count())})
    stage_of_chunk_.push_back(chunks.stage_of_chunk(chunk));
  for (std::size_t pass = 0; pass < chunks.passes().size(); ++pass) {
    for (const OpId op : chunks.passes()[pass].ops) pass_of_[op] = static_cast<std::int32_t>(pass);
    follows_.push_back(chunks.passes()[pass].follows);
  }
  table_ = rows_of(pipeline);
}

std::optional<ScheduleCell> StagePlan::cell_of(OpId op) const {
  if (pass_of_[op] < 0) return std::nullopt;
  return Chunks::cell_of(at(pass_of_[op]), 0);
}

std::vector<ScheduleCell> StagePlan::awaited(const ScheduleCell& cell) const {
  std::vector<ScheduleCell> cells;
  for (const std::size_t pass : follows_[Chunks::pass_of(cell)])
    cells.push_back(Chunks::cell_of(pass, cell.micro));
  return cells;
}

ScheduleTable StagePlan::order(const MicroBatches& other) const {
  return rows_of(Pipeline(parts_->tables, parts_->placement, other));
}

}  // namespace strato
