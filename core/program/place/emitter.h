// Appends tasks to a program: gathers what a task reads and waits for, then commits it with its
// resources. Use: read()/depend() any number of times, write(), then one commit. Reuses its arrays;
// not thread safe.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/program/place/placement.h"
#include "core/program/value/program.h"
#include "core/program/value/tables.h"

namespace strato {

// Gives the parts of a program their ids, each one once. Asked for every buffer that lowering
// writes, so the parts with one range of samples are found without hashing the whole part.
class PartIndex {
 public:
  // From here on ids are of this program, which has no part yet but the whole.
  void start(Program& program) {
    program_ = &program;
    program.parts.assign(1, Part());
    ids_ = {{Part(), kWhole}};
    recent_.fill(Recent());
  }
  PartId find(const Part& part) {
    const auto [at, fresh] = ids_.try_emplace(part, program_->parts.next_id());
    if (fresh) program_->parts.push_back(part);
    return at->second;
  }
  PartId samples(std::int32_t begin, std::int32_t end) { return recent(begin, end, false); }
  PartId partial_sum(std::int32_t begin, std::int32_t end) { return recent(begin, end, true); }

 private:
  struct Recent {
    std::int32_t begin = -1, end = -1;
    bool partial_sum = false;
    PartId id;
  };
  PartId recent(std::int32_t begin, std::int32_t end, bool partial_sum) {
    Recent& known = recent_[(static_cast<std::uint32_t>(begin) * 31 +
                             static_cast<std::uint32_t>(end) * 2 + partial_sum) %
                            kRecent];
    if (known.begin != begin || known.end != end || known.partial_sum != partial_sum)
      known = {begin, end, partial_sum,
               find(partial_sum ? Part::partial_sum(begin, end) : Part::samples(begin, end))};
    return known.id;
  }

  static constexpr std::size_t kRecent = 256;
  Program* program_ = nullptr;
  std::unordered_map<Part, PartId, PartHash> ids_;
  std::array<Recent, kRecent> recent_;
};

// A part of a tensor as it stands on one device.
struct Instance {
  BufferId buffer;  // invalid: resident bytes, nothing to release
  TaskId task;      // after which it can be read; invalid: from the start of the step
  DeviceId device;
  PartId part = kWhole;
  std::int32_t slot = -1;  // of a parameter's resident bytes: its row in Tables::slots
  bool exclusive = false;  // a partial sum that no other tensor's reader looks at
  std::int32_t next = -1;  // the copy of the tensor that the device had before this one
};

// Of what recomputation does again. What it computes on a device comes after these tasks there.
class Again {
 public:
  using TasksByDevice = IdVector<DeviceId, std::vector<TaskId>>;
  void begin(const TasksByDevice& after) { after_ = &after; }  // which it refers to until the end
  void end() { after_ = nullptr; }
  bool is_on() const { return after_ != nullptr; }
  std::span<const TaskId> after(DeviceId device) const {
    return is_on() ? std::span<const TaskId>((*after_)[device]) : std::span<const TaskId>();
  }

 private:
  const TasksByDevice* after_ = nullptr;
};

struct TaskMarks {         // of the tasks that follow
  std::int32_t micro = 0;  // -1: none
  Again again;
};

// Who reads parameters' resident bytes. A task is known by the row that it was written to.
class ParameterReaders {
 public:
  struct Read {
    TaskId row;
    std::int32_t slot;
    DeviceId device;
  };
  explicit ParameterReaders(const Tables& tables)
      : slots_(tables.slots.size()), first_(tables.cluster->device_count()) {}
  void start();
  void add(const Read& read);
  // From here on what is added is listed here, too; null: no more.
  void record(std::vector<Read>* record) { record_ = record; }
  // Calls `see` with each row, the last one first.
  template <class See>
  void of(std::int32_t slot, DeviceId device, const See& see) const {
    if (first_[device].empty()) return;
    for (std::int32_t i = first_[device][static_cast<std::size_t>(slot)]; i >= 0;
         i = all_[static_cast<std::size_t>(i)].next)
      see(all_[static_cast<std::size_t>(i)].row);
  }

 private:
  struct Linked {
    TaskId row;
    std::int32_t next;
  };
  std::size_t slots_;
  // By device and slot, where its list begins; empty: nothing is read on the device.
  IdVector<DeviceId, std::vector<std::int32_t>> first_;
  std::vector<Linked> all_;
  std::vector<Read>* record_ = nullptr;
};

class Emitter {
 public:
  explicit Emitter(const Tables& tables);
  void start(Program& program);

  // Delta lowering: `program` is a store that only grows. A task is known by the row that it was
  // first written to; rows_of[task] is where it stands now, -1 when it is gone, and task_of_row the
  // inverse.
  struct Store {
    IdVector<TaskId, std::int32_t> row_of;
    std::vector<TaskId> task_of_row;
  };
  void set_store(Store* store) { store_ = store; }
  // The next task takes the place of this one, which stood in `row`: it keeps its name and the
  // buffers that it writes.
  void replace(TaskId task, std::int32_t row) {
    replaced_ = task;
    replaced_row_ = static_cast<std::size_t>(row);
    replaced_writes_ = 0;
  }

  PartIndex& parts() { return parts_; }
  const Program& program() const { return *program_; }

  void read(const Instance& instance) {
    depend(instance.task);
    if (instance.buffer.valid()) reads_.push_back(instance.buffer);
    if (instance.slot >= 0) read_parameter(instance.slot, instance.device);
  }
  // A parameter's resident bytes.
  void read_parameter(std::int32_t slot, DeviceId device) { parameters_.push_back({slot, device}); }
  void depend(TaskId task) {
    if (task.valid()) dependencies_.push_back(task);
  }
  // Waits for everything that read the parameter's old value on the device: it is about to be
  // overwritten.
  void overwrite(std::int32_t slot, DeviceId device);
  // Of the next task committed.
  BufferId write(TensorId tensor, DeviceId device, Bytes bytes, PartId part) {
    if (replaced_.valid()) return write_again();
    const BufferId id = program_->buffers.next_id();
    program_->buffers.push_back({tensor, device, bytes, part});
    program_->writes.push(id);
    return id;
  }
  ParameterReaders& parameter_readers() { return parameter_readers_; }
  // What the next task waits for, as far as it is known.
  std::span<const TaskId> dependencies() const { return dependencies_; }
  TaskMarks& marks() { return marks_; }
  TaskId next_task() const { return replaced_.valid() ? replaced_ : program_->tasks.next_id(); }

  TaskId commit_compute(const Task& task) {
    program_->resources.push(program_->compute_stream(task.device));
    program_->resources.end_row();
    return commit(task);
  }
  TaskId commit_transfer(const Task& task) {
    program_->resources.push_row(links(task.device, task.target));
    return commit(task);
  }
  // One shard stands on each member.
  TaskId commit_collective(const Task& task, std::span<const Shard> members,
                           std::span<const LinkId> links, Stream stream = Stream::Communication);

 private:
  TaskId commit(const Task& task) {
    const TaskId row = program_->tasks.next_id();
    program_->tasks.push_back(task);
    program_->tasks.back().issue = tables_.issue_of(task);
    if (marks_.micro > 0) program_->tasks.back().micro = marks_.micro;
    if (marks_.again.is_on()) program_->tasks.back().again = true;
    program_->writes.end_row();
    push_sorted_unique(dependencies_, program_->dependencies);
    push_sorted_unique(reads_, program_->reads);
    if (!parameters_.empty()) list_readers(row);
    return store_ ? keep_store(row) : row;
  }
  BufferId write_again();
  void list_readers(TaskId row);
  std::span<const ResourceId> links(DeviceId from, DeviceId to);  // ascending
  TaskId keep_store(TaskId row);
  // Empties the values, of which there are nearly always a few, often in order already.
  template <class T>
  static void push_sorted_unique(std::vector<T>& values, Rows<T>& rows) {
    if (values.size() > 1) sort(values);
    T last;
    for (const T value : values) {
      if (value != last) rows.push(value);
      last = value;
    }
    rows.end_row();
    values.clear();
  }
  template <class T>
  static void sort(std::vector<T>& values) {
    constexpr std::size_t kFew = 16;
    if (values.size() > kFew) return std::sort(values.begin(), values.end());
    for (std::size_t i = 1; i < values.size(); ++i) {
      const T value = values[i];
      std::size_t at = i;
      for (; at > 0 && value < values[at - 1]; --at) values[at] = values[at - 1];
      values[at] = value;
    }
  }

  const Tables& tables_;
  Program* program_ = nullptr;
  PartIndex parts_;
  std::vector<TaskId> dependencies_;
  std::vector<BufferId> reads_;
  std::vector<std::pair<std::int32_t, DeviceId>> parameters_;  // that the task reads, by slot
  ParameterReaders parameter_readers_;
  std::vector<ResourceId> links_;  // of the last path that was asked for
  TaskMarks marks_;
  Store* store_ = nullptr;
  TaskId replaced_;
  std::size_t replaced_row_ = 0, replaced_writes_ = 0;
};

// Before what is computed on the device is committed.
inline void wait_if_again(Emitter& emitter, DeviceId device) {
  for (const TaskId task : emitter.marks().again.after(device)) emitter.depend(task);
}

// Of all parameters that the op updates: before its task on the device.
inline void overwrite_parameters(Emitter& emitter, const Tables& tables, OpId update,
                                 DeviceId device) {
  for (const TensorId input : tables.inputs(update))
    if (tables.updates_here(update, input)) emitter.overwrite(tables.tensors[input].slot, device);
}

}  // namespace strato
