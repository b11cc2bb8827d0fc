// The order in which a device computes the cells of a pipeline (internal to core/program).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/program/place/emitter.h"

namespace strato {

// Makes what a device computes in a cell wait for what it computed in the one before.
class CellOrder {
 public:
  // A task that waits for the cell before, and what else it waits for.
  struct First {
    TaskId task;
    std::vector<TaskId> besides;
  };

  void begin_cell() {
    ++cell_;
    firsts_.clear();
  }
  // The emitter's next task is one of the cell, on this device.
  void add(Emitter& emitter, DeviceId device);

  // Of this cell, ascending.
  std::span<const First> firsts() const { return firsts_; }
  // The devices that computed something in this cell, with the last of it: what no other task of
  // the cell waits for.
  std::vector<std::pair<DeviceId, std::vector<TaskId>>> ends() const;
  // What the device computed last before this cell; from here on, its last in this one.
  std::span<const TaskId> before(DeviceId device) const { return of_device_[device].before; }
  void set_ends(DeviceId device, std::vector<TaskId> now);

 private:
  struct Ends {
    std::int64_t cell = -1;           // that `now` are tasks of
    std::vector<TaskId> now, before;  // those that no other task of their cell waits for
  };
  std::int64_t cell_ = 0;
  IdVector<DeviceId, Ends> of_device_;
  std::vector<First> firsts_;
};

}  // namespace strato
