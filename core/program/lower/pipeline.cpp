#include "core/program/lower/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/disjoint_sets.h"
#include "core/base/error.h"

namespace strato {
Pipeline::Pipeline(const Tables& tables, const Placement& placement)
    : tables_(tables), placement_(placement) {
  for (const OpId op : tables.early) {
    if (tables.is_repeated(op)) continue;
    const auto is_late = [&](TensorId input) {
      const OpId producer = tables.graph->tensor(input).producer;
      return producer.valid() &&
             (tables.is_repeated(producer) || std::ranges::binary_search(after_, producer));
    };
    (std::ranges::any_of(tables.inputs(op), is_late) ? after_ : before_).push_back(op);
  }
  DisjointSets devices(tables.cluster->device_count());
  for (const OpId op : tables.early) {
    if (!tables.is_repeated(op)) continue;
    const std::vector<Shard>& shards = placement.layout(op).shards;
    for (const Shard& shard : shards) devices.join(shards[0].device.value(), shard.device.value());
  }
  stage_of_.resize(tables.cluster->device_count(), -1);
  std::int32_t stages = 0;
  for (const OpId op : tables.early) {
    if (!tables.is_repeated(op)) continue;
    const std::int32_t set = devices.root(placement.layout(op).shards[0].device.value());
    if (stage_of_[DeviceId(at(set))] >= 0) continue;
    for (const DeviceId device : stage_of_.ids())
      if (devices.root(device.value()) == set) stage_of_[device] = stages;
    ++stages;
  }
  do find_passes();
  while (join_cycles());
  find_depths();
}

void Pipeline::find_passes() {
  const std::int32_t last = *std::ranges::max_element(stage_of_);
  passes_.assign(2 * static_cast<std::size_t>(last + 1), Pass());
  const auto pass_of = [&](OpId op) {
    const std::int32_t stage = stage_of_[placement_.layout(op).shards[0].device];
    const bool backward = tables_.graph->op(op).phase == Phase::Backward;
    return 2 * static_cast<std::size_t>(stage) + backward;
  };
  for (const OpId op : tables_.early) {
    if (!tables_.is_repeated(op)) continue;
    const std::size_t own = pass_of(op);
    passes_[own].ops.push_back(op);
    for (const TensorId input : tables_.inputs(op)) {
      const OpId producer = tables_.graph->tensor(input).producer;
      if (!producer.valid() || !tables_.is_repeated(producer)) continue;
      const std::size_t from = pass_of(producer);
      if (from != own) passes_[own].follows.push_back(from);
    }
  }
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    std::vector<std::size_t>& follows = passes_[i].follows;
    if (i % 2 == 1) follows.push_back(i - 1);
    std::ranges::sort(follows);
    follows.erase(std::unique(follows.begin(), follows.end()), follows.end());
  }
}

// Makes one stage of those whose passes wait for each other. Were there any?
bool Pipeline::join_cycles() {
  std::vector<std::vector<std::size_t>> followers(passes_.size());
  std::vector<std::size_t> waits(passes_.size()), ready;
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    waits[i] = passes_[i].follows.size();
    for (const std::size_t from : passes_[i].follows) followers[from].push_back(i);
    if (waits[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const std::size_t done = ready.back();
    ready.pop_back();
    for (const std::size_t next : followers[done])
      if (--waits[next] == 0) ready.push_back(next);
  }
  // From any pass that is left, backwards along what is left, until one comes again.
  std::size_t at = 0;
  while (at < passes_.size() && waits[at] == 0) ++at;
  if (at == passes_.size()) return false;
  std::vector<std::size_t> path;
  while (std::ranges::find(path, at) == path.end()) {
    path.push_back(at);
    at = *std::ranges::find_if(passes_[at].follows,
                               [&](std::size_t from) { return waits[from] > 0; });
  }
  std::vector<std::int32_t> joined;
  for (auto i = std::ranges::find(path, at); i != path.end(); ++i)
    joined.push_back(static_cast<std::int32_t>(*i / 2));
  const std::int32_t into = *std::ranges::min_element(joined);
  for (std::int32_t& stage : stage_of_)
    if (std::ranges::find(joined, stage) != joined.end()) stage = into;
  // Numbers without gaps.
  std::vector<std::int32_t> used(stage_of_.begin(), stage_of_.end());
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  if (used.front() < 0) used.erase(used.begin());
  for (std::int32_t& stage : stage_of_)
    if (stage >= 0)
      stage = static_cast<std::int32_t>(std::ranges::lower_bound(used, stage) - used.begin());
  return true;
}

void Pipeline::find_depths() {
  depth_.assign(passes_.size() / 2, 0);
  // Passes have no cycles: as many rounds as there are stages suffice.
  for (std::size_t round = 0; round < depth_.size(); ++round)
    for (std::size_t stage = 0; stage < depth_.size(); ++stage)
      for (const std::size_t from : passes_[2 * stage].follows)
        if (from % 2 == 0) depth_[stage] = std::max(depth_[stage], depth_[from / 2] + 1);
}

std::vector<PipelineCell> Pipeline::sequence(std::int32_t stage, PipelineSchedule schedule) const {
  const std::int32_t all = tables_.micro_batches;
  const std::int32_t stages = *std::ranges::max_element(depth_) + 1;
  const std::int32_t ahead =
      schedule == PipelineSchedule::Gpipe ? all : std::min(all, stages - depth(stage));
  std::vector<PipelineCell> cells;
  for (std::int32_t micro = 0; micro < ahead; ++micro) cells.push_back({stage, false, micro});
  for (std::int32_t micro = 0; micro < all; ++micro) {
    cells.push_back({stage, true, micro});
    if (micro + ahead < all) cells.push_back({stage, false, micro + ahead});
  }
  return cells;
}

std::string Pipeline::devices_of(std::int32_t stage) const {
  std::string names;
  for (const DeviceId device : stage_of_.ids())
    if (stage_of_[device] == stage)
      names += (names.empty() ? "" : ", ") + tables_.cluster->device(device).name;
  return names;
}

std::vector<PipelineCell> Pipeline::cells(PipelineSchedule schedule) const {
  const auto stages = static_cast<std::size_t>(stage_count());
  std::vector<std::vector<PipelineCell>> sequences;
  for (std::int32_t stage = 0; stage < stage_count(); ++stage)
    sequences.push_back(sequence(stage, schedule));
  std::vector<std::size_t> next(stages);
  std::vector<std::int32_t> done(passes_.size());  // micro-batches
  std::vector<PipelineCell> cells;
  const auto may_go_on = [&](const PipelineCell& cell) {
    return std::ranges::all_of(pass(cell).follows,
                               [&](std::size_t from) { return done[from] > cell.micro; });
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t stage = 0; stage < stages; ++stage) {
      if (next[stage] == sequences[stage].size()) continue;
      const PipelineCell& cell = sequences[stage][next[stage]];
      if (!may_go_on(cell)) continue;
      cells.push_back(cell);
      ++done[2 * stage + cell.backward];
      ++next[stage];
      moved = true;
    }
  }
  for (std::size_t stage = 0; stage < stages; ++stage) {
    if (next[stage] == sequences[stage].size()) continue;
    const PipelineCell& cell = sequences[stage][next[stage]];
    const auto awaited = std::ranges::find_if(
        pass(cell).follows, [&](std::size_t from) { return done[from] <= cell.micro; });
    throw InputError(
        "", fmt::format("schedule {}", name_of(schedule)),
        fmt::format("the {} pass of micro-batch {} on {} waits for {}, which waits for it",
                    cell.backward ? "backward" : "forward", cell.micro,
                    devices_of(static_cast<std::int32_t>(stage)),
                    devices_of(static_cast<std::int32_t>(*awaited / 2))),
        "choose \"gpipe\" or \"as-ready\"");
  }
  return cells;
}

void CellOrder::add(Emitter& emitter, DeviceId device) {
  if (of_device_.size() <= device.index()) of_device_.resize(device.index() + 1);
  Ends& ends = of_device_[device];
  if (ends.cell != cell_) {
    ends.cell = cell_;
    ends.before = std::exchange(ends.now, {});
  }
  bool first = true;
  for (const TaskId task : emitter.dependencies())
    if (const auto at = std::ranges::find(ends.now, task); at != ends.now.end()) {
      ends.now.erase(at);
      first = false;
    }
  if (first)
    for (const TaskId task : ends.before) emitter.depend(task);
  ends.now.push_back(emitter.next_task());
}

}  // namespace strato
