#include "core/program/delta_lower.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/program/lower_state.h"

namespace strato {
namespace {

constexpr std::uint32_t kNoAsk = ~std::uint32_t{0};  // of what no input brought

constexpr double kMostChanged = 1.0 / 3;  // of all ops: more are lowered anew
constexpr std::uint64_t kNoTie = ~std::uint64_t{0};

struct Entry {  // of a block: a task of an op, and the input for which it was made
  TaskId task;
  std::uint32_t ask = kNoAsk;
};

struct Block {
  std::size_t begin = 0, end = 0;  // in entries
};

bool same_place(const Instance& a, const Instance& b) {
  return a.buffer == b.buffer && a.task == b.task && a.device == b.device && a.begin == b.begin &&
         a.end == b.end && a.slot == b.slot && a.exclusive == b.exclusive;
}

}  // namespace

struct DeltaLowering::State final : BlockObserver {
  State(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
        std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost)
      : lower(std::move(graph), std::move(grouping), std::move(cluster), std::move(cost)) {
    lower.observer = this;
    lower.emitter.set_store(&tasks);
    number_ops();
    find_roots();
  }

  void number_ops();
  void find_roots();

  void lower_all();
  void lower_changes();
  bool find_changed_ops();
  void mark_from_changes();
  void mark_op(OpId op) { op_dirty[rank_of[op]] = true; }
  void mark_tensor(TensorId tensor);
  void mark_readers(TensorId tensor, bool moved);
  void mark_parameter_readers(TensorId tensor, OpId update);
  void renew_residents(TensorId tensor);
  void remember_layouts();

  // One op.
  void lower_again(OpId op);
  void begin_block(OpId op, bool stays);
  void end_block(OpId op);
  void flush();
  void bring(std::uint32_t ask, TensorId tensor) override;
  void compute(std::size_t shard) override;
  bool is_kept(const Entry& entry) const;
  bool rows_equal(std::int32_t before, std::int32_t now) const;
  void compare_block(OpId op, Block before);

  Tables& tables() { return lower.tables; }

  LowerState lower;
  Emitter::Store tasks;
  Program store;
  Change change;

  // Emission order.
  std::vector<OpId> ops;  // by rank
  IdVector<OpId, std::uint32_t> rank_of;
  std::vector<Entry> entries;
  std::vector<Block> blocks;  // by rank
  IdVector<TaskId, std::uint64_t> ties;
  std::size_t alive = 0;

  // Of the strategy that is lowered.
  bool valid = false;
  std::uint32_t generation = 0;
  Strategy strategy;
  IdVector<OpId, LayoutId> layout_of, homes_of;
  IdVector<GroupId, bool> reduces;
  IdVector<DeviceId, Bytes> resident;

  // Of a change.
  IdVector<OpId, bool> op_changed;
  std::vector<OpId> changed_ops;
  std::vector<char> op_dirty;  // by rank
  IdVector<TensorId, char> tensor_dirty;
  std::vector<TensorId> dirty;
  IdVector<TensorId, TensorId> root;  // of views of parameters: the parameter

  // Of the block being lowered.
  Block old_block;
  std::size_t next_old = 0, flushed_rows = 0, begin = 0;
  std::uint32_t current_ask = kNoAsk;
  bool stays = false;  // the op's layout did not change
  std::vector<TaskId> old_compute;
  std::vector<std::int32_t> old_row;  // of old_compute
  std::vector<Instance> old_outputs;
};

void DeltaLowering::State::number_ops() {
  rank_of.resize(tables().graph->op_count());
  for (const std::vector<OpId>* list : {&tables().early, &tables().late})
    for (OpId op : *list) {
      rank_of[op] = static_cast<std::uint32_t>(ops.size());
      ops.push_back(op);
    }
  blocks.resize(ops.size());
  op_dirty.resize(ops.size());
  op_changed.resize(ops.size());
  tensor_dirty.resize(tables().tensors.size());
}

void DeltaLowering::State::find_roots() {
  root.resize(tables().tensors.size());
  for (OpId op : ops) {
    if (!tables().ops[op].alias) continue;
    const TensorId input = tables().inputs(op).front();
    const TensorId from = tables().tensors[input].source == Source::Parameter ? input : root[input];
    for (TensorId output : tables().outputs(op)) root[output] = from;
  }
}

// --- all of it ---

void DeltaLowering::State::lower_all() {
  change = Change();
  change.everything = true;
  tasks.row_of.clear();
  tasks.task_of_row.clear();
  lower.start(store);
  entries.clear();
  ties.clear();
  lower.outputs_stay = stays = false;
  flushed_rows = 0;
  for (std::uint32_t rank = 0; rank < ops.size(); ++rank) {
    old_block = {};
    begin_block(ops[rank], false);
    lower.lower_op(ops[rank]);
    end_block(ops[rank]);
  }
  lower.exchange.list_residents();
  resident.assign(store.cluster->device_count(), Bytes(0));
  for (const Resident& bytes : store.residents) resident[bytes.device] += bytes.bytes;
  ties.resize(store.tasks.size());
  for (std::size_t rank = 0; rank < blocks.size(); ++rank)
    for (std::size_t i = blocks[rank].begin; i < blocks[rank].end; ++i)
      ties[entries[i].task] = (rank << 32) | (i - blocks[rank].begin);
  alive = store.tasks.size();
  valid = true;
  remember_layouts();
}

void DeltaLowering::State::remember_layouts() {
  generation = lower.placement.generation();
  layout_of.resize(ops.size());
  homes_of.resize(ops.size());
  reduces.resize(tables().grouping->size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    layout_of[OpId(i)] = lower.placement.layout_id(OpId(i));
    homes_of[OpId(i)] = lower.placement.homes_id(OpId(i));
  }
  for (std::size_t g = 0; g < reduces.size(); ++g)
    reduces[GroupId(g)] = strategy.groups[GroupId(g)]->mode == Mode::ReplicateAllReduce;
}

// --- what can differ ---

bool DeltaLowering::State::find_changed_ops() {
  changed_ops.clear();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const OpId op(i);
    const bool update = tables().ops[op].kind == TaskKind::Update;
    op_changed[op] = layout_of[op] != lower.placement.layout_id(op) ||
                     (update && homes_of[op] != lower.placement.homes_id(op));
    if (op_changed[op]) changed_ops.push_back(op);
  }
  return static_cast<double>(changed_ops.size()) <= kMostChanged * static_cast<double>(ops.size());
}

void DeltaLowering::State::mark_tensor(TensorId tensor) {
  if (tensor_dirty[tensor]) return;
  tensor_dirty[tensor] = true;
  dirty.push_back(tensor);
}

void DeltaLowering::State::mark_from_changes() {
  std::fill(op_dirty.begin(), op_dirty.end(), false);
  std::fill(tensor_dirty.begin(), tensor_dirty.end(), false);
  dirty.clear();
  for (OpId op : changed_ops) {
    mark_op(op);
    for (TensorId tensor : tables().inputs(op)) mark_tensor(tensor);
    for (TensorId tensor : tables().outputs(op)) mark_tensor(tensor);
  }
  // Sums are reduced in one go where a group says so.
  for (std::size_t g = 0; g < reduces.size(); ++g) {
    if (reduces[GroupId(g)] == (strategy.groups[GroupId(g)]->mode == Mode::ReplicateAllReduce))
      continue;
    for (OpId op : tables().grouping->group(GroupId(g)).ops)
      for (const std::span<const TensorId> tensors : {tables().inputs(op), tables().outputs(op)})
        for (TensorId tensor : tensors)
          if (tables().tensors[tensor].kind == BatchKind::Partial) mark_tensor(tensor);
  }
  for (std::size_t i = 0; i < dirty.size(); ++i) {
    const TensorFacts& facts = tables().tensors[dirty[i]];
    if (facts.source != Source::Resident) lower.exchange.forget_copies(dirty[i]);
    mark_readers(dirty[i], facts.source == Source::Produced && op_changed[facts.op]);
  }
}

// `moved`: what was made stands elsewhere, or is made by other tasks.
void DeltaLowering::State::mark_readers(TensorId tensor, bool moved) {
  const TensorFacts& facts = tables().tensors[tensor];
  if (root[tensor].valid()) mark_op(tables().tensors[root[tensor]].op);
  if (facts.source == Source::Resident) return renew_residents(tensor);
  if (facts.source == Source::Parameter) return mark_parameter_readers(tensor, facts.op);
  const LayoutId at = lower.placement.layout_id(facts.op);
  for (OpId reader : tables().graph->consumers(tensor))
    if (moved || lower.placement.layout_id(reader) != at) mark_op(reader);
}

void DeltaLowering::State::mark_parameter_readers(TensorId tensor, OpId update) {
  const bool moved = homes_of[update] != lower.placement.homes_id(update);
  if (moved) renew_residents(tensor);
  const Layout& homes = lower.placement.homes(update);
  mark_op(update);
  for (OpId reader : tables().graph->consumers(tensor)) {
    const auto& shards = lower.placement.layout(reader).shards;
    const bool at_home = std::all_of(shards.begin(), shards.end(),
                                     [&](const Shard& shard) { return homes.has(shard.device); });
    if (moved || !at_home) mark_op(reader);
  }
}

void DeltaLowering::State::renew_residents(TensorId tensor) {
  const auto add = [&](std::int64_t sign) {
    for (std::size_t d = 0; d < resident.size(); ++d)
      resident[DeviceId(d)] += sign * lower.exchange.resident_bytes(tensor, DeviceId(d));
  };
  add(-1);
  lower.exchange.forget_residents(tensor);
  if (tables().tensors[tensor].source == Source::Parameter) {
    lower.exchange.add_homes(tensor);
  } else {
    for (OpId reader : tables().graph->consumers(tensor))
      lower.exchange.read_resident(reader, tensor);
  }
  add(1);
}

// --- one op ---

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
    if (!stays || store.tasks[TaskId(static_cast<std::size_t>(row))].kind != tables().ops[op].kind)
      continue;
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
  return row >= 0 && !tensor_dirty[store.tasks[TaskId(static_cast<std::size_t>(row))].tensor];
}

void DeltaLowering::State::bring(std::uint32_t ask, TensorId) {
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

bool DeltaLowering::State::rows_equal(std::int32_t before, std::int32_t now) const {
  const auto a = store.dependencies[static_cast<std::size_t>(before)];
  const auto b = store.dependencies[static_cast<std::size_t>(now)];
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
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
    const bool same_row = !again || rows_equal(old_row[shard], tasks.row_of[task]);
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

void DeltaLowering::State::lower_again(OpId op) {
  const Block before = blocks[rank_of[op]];
  const bool layout_stays = layout_of[op] == lower.placement.layout_id(op);
  const bool alias = tables().ops[op].alias;
  const auto each_output = [&](auto&& visit) {
    for (TensorId output : tables().outputs(op))
      for (std::size_t s = 0; s < lower.placement.layout(op).shards.size(); ++s)
        visit(lower.exchange.instance(lower.exchange.first_output(output) + s));
  };
  old_outputs.clear();
  if (alias && layout_stays)
    each_output([&](const Instance& instance) { old_outputs.push_back(instance); });
  old_block = before;
  lower.outputs_stay = layout_stays;
  begin_block(op, layout_stays);
  lower.lower_op(op);
  end_block(op);
  compare_block(op, before);
  if (!alias || !layout_stays) return;
  bool moved = false;
  std::size_t next = 0;
  each_output([&](const Instance& instance) {
    moved = moved || !same_place(instance, old_outputs[next]);
    ++next;
  });
  if (!moved) return;
  for (TensorId output : tables().outputs(op)) {
    tensor_dirty[output] = true;
    lower.exchange.forget_copies(output);
    mark_readers(output, true);
  }
}

void DeltaLowering::State::lower_changes() {
  change.everything = false;
  change.added.clear();
  change.removed.clear();
  change.changed.clear();
  mark_from_changes();
  for (std::size_t rank = 0; rank < ops.size(); ++rank)
    if (op_dirty[rank]) lower_again(ops[rank]);
  alive += change.added.size();
  alive -= change.removed.size();
  remember_layouts();
}

DeltaLowering::DeltaLowering(std::shared_ptr<const Graph> graph,
                             std::shared_ptr<const Grouping> grouping,
                             std::shared_ptr<const Cluster> cluster,
                             std::shared_ptr<const CostModel> cost)
    : state_(std::make_unique<State>(std::move(graph), std::move(grouping), std::move(cluster),
                                     std::move(cost))) {}
DeltaLowering::~DeltaLowering() = default;

const DeltaLowering::Change& DeltaLowering::lower(const Strategy& strategy) {
  constexpr std::size_t kMostGarbage = 3;  // rows that are gone for each that is not
  State& state = *state_;
  CHECK(strategy.bucket == Bytes(0) && strategy.priorities.empty(),
        "delta lowering knows no buckets and no priorities");
  state.strategy = complete(strategy, *state.tables().cluster);
  state.lower.placement.place(state.strategy);
  const bool near = state.valid && state.generation == state.lower.placement.generation() &&
                    state.store.tasks.size() <= (kMostGarbage + 1) * state.alive + 1000 &&
                    state.find_changed_ops();
  state.valid = false;  // until it is done: an exception leaves it half done
  near ? state.lower_changes() : state.lower_all();
  state.valid = true;
  return state.change;
}

bool DeltaLowering::is_far(const Strategy& complete) const {
  return !state_->valid || are_far(complete, state_->strategy, *state_->tables().grouping);
}

bool DeltaLowering::are_far(const Strategy& a, const Strategy& b, const Grouping& grouping) {
  if (a.groups.size() != grouping.size() || b.groups.size() != grouping.size()) return true;
  std::size_t changed = 0, all = 0;
  for (std::size_t g = 0; g < grouping.size(); ++g) {
    const std::size_t ops = grouping.group(GroupId(g)).ops.size();
    all += ops;
    if (a.groups[GroupId(g)] != b.groups[GroupId(g)]) changed += ops;
  }
  std::vector<OpId> duplicated;
  std::set_symmetric_difference(a.duplicated.begin(), a.duplicated.end(), b.duplicated.begin(),
                                b.duplicated.end(), std::back_inserter(duplicated));
  changed += duplicated.size();
  return static_cast<double>(changed) > kMostChanged * static_cast<double>(all);
}

void DeltaLowering::forget() { state_->valid = false; }

const Program& DeltaLowering::store() const { return state_->store; }
std::size_t DeltaLowering::row(TaskId task) const {
  return static_cast<std::size_t>(state_->tasks.row_of[task]);
}
void DeltaLowering::list_tasks(std::vector<TaskId>& tasks) const {
  tasks.clear();
  for (const Block& block : state_->blocks)
    for (std::size_t i = block.begin; i < block.end; ++i) tasks.push_back(state_->entries[i].task);
}
std::size_t DeltaLowering::task_count() const { return state_->alive; }
Bytes DeltaLowering::resident(DeviceId device) const { return state_->resident[device]; }
const std::shared_ptr<const Grouping>& DeltaLowering::grouping() const {
  return state_->tables().grouping;
}

namespace {

template <class Id>
void push_mapped(std::span<const Id> row, const IdVector<Id, Id>& to, Rows<Id>& rows) {
  std::vector<Id> mapped;
  for (const Id id : row) mapped.push_back(to[id]);
  std::sort(mapped.begin(), mapped.end());
  rows.push_row(mapped);
}

}  // namespace

Program DeltaLowering::program(std::vector<TaskId>& ids) const {
  State& state = *state_;
  CHECK(state.valid, "nothing was lowered");
  Program program;
  program.graph = state.store.graph;
  program.cluster = state.store.cluster;
  IdVector<TaskId, TaskId> task_ids(state.store.tasks.size());
  IdVector<BufferId, BufferId> buffer_ids(state.store.buffers.size());
  ids.clear();
  for (const Block& block : state.blocks)
    for (std::size_t i = block.begin; i < block.end; ++i) {
      const TaskId task = state.entries[i].task;
      const std::size_t row = this->row(task);
      task_ids[task] = program.tasks.next_id();
      ids.push_back(task);
      program.tasks.push_back(state.store.tasks[TaskId(row)]);
      program.resources.push_row(state.store.resources[row]);
      for (BufferId buffer : state.store.writes[row]) {
        buffer_ids[buffer] = program.buffers.next_id();
        program.buffers.push_back(state.store.buffers[buffer]);
        program.writes.push(buffer_ids[buffer]);
      }
      program.writes.end_row();
    }
  for (const TaskId task : ids) {
    push_mapped(state.store.dependencies[row(task)], task_ids, program.dependencies);
    push_mapped(state.store.reads[row(task)], buffer_ids, program.reads);
  }
  for (std::size_t d = 0; d < program.cluster->device_count(); ++d)
    for (TensorId tensor : state.tables().slots)
      if (const Bytes bytes = state.lower.exchange.resident_bytes(tensor, DeviceId(d));
          bytes > Bytes(0))
        program.residents.push_back({tensor, DeviceId(d), bytes});
  return program;
}

}  // namespace strato
