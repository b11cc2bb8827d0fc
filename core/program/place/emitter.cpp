#include "core/program/place/emitter.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace strato {
Emitter::Emitter(const Tables& tables)
    : tables_(tables), links_(tables.cluster->device_count() * tables.cluster->device_count()) {}

void Emitter::start(Program& program) {
  program_ = &program;
  parts_.start(program);
  dependencies_.clear();
  reads_.clear();
  parameters_.clear();
  marks_ = {};
  readers_.clear();
  reader_of_cell_.assign(tables_.slots.size() * tables_.cluster->device_count(), -1);
}

void Emitter::overwrite(std::int32_t slot, DeviceId device) {
  for (std::int32_t i = reader_of_cell_[cell(slot, device)]; i >= 0;
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
  for (const std::size_t cell : parameters_) {
    readers_.push_back({row.value(), reader_of_cell_[cell]});
    reader_of_cell_[cell] = static_cast<std::int32_t>(readers_.size() - 1);
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
  std::vector<ResourceId>& known =
      links_[from.index() * tables_.cluster->device_count() + to.index()];
  if (!known.empty()) return known;
  for (LinkId link : tables_.cluster->path(from, to).links) known.push_back(program_->link(link));
  CHECK(!known.empty(), "a transfer without a path");
  std::sort(known.begin(), known.end());
  return known;
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
