#include "views/pipeline/pipeline_picture.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

PipelinePrice price_of(const Timeline& timeline, const StageRows& rows) {
  PipelinePrice price{timeline.step_time, rows.bubble(), {}, {}, timeline.feasible};
  double fullest = -1;
  for (const DeviceUse& device : timeline.devices) {
    const double fill = device.peak / std::max(device.capacity, Bytes(1));
    if (fill <= fullest) continue;
    fullest = fill;
    price.peak = device.peak;
    price.capacity = device.capacity;
  }
  return price;
}

}  // namespace

PipelinePicture::PipelinePicture(std::shared_ptr<const Problem> problem, const Strategy& strategy,
                                 std::shared_ptr<const Timeline> timeline)
    : problem_(std::move(problem)),
      strategy_(strategy),
      timeline_(std::move(timeline)),
      plan_(problem_->graph, problem_->grouping, problem_->cluster, problem_->cost, strategy_),
      rows_(stage_rows(*timeline_, plan_)),
      price_(price_of(*timeline_, rows_)) {
  if (!is_pipeline()) return;
  const PassTimes times = pass_times(rows_, plan_);
  const ScheduleTable table = table_as_run(rows_, plan_);
  ideal_ = ideal_schedule(table, plan_, equal_times(times));
  without_transfers_ = ideal_schedule(table, plan_, times);
  passes_ = passes_as_run(rows_, plan_, times);
  list_memory();
  list_in_time();
  try {
    layers_ = stage_layers(*problem_, plan_);
  } catch (const InputError&) {
    layers_.reset();  // they are in another order, made by hand
  }
}

void PipelinePicture::list_memory() {
  const Program& program = *timeline_->program;
  IdVector<DeviceId, std::int32_t> row_of(program.cluster->device_count(), -1);
  const std::size_t count = rows_.rows.size();
  for (std::size_t row = 0; row < count; ++row)
    row_of[rows_.rows[row].shown] = static_cast<std::int32_t>(row);
  std::vector<std::int64_t> resident(count, 0);
  std::vector<std::vector<MemoryCurve::Change>> changes(count);
  for (const Resident& one : program.residents)
    if (!one.on_host && row_of[one.device] >= 0)
      resident[at(row_of[one.device])] += one.bytes.value;
  const IdVector<BufferId, Lifetime> lives = lifetimes(*timeline_);
  for (const BufferId id : lives.ids()) {
    const Buffer& buffer = program.buffers[id];
    const auto& [taken_by, released_by] = lives[id];
    if (buffer.on_host || row_of[buffer.device] < 0 || !taken_by.valid() || !released_by.valid())
      continue;
    std::vector<MemoryCurve::Change>& of_row = changes[at(row_of[buffer.device])];
    of_row.push_back({timeline_->tasks[taken_by].start.value, buffer.bytes.value});
    of_row.push_back({timeline_->tasks[released_by].end.value, -buffer.bytes.value});
  }
  for (std::size_t row = 0; row < count; ++row)
    memory_.emplace_back(resident[row], std::move(changes[row]));
}

void PipelinePicture::list_in_time() {
  for (std::size_t row = 0; row < rows_.rows.size(); ++row) {
    const std::vector<StageCell>& cells = rows_.rows[row].cells;
    rank_.emplace_back(cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      in_time_.push_back({row, i});
      first_.emplace(cells[i].cell, CellAt{row, i});
    }
  }
  std::ranges::stable_sort(in_time_, {}, [&](CellAt place) { return cell(place).begin; });
  for (std::size_t i = 0; i < in_time_.size(); ++i) rank_[in_time_[i].row][in_time_[i].cell] = i;
}

std::optional<PipelinePicture::CellAt> PipelinePicture::find(const ScheduleCell& cell) const {
  const auto found = first_.find(cell);
  if (found == first_.end()) return std::nullopt;
  return found->second;
}

}  // namespace strato
