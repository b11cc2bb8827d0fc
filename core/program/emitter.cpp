#include "core/program/emitter.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

// Nearly always a few values, often in order already.
template <class T>
void push_sorted_unique(std::vector<T>& values, Rows<T>& rows) {
  constexpr std::size_t kFew = 16;
  if (values.size() <= kFew) {
    for (std::size_t i = 1; i < values.size(); ++i) {
      const T value = values[i];
      std::size_t at = i;
      for (; at > 0 && value < values[at - 1]; --at) values[at] = values[at - 1];
      values[at] = value;
    }
  } else {
    std::sort(values.begin(), values.end());
  }
  T last;
  for (const T value : values) {
    if (value != last) rows.push(value);
    last = value;
  }
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

void Emitter::keep_store(std::size_t row) {
  const TaskId task = replaced_.valid() ? replaced_ : TaskId(row);
  store_->row_of.resize(row + 1, -1);
  store_->row_of[task] = static_cast<std::int32_t>(row);
  store_->task_of_row.push_back(task);
}

TaskId Emitter::commit_rows() {
  const std::size_t row = program_->tasks.size() - 1;
  program_->writes.end_row();
  push_sorted_unique(dependencies_, program_->dependencies);
  push_sorted_unique(reads_, program_->reads);
  for (std::size_t cell : parameters_) {
    readers_.push_back({static_cast<std::int32_t>(row), reader_of_cell_[cell]});
    reader_of_cell_[cell] = static_cast<std::int32_t>(readers_.size() - 1);
  }
  parameters_.clear();
  if (store_) keep_store(row);
  return replaced_.valid() ? std::exchange(replaced_, TaskId()) : TaskId(row);
}

Task& Emitter::commit_compute(DeviceId device) {
  program_->resources.push(program_->compute_stream(device));
  program_->resources.end_row();
  Task& task = program_->tasks.emplace_back();
  task.device = device;
  commit_rows();
  return task;
}

TaskId Emitter::commit_compute(const Task& task) {
  program_->resources.push(program_->compute_stream(task.device));
  program_->resources.end_row();
  return commit(task);
}

TaskId Emitter::commit_transfer(const Task& task, const Path& path) {
  CHECK(!path.links.empty(), "a transfer without a path");
  sorted_links_ = path.links;
  std::sort(sorted_links_.begin(), sorted_links_.end());
  for (LinkId link : sorted_links_) program_->resources.push(program_->link(link));
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
