#include "core/program/place/emitter.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace strato {
Emitter::Emitter(const Tables& tables)
    : tables_(tables), first_reader_(tables.cluster->device_count()) {}

void Emitter::start(Program& program) {
  program_ = &program;
  parts_.start(program);
  dependencies_.clear();
  reads_.clear();
  parameters_.clear();
  marks_ = {};
  readers_.clear();
  for (std::vector<std::int32_t>& of_device : first_reader_) of_device.clear();
}

void Emitter::overwrite(std::int32_t slot, DeviceId device) {
  for (std::int32_t i = first_reader(slot, device); i >= 0;
       i = readers_[static_cast<std::size_t>(i)].next) {
    const std::int32_t row = readers_[static_cast<std::size_t>(i)].row;
    const TaskId task = store_ ? store_->task_of_row[static_cast<std::size_t>(row)]
                               : TaskId(static_cast<std::size_t>(row));
    if (!store_ || store_->row_of[task] == row) depend(task);
  }
}

BufferId Emitter::write_again() {
  const BufferId id = program_->writes[replaced_row_][replaced_writes_++];
  program_->writes.push(id);
  return id;
}

void Emitter::list_readers(TaskId row) {
  for (const auto& [slot, device] : parameters_) {
    add_reader({row, slot, device});
    if (record_) record_->push_back({row, slot, device});
  }
  parameters_.clear();
}

void Emitter::add_reader(const ParameterRead& read) {
  std::int32_t& first = first_reader(read.slot, read.device);
  readers_.push_back({read.task.value(), first});
  first = static_cast<std::int32_t>(readers_.size() - 1);
}

TaskId Emitter::keep_store(TaskId row) {
  const TaskId task = replaced_.valid() ? std::exchange(replaced_, TaskId()) : row;
  store_->row_of.resize(row.index() + 1, -1);
  store_->row_of[task] = row.value();
  store_->task_of_row.push_back(task);
  return task;
}

std::span<const ResourceId> Emitter::links(DeviceId from, DeviceId to) {
  links_.clear();
  for (LinkId link : tables_.cluster->path(from, to).links) links_.push_back(program_->link(link));
  CHECK(!links_.empty(), "a transfer without a path");
  sort(links_);
  return links_;
}

TaskId Emitter::commit_collective(const Task& task, std::span<const Shard> members,
                                  std::span<const LinkId> links, Stream stream) {
  for (const Shard& member : members)
    program_->resources.push(program_->stream(member.device, stream));
  for (LinkId link : links) program_->resources.push(program_->link(link));
  program_->resources.end_row();
  return commit(task);
}

}  // namespace strato
