#include "core/program/delta/op_blocks.h"

#include <algorithm>
#include <utility>

namespace strato {
namespace {

constexpr std::uint64_t kNoTie = ~std::uint64_t{0};

}  // namespace

OpBlocks::OpBlocks(OpLowering& lowering, const DirtyOps& dirty, const Program& store)
    : tables_(lowering.tables()), emitter_(lowering.emitter()), dirty_(dirty), store_(store) {
  rank_of_.resize(tables_.graph->op_count());
  for (const std::vector<OpId>* list : {&tables_.early, &tables_.late})
    for (OpId op : *list) {
      rank_of_[op] = static_cast<std::uint32_t>(ops_.size());
      ops_.push_back(op);
    }
  emitter_.set_store(&tasks_);
  lowering.set_observer(this);
}

void OpBlocks::start() {
  tasks_.row_of.clear();
  tasks_.task_of_row.clear();
  entries_.clear();
  blocks_.assign(ops_.size(), Block());
  ties_.clear();
  flushed_rows_ = 0;
}

void OpBlocks::begin(OpId op, bool layout_stays) {
  op_ = op;
  old_ = blocks_[rank_of_[op]];
  stays_ = layout_stays;
  begin_ = entries_.size();
  next_old_ = old_.begin;
  ask_ = kNoAsk;
  old_compute_.clear();
  old_row_.clear();
  for (std::size_t i = old_.begin; i < old_.end; ++i) {
    if (stays_ && is_kept(entries_[i])) continue;
    const TaskId task = entries_[i].task;
    const std::int32_t row = std::exchange(tasks_.row_of[task], -1);
    if (!stays_ || task_in(row).kind != tables_.ops[op].kind) continue;
    old_compute_.push_back(task);
    old_row_.push_back(row);
  }
}

// Rows that were written since the last time go into the block.
void OpBlocks::flush() {
  for (; flushed_rows_ < store_.tasks.size(); ++flushed_rows_)
    entries_.push_back({tasks_.task_of_row[flushed_rows_], ask_});
}

// Exchanges of tensors that cannot have changed stay where they were.
bool OpBlocks::is_kept(const Entry& entry) const {
  if (entry.ask == kNoAsk) return false;
  const std::int32_t row = tasks_.row_of[entry.task];
  return row >= 0 && !dirty_.is_dirty(task_in(row).tensor);
}

void OpBlocks::bring(std::uint32_t ask) {
  flush();
  ask_ = ask;
  if (!stays_) return;
  for (; next_old_ < old_.end; ++next_old_) {
    const Entry entry = entries_[next_old_];
    if (!is_kept(entry)) continue;
    if (entry.ask != ask) break;
    entries_.push_back(entry);
  }
}

void OpBlocks::compute(std::size_t shard) {
  flush();
  ask_ = kNoAsk;
  if (!old_compute_.empty()) emitter_.replace(old_compute_[shard], old_row_[shard]);
}

void OpBlocks::end() {
  flush();
  blocks_[rank_of_[op_]] = {begin_, entries_.size()};
}

// Rows of one task: does it wait for the same, and read the same?
bool OpBlocks::rows_equal(std::int32_t before, std::int32_t now) const {
  const auto a = static_cast<std::size_t>(before), b = static_cast<std::size_t>(now);
  return std::ranges::equal(store_.dependencies[a], store_.dependencies[b]) &&
         std::ranges::equal(store_.reads[a], store_.reads[b]);
}

void OpBlocks::compare(TaskChange& change) {
  const Block now = blocks_[rank_of_[op_]];
  const std::uint64_t rank = std::uint64_t{rank_of_[op_]} << 32;
  ties_.resize(store_.tasks.size(), kNoTie);
  std::size_t shard = 0;
  for (std::size_t i = now.begin; i < now.end; ++i) {
    const TaskId task = entries_[i].task;
    const std::uint64_t old_tie = std::exchange(ties_[task], rank | (i - now.begin));
    if (old_tie == kNoTie) {
      change.added.push_back(task);
      continue;
    }
    const bool again = shard < old_compute_.size() && old_compute_[shard] == task;
    const bool same_row = !again || rows_equal(old_row_[shard], tasks_.row_of[task]);
    shard += again;
    if (!same_row || old_tie != ties_[task]) change.changed.push_back(task);
  }
  for (std::size_t i = old_.begin; i < old_.end; ++i) {
    const TaskId task = entries_[i].task;
    const std::size_t at = now.begin + static_cast<std::uint32_t>(ties_[task]);
    if (at >= now.end || entries_[at].task != task) change.removed.push_back(task);
  }
}

void OpBlocks::number_tasks() {
  ties_.resize(store_.tasks.size());
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank)
    for (std::size_t i = blocks_[rank].begin; i < blocks_[rank].end; ++i)
      ties_[entries_[i].task] = (rank << 32) | (i - blocks_[rank].begin);
}

void OpBlocks::list_tasks(std::vector<TaskId>& tasks) const {
  tasks.clear();
  for (const Block& block : blocks_)
    for (std::size_t i = block.begin; i < block.end; ++i) tasks.push_back(entries_[i].task);
}

}  // namespace strato
