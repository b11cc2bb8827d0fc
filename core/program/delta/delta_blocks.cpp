// The block of one op: its tasks and the exchanges that it was the first to ask for, in emission
// order. Lowered again, a task keeps its handle where the op's layout stays, and an exchange where
// its tensor is not dirty.
#include <algorithm>
#include <utility>

#include "core/program/delta/delta_state.h"

namespace strato {
namespace {

constexpr std::uint64_t kNoTie = ~std::uint64_t{0};

bool same_place(const Instance& a, const Instance& b) {
  return a.buffer == b.buffer && a.task == b.task && a.device == b.device && a.begin == b.begin &&
         a.end == b.end && a.slot == b.slot && a.exclusive == b.exclusive;
}

// Rows of one task: does it wait for the same, and read the same?
bool rows_equal(const Program& store, std::int32_t before, std::int32_t now) {
  const auto a = static_cast<std::size_t>(before), b = static_cast<std::size_t>(now);
  return std::ranges::equal(store.dependencies[a], store.dependencies[b]) &&
         std::ranges::equal(store.reads[a], store.reads[b]);
}

}  // namespace

void DeltaLowering::State::begin_block(OpId op, bool layout_stays) {
  stays = layout_stays;
  begin = entries.size();
  next_old = old_block.begin;
  current_ask = kNoAsk;
  old_compute.clear();
  old_row.clear();
  for (std::size_t i = old_block.begin; i < old_block.end; ++i) {
    if (stays && is_kept(entries[i])) continue;
    const TaskId task = entries[i].task;
    const std::int32_t row = std::exchange(tasks.row_of[task], -1);
    if (!stays || task_in(row).kind != tables().ops[op].kind) continue;
    old_compute.push_back(task);
    old_row.push_back(row);
  }
}

// Rows that were written since the last time go into the block.
void DeltaLowering::State::flush() {
  for (; flushed_rows < store.tasks.size(); ++flushed_rows)
    entries.push_back({tasks.task_of_row[flushed_rows], current_ask});
}

// Exchanges of tensors that cannot have changed stay where they were.
bool DeltaLowering::State::is_kept(const Entry& entry) const {
  if (entry.ask == kNoAsk) return false;
  const std::int32_t row = tasks.row_of[entry.task];
  return row >= 0 && !tensor_dirty[task_in(row).tensor];
}

void DeltaLowering::State::bring(std::uint32_t ask) {
  flush();
  current_ask = ask;
  if (!stays) return;
  for (; next_old < old_block.end; ++next_old) {
    const Entry entry = entries[next_old];
    if (!is_kept(entry)) continue;
    if (entry.ask != ask) break;
    entries.push_back(entry);
  }
}

void DeltaLowering::State::compute(std::size_t shard) {
  flush();
  current_ask = kNoAsk;
  if (!old_compute.empty()) lower.emitter.replace(old_compute[shard], old_row[shard]);
}

void DeltaLowering::State::end_block(OpId op) {
  flush();
  blocks[rank_of[op]] = {begin, entries.size()};
}

// Fills `change` from the block as it was and as it is.
void DeltaLowering::State::compare_block(OpId op, Block before) {
  const Block now = blocks[rank_of[op]];
  const std::uint64_t rank = std::uint64_t{rank_of[op]} << 32;
  ties.resize(store.tasks.size(), kNoTie);
  std::size_t shard = 0;
  for (std::size_t i = now.begin; i < now.end; ++i) {
    const TaskId task = entries[i].task;
    const std::uint64_t old_tie = std::exchange(ties[task], rank | (i - now.begin));
    if (old_tie == kNoTie) {
      change.added.push_back(task);
      continue;
    }
    const bool again = shard < old_compute.size() && old_compute[shard] == task;
    const bool same_row = !again || rows_equal(store, old_row[shard], tasks.row_of[task]);
    shard += again;
    if (!same_row || old_tie != ties[task]) change.changed.push_back(task);
  }
  for (std::size_t i = before.begin; i < before.end; ++i) {
    const TaskId task = entries[i].task;
    const std::size_t at = now.begin + static_cast<std::uint32_t>(ties[task]);
    if (at < now.end && entries[at].task == task) continue;
    change.removed.push_back(task);
  }
}

void DeltaLowering::State::list_outputs(OpId op, std::vector<Instance>& list) {
  list.clear();
  for (TensorId output : tables().outputs(op))
    for (std::size_t s = 0; s < lower.placement.layout(op).shards.size(); ++s)
      list.push_back(lower.exchange.instance(lower.exchange.first_output(output) + s));
}

void DeltaLowering::State::lower_again(OpId op) {
  const Block before = blocks[rank_of[op]];
  const bool layout_stays = layout_of[op] == lower.placement.layout_id(op);
  const bool view_stays = tables().ops[op].alias && layout_stays;
  if (view_stays) list_outputs(op, old_outputs);
  old_block = before;
  lower.outputs_stay = layout_stays;
  begin_block(op, layout_stays);
  lower.lower_op(op);
  end_block(op);
  compare_block(op, before);
  if (!view_stays) return;
  list_outputs(op, outputs);
  if (!std::ranges::equal(outputs, old_outputs, same_place)) mark_readers_of_view(op);
}

// What it is a view of stands elsewhere.
void DeltaLowering::State::mark_readers_of_view(OpId view) {
  for (TensorId output : tables().outputs(view)) {
    tensor_dirty[output] = true;
    lower.exchange.forget_copies(output);
    mark_readers(output, true);
  }
}

}  // namespace strato
