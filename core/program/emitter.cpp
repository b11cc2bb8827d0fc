#include "core/program/emitter.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {
namespace {

template <class T>
void push_sorted_unique(std::vector<T>& values, Rows<T>& rows) {
  if (values.size() > 1) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  for (T value : values) rows.push(value);
  rows.end_row();
  values.clear();
}

}  // namespace

void Emitter::start(Program& program) {
  program_ = &program;
  dependencies_.clear();
  reads_.clear();
  parameters_.clear();
  readers_.clear();
  reader_of_cell_.assign(tables_.slots.size() * tables_.cluster->device_count(), -1);
}

void Emitter::read(const Instance& instance) {
  depend(instance.task);
  if (instance.buffer.valid()) reads_.push_back(instance.buffer);
  if (instance.slot >= 0) parameters_.push_back(cell(instance.slot, instance.device));
}

void Emitter::overwrite(std::int32_t slot, DeviceId device) {
  for (std::int32_t i = reader_of_cell_[cell(slot, device)]; i >= 0;
       i = readers_[static_cast<std::size_t>(i)].next)
    depend(readers_[static_cast<std::size_t>(i)].task);
}

BufferId Emitter::write(TensorId tensor, DeviceId device, Bytes bytes) {
  const BufferId id = program_->buffers.next_id();
  program_->buffers.push_back({tensor, device, bytes});
  program_->writes.push(id);
  return id;
}

TaskId Emitter::commit(const Task& task) {
  const TaskId id = program_->tasks.next_id();
  program_->tasks.push_back(task);
  program_->writes.end_row();
  push_sorted_unique(dependencies_, program_->dependencies);
  push_sorted_unique(reads_, program_->reads);
  for (std::size_t cell : parameters_) {
    readers_.push_back({id, reader_of_cell_[cell]});
    reader_of_cell_[cell] = static_cast<std::int32_t>(readers_.size() - 1);
  }
  parameters_.clear();
  return id;
}

TaskId Emitter::commit_compute(const Task& task) {
  program_->resources.push(program_->compute_stream(task.device));
  program_->resources.end_row();
  return commit(task);
}

TaskId Emitter::commit_transfer(const Task& task, const Path& path) {
  CHECK(!path.links.empty(), "a transfer without a path");
  const auto sorted = [&] { return std::is_sorted(path.links.begin(), path.links.end()); };
  if (sorted()) {
    for (LinkId link : path.links) program_->resources.push(program_->link(link));
  } else {
    std::vector<LinkId> links = path.links;
    std::sort(links.begin(), links.end());
    for (LinkId link : links) program_->resources.push(program_->link(link));
  }
  program_->resources.end_row();
  return commit(task);
}

TaskId Emitter::commit_collective(const Task& task, std::span<const DeviceId> members,
                                  std::span<const LinkId> links) {
  for (DeviceId device : members) program_->resources.push(program_->communication_stream(device));
  for (LinkId link : links) program_->resources.push(program_->link(link));
  program_->resources.end_row();
  return commit(task);
}

}  // namespace strato
