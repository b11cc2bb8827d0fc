// Appends tasks to a program: gathers what a task reads and waits for, then commits it with its
// resources. Use: read()/depend() any number of times, write(), then one commit. Reuses its arrays.
#pragma once

#include <span>
#include <vector>

#include "core/program/program.h"
#include "core/program/tables.h"

namespace strato {

// A tensor (or a part of it) as it stands on one device.
struct Instance {
  BufferId buffer;  // invalid: resident bytes, nothing to release
  TaskId task;      // after which it can be read; invalid: from the start of the step
  DeviceId device;
  std::int32_t begin = 0, end = 0;  // samples
  std::int32_t slot = -1;           // of a parameter's resident bytes: its row in Tables::slots
  bool exclusive = false;           // a partial sum that no other tensor's reader looks at
  std::int32_t next = -1;           // in the list of instances that an exchange made
};

class Emitter {
 public:
  explicit Emitter(const Tables& tables) : tables_(tables) {}
  void start(Program& program);

  void read(const Instance& instance) {
    depend(instance.task);
    if (instance.buffer.valid()) reads_.push_back(instance.buffer);
    if (instance.slot >= 0) read_parameter(instance.slot, instance.device);
  }
  // A parameter's resident bytes.
  void read_parameter(std::int32_t slot, DeviceId device) {
    parameters_.push_back(cell(slot, device));
  }
  void depend(TaskId task) {
    if (task.valid()) dependencies_.push_back(task);
  }
  // Waits for everything that read the parameter's old value on the device: it is about to be
  // overwritten.
  void overwrite(std::int32_t slot, DeviceId device);
  // Of the next task committed.
  BufferId write(TensorId tensor, DeviceId device, Bytes bytes) {
    const BufferId id = program_->buffers.next_id();
    program_->buffers.push_back({tensor, device, bytes});
    program_->writes.push(id);
    return id;
  }
  TaskId next_task() const { return program_->tasks.next_id(); }

  // On the compute stream of the device. The task is to be filled in at once.
  Task& commit_compute(DeviceId device);
  TaskId commit_compute(const Task& task);
  TaskId commit_transfer(const Task& task, const Path& path);
  TaskId commit_collective(const Task& task, std::span<const DeviceId> members,
                           std::span<const LinkId> links);

 private:
  struct Reader {
    TaskId task;
    std::int32_t next;
  };
  TaskId commit(const Task& task) {
    program_->tasks.push_back(task);
    return commit_rows();
  }
  TaskId commit_rows();  // of the task added last
  std::size_t cell(std::int32_t slot, DeviceId device) const {
    return static_cast<std::size_t>(slot) * tables_.cluster->device_count() + device.index();
  }

  const Tables& tables_;
  Program* program_ = nullptr;
  std::vector<TaskId> dependencies_;
  std::vector<BufferId> reads_;
  std::vector<std::size_t> parameters_;       // cells of the parameters that the task reads
  std::vector<std::int32_t> reader_of_cell_;  // heads of lists in readers_
  std::vector<Reader> readers_;
  std::vector<LinkId> sorted_links_;
};

}  // namespace strato
