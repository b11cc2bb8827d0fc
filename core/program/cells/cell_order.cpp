#include "core/program/cells/cell_order.h"

#include <algorithm>

namespace strato {
namespace {

std::vector<TaskId> valid_ones(std::vector<TaskId> tasks) {
  std::erase_if(tasks, [](TaskId task) { return !task.valid(); });
  return tasks;
}

}  // namespace

void CellOrder::begin_cell(TaskId first) {
  ++cell_;
  begin_ = first;
  computed_.clear();
  behind_.clear();
  firsts_.clear();
}

CellOrder::Ends& CellOrder::ends_of(DeviceId device) {
  if (of_device_.size() <= device.index()) of_device_.resize(device.index() + 1);
  Ends& ends = of_device_[device];
  if (ends.cell != cell_) {
    ends.cell = cell_;
    ends.before = valid_ones(std::exchange(ends.now, {}));
  }
  return ends;
}

// What is computed in this cell and the exchange waits for, directly or through others.
const std::vector<TaskId>& CellOrder::behind(const Program& program, TaskId exchange) {
  const auto [known, fresh] = behind_.try_emplace(exchange);
  std::vector<TaskId>& all = known->second;  // which stays where it is
  if (!fresh) return all;
  for (const TaskId task : program.dependencies[exchange.index()]) {
    if (task < begin_) continue;
    if (computed(task).device.valid()) {
      all.push_back(task);
    } else {
      const std::vector<TaskId>& further = behind(program, task);
      all.insert(all.end(), further.begin(), further.end());
    }
  }
  std::ranges::sort(all, {}, [&](TaskId task) { return std::pair(computed(task).device, task); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void CellOrder::add(Emitter& emitter, DeviceId device) {
  Ends& ends = ends_of(device);
  bool first = true;
  const auto follow = [&](TaskId task) {
    first = false;
    ends.now[computed(task).place] = TaskId();
  };
  for (const TaskId task : emitter.dependencies()) {
    if (task < begin_) continue;
    if (const DeviceId of = computed(task).device; of.valid()) {
      if (of == device) follow(task);
      continue;
    }
    const std::vector<TaskId>& there = behind(emitter.program(), task);
    auto at = std::ranges::lower_bound(there, device, {},
                                       [&](TaskId behind) { return computed(behind).device; });
    for (; at != there.end() && computed(*at).device == device; ++at) follow(*at);
  }
  const TaskId now = emitter.next_task();
  if (first) {
    firsts_.push_back({now, {}});
    firsts_.back().besides.assign(emitter.dependencies().begin(), emitter.dependencies().end());
    for (const TaskId task : ends.before) emitter.depend(task);
  }
  computed_.resize(static_cast<std::size_t>(now.value() - begin_.value()) + 1);
  computed_.back() = {device, ends.now.size()};
  ends.now.push_back(now);
}

std::vector<std::pair<DeviceId, std::vector<TaskId>>> CellOrder::ends() const {
  std::vector<std::pair<DeviceId, std::vector<TaskId>>> result;
  for (const DeviceId device : of_device_.ids())
    if (of_device_[device].cell == cell_)
      result.emplace_back(device, valid_ones(of_device_[device].now));
  return result;
}

void CellOrder::set_ends(DeviceId device, std::vector<TaskId> now) {
  Ends& ends = of_device_[device];
  ends.cell = cell_;
  ends.before = valid_ones(std::exchange(ends.now, std::move(now)));
}

}  // namespace strato
