#include "core/program/cells/cell_order.h"

#include <algorithm>

namespace strato {

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
  if (first) {
    firsts_.push_back({emitter.next_task(), {}});
    firsts_.back().besides.assign(emitter.dependencies().begin(), emitter.dependencies().end());
    for (const TaskId task : ends.before) emitter.depend(task);
  }
  ends.now.push_back(emitter.next_task());
}

std::vector<std::pair<DeviceId, std::vector<TaskId>>> CellOrder::ends() const {
  std::vector<std::pair<DeviceId, std::vector<TaskId>>> result;
  for (const DeviceId device : of_device_.ids())
    if (of_device_[device].cell == cell_) result.emplace_back(device, of_device_[device].now);
  return result;
}

void CellOrder::set_ends(DeviceId device, std::vector<TaskId> now) {
  Ends& ends = of_device_[device];
  ends.cell = cell_;
  ends.before = std::exchange(ends.now, std::move(now));
}

}  // namespace strato
