#include "core/program/place/emitter.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace strato {

void ParameterReaders::start() {
  for (std::vector<std::int32_t>& of_device : first_) of_device.clear();
  all_.clear();
}

void ParameterReaders::add(const Read& read) {
  std::vector<std::int32_t>& of_device = first_[read.device];
  if (of_device.empty()) of_device.assign(slots_, -1);
  std::int32_t& first = of_device[static_cast<std::size_t>(read.slot)];
  all_.push_back({read.row, first});
  first = static_cast<std::int32_t>(all_.size() - 1);
  if (record_) record_->push_back(read);
}

Emitter::Emitter(const Tables& tables) : tables_(tables), parameter_readers_(tables) {}

void Emitter::start(Program& program) {
  program_ = &program;
  parts_.start(program);
  dependencies_.clear();
  reads_.clear();
  parameters_.clear();
  marks_ = {};
  parameter_readers_.start();
}

void Emitter::overwrite(std::int32_t slot, DeviceId device) {
  parameter_readers_.of(slot, device, [this](TaskId row) {
    const TaskId task = store_ ? store_->task_of_row[row.index()] : row;
    if (!store_ || store_->row_of[task] == row.value()) depend(task);
  });
}

BufferId Emitter::write_again() {
  const BufferId id = program_->writes[replaced_row_][replaced_writes_++];
  program_->writes.push(id);
  return id;
}

void Emitter::list_readers(TaskId row) {
  for (const auto& [slot, device] : parameters_) {
    parameter_readers_.add({row, slot, device});
  }
  parameters_.clear();
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
