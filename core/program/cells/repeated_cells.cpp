#include "core/program/cells/repeated_cells.h"

#include <algorithm>
#include <map>

#include "core/base/at.h"
#include "core/program/value/sorted_rows.h"

namespace strato {

RepeatedCells::RepeatedCells(const Tables& tables, Emitter& emitter, Copies& copies,
                             Residents& residents, CellOrder* order, Program& into,
                             std::size_t passes)
    : tables_(tables),
      emitter_(emitter),
      copies_(copies),
      residents_(residents),
      order_(order),
      into_(into),
      cells_(passes),
      begins_(passes * static_cast<std::size_t>(tables.micro_batches)) {}

bool RepeatedCells::can_repeat(std::span<const ScheduleCell> cells) {
  constexpr std::size_t kFewest = 4;  // micro-batches
  std::map<std::int32_t, std::vector<std::pair<std::int32_t, PassKind>>> passes;
  for (const ScheduleCell& cell : cells) passes[cell.micro].emplace_back(cell.chunk, cell.pass);
  return passes.size() >= kFewest && std::ranges::all_of(passes, [&](const auto& of_micro) {
           return of_micro.first == 0 || of_micro.second == passes.at(1);
         });
}

void RepeatedCells::start_cell(std::size_t pass, std::int32_t micro) {
  micro_ = micro;
  const Begin begin = {into_.tasks.next_id().value(), into_.buffers.next_id().value()};
  begin_of(pass, micro) = begin;
  done_.push_back({pass, micro, begin});
}

void RepeatedCells::begin(std::size_t pass, std::int32_t micro) {
  start_cell(pass, micro);
  sums_.clear();
  parameters_.clear();
  parts_before_ = residents_.part_count();
  emitter_.parameter_readers().record(micro == 1 ? &parameters_ : nullptr);
}

// Where the ids are; `but`: one that is left out.
template <class Id>
bool RepeatedCells::refer(Rows<Ref>& rows, std::span<const Id> to, Id but,
                          std::int32_t Begin::*of) const {
  for (const Id id : to) {
    if (id == but) continue;
    const auto behind = std::ranges::upper_bound(done_, id.value(), {},
                                                 [&](const Done& done) { return done.begin.*of; });
    if (behind == done_.begin() || (behind - 1)->micro == 0) {
      rows.push({-1, id.value()});
      continue;
    }
    const Done& in = *(behind - 1);
    if (in.micro > 1) return false;
    rows.push({static_cast<std::int32_t>(in.pass), id.value() - in.begin.*of});
  }
  rows.end_row();
  return true;
}

bool RepeatedCells::refer_all(Cell& cell, TaskId first) const {
  auto sum = sums_.begin();
  std::span<const CellOrder::First> firsts;
  if (order_) firsts = order_->firsts();
  for (std::size_t i = first.index(); i < into_.tasks.size(); ++i) {
    const TaskId task(i);
    std::span<const TaskId> waits = into_.dependencies[i];
    if (!firsts.empty() && firsts.front().task == task) {
      waits = firsts.front().besides;
      firsts = firsts.subspan(1);
      cell.firsts.push_back(task);
    }
    TaskId but;
    if (sum != sums_.end() && sum->task == task) but = (sum++)->before;
    if (!refer(cell.waits, waits, but, &Begin::task) ||
        !refer(cell.reads, into_.reads[i], BufferId(), &Begin::buffer))
      return false;
  }
  return true;
}

bool RepeatedCells::end() {
  emitter_.parameter_readers().record(nullptr);
  const Done& done = done_.back();
  if (done.micro != 1) return true;
  if (residents_.part_count() != parts_before_) return false;
  Cell& cell = cells_[done.pass];
  cell.tasks = into_.tasks.size() - at(done.begin.task);
  cell.buffers = into_.buffers.size() - at(done.begin.buffer);
  if (!refer_all(cell, TaskId(at(done.begin.task)))) return false;
  cell.sums = sums_;
  cell.parameters = parameters_;
  if (order_) cell.ends = order_->ends();
  return true;
}

template <class Id>
Id RepeatedCells::referred(const Ref& ref, std::int32_t Begin::*of) {
  if (ref.pass < 0) return Id(at(ref.at));
  return Id(at(begin_of(at(ref.pass), micro_).*of + ref.at));
}

// The same part of this micro-batch's samples.
PartId RepeatedCells::shifted(PartId id) {
  if (shifted_.size() <= id.index()) shifted_.resize(id.index() + 1);
  if (shifted_[id].valid()) return shifted_[id];
  const std::int32_t size = tables_.micro_batch;
  const Part part = into_.parts[id];
  const AxisRange* samples = part.along(kBatchAxis);
  PartId found = id;
  if (samples && part.period() == 0 && samples->begin >= size && samples->end <= 2 * size) {
    const std::int32_t by = (micro_ - 1) * size;
    found = emitter_.parts().find(part.cut({kBatchAxis, samples->begin + by, samples->end + by}));
  }
  return shifted_[id] = found;
}

void RepeatedCells::repeat_buffers(const Cell& cell, Begin like) {
  for (std::size_t i = 0; i < cell.buffers; ++i) {
    Buffer buffer = into_.buffers[BufferId(at(like.buffer) + i)];
    buffer.part = shifted(buffer.part);
    into_.buffers.push_back(buffer);
  }
}

void RepeatedCells::find_waits(const Cell& cell, std::size_t task, TaskId like, TaskId now) {
  waits_.clear();
  for (const Ref& ref : cell.waits[task]) waits_.push_back(referred<TaskId>(ref, &Begin::task));
  if (next_first_ < cell.firsts.size() && cell.firsts[next_first_] == like) {
    ++next_first_;
    const std::span<const TaskId> before = order_->before(into_.tasks[like].device);
    waits_.insert(waits_.end(), before.begin(), before.end());
  }
  if (next_sum_ < cell.sums.size() && cell.sums[next_sum_].task == like) {
    const Sum& sum = cell.sums[next_sum_++];
    Instance total = copies_.of_shard(sum.sum, sum.shard);
    waits_.push_back(std::exchange(total.task, now));
    copies_.set(copies_.first(sum.sum) + sum.shard, total);
  }
}

void RepeatedCells::repeat_task(const Cell& cell, std::size_t task, Begin like, Begin now) {
  const TaskId from(at(like.task) + task), to(at(now.task) + task);
  find_waits(cell, task, from, to);
  push_sorted_unique(waits_, into_.dependencies);
  reads_.clear();
  for (const Ref& ref : cell.reads[task]) reads_.push_back(referred<BufferId>(ref, &Begin::buffer));
  push_sorted_unique(reads_, into_.reads);
  writes_.clear();
  for (const BufferId buffer : into_.writes[from.index()])
    writes_.push_back(BufferId(at(buffer.value() - like.buffer + now.buffer)));
  into_.writes.push_row(writes_);
  const std::span<const ResourceId> resources = into_.resources[from.index()];
  resources_.assign(resources.begin(), resources.end());
  into_.resources.push_row(resources_);
  Task made = into_.tasks[from];
  made.micro = micro_;
  made.part = shifted(made.part);
  into_.tasks.push_back(made);
  for (; next_parameter_ < cell.parameters.size(); ++next_parameter_) {
    const ParameterReaders::Read& read = cell.parameters[next_parameter_];
    if (read.row != from) break;
    emitter_.parameter_readers().add({to, read.slot, read.device});
  }
}

void RepeatedCells::repeat(std::size_t pass, std::int32_t micro) {
  if (micro != micro_) shifted_.clear();
  start_cell(pass, micro);
  const Cell& cell = cells_[pass];
  const Begin like = begin_of(pass, 1), now = begin_of(pass, micro);
  for (const auto& [device, ends] : cell.ends) {
    std::vector<TaskId> own;
    for (const TaskId task : ends) own.emplace_back(at(task.value() - like.task + now.task));
    order_->set_ends(device, std::move(own));
  }
  next_first_ = next_sum_ = next_parameter_ = 0;
  repeat_buffers(cell, like);
  for (std::size_t task = 0; task < cell.tasks; ++task) repeat_task(cell, task, like, now);
}

}  // namespace strato
