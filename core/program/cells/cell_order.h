// The order in which a device computes the cells of a pipeline (internal to core/program).
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/program/place/emitter.h"

namespace strato {

// Makes what a device computes in a cell wait for what it computed in the one before. Only the
// first tasks of a cell say so, and they name the last ones of the one before: what waits for
// another task of its own cell and device, itself or through exchanges, waits for all that this one
// waits for.
class CellOrder {
 public:
  // A task that waits for the cell before, and what else it waits for.
  struct First {
    TaskId task;
    std::vector<TaskId> besides;
  };

  void begin_cell(TaskId first);  // of the tasks that follow
  // The emitter's next task is one of the cell, on this device.
  void add(Emitter& emitter, DeviceId device);

  // Of this cell, ascending.
  std::span<const First> firsts() const { return firsts_; }
  // The devices that computed something in this cell, with the last of it: what no other task of
  // the cell on the same device waits for.
  std::vector<std::pair<DeviceId, std::vector<TaskId>>> ends() const;
  // What the device computed last before this cell; from here on, its last in this one.
  std::span<const TaskId> before(DeviceId device) const { return of_device_[device].before; }
  void set_ends(DeviceId device, std::vector<TaskId> now);

 private:
  struct Ends {
    std::int64_t cell = -1;           // that `now` are tasks of
    std::vector<TaskId> now, before;  // invalid: another one waits for it
  };
  struct Computed {
    DeviceId device;
    std::size_t place = 0;  // among the device's `now`
  };
  // Of a task of this cell; without a device: it is an exchange's.
  Computed computed(TaskId task) const {
    const auto at = static_cast<std::size_t>(task.value() - begin_.value());
    return at < computed_.size() ? computed_[at] : Computed();
  }
  Ends& ends_of(DeviceId device);
  const std::vector<TaskId>& behind(const Program& program, TaskId exchange);

  std::int64_t cell_ = 0;
  TaskId begin_;
  std::vector<Computed> computed_;  // by task, from `begin_` on
  // By task of an exchange: what it brings from, ascending by device.
  std::unordered_map<TaskId, std::vector<TaskId>> behind_;
  IdVector<DeviceId, Ends> of_device_;
  std::vector<First> firsts_;
};

}  // namespace strato
