#include "core/program/delta/delta_lower.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/program/delta/delta_state.h"

namespace strato {
namespace {

// Of all ops: more are lowered anew.
bool are_few(std::size_t changed, std::size_t all) { return 3 * changed <= all; }

}  // namespace

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
  CHECK(is_plain(strategy), "delta lowering knows no buckets, priorities, split ops and variables");
  state.strategy = complete(strategy, *state.tables().cluster);
  state.lower.placement.place(state.strategy);
  const bool comparable = state.valid && state.generation == state.lower.placement.generation() &&
                          state.store.tasks.size() <= (kMostGarbage + 1) * state.alive + 1000;
  if (comparable) state.find_changed_ops();
  const bool near = comparable && are_few(state.changed_ops.size(), state.ops.size());
  state.valid = false;  // until it is done: an exception leaves it half done
  near ? state.lower_changes() : state.lower_all();
  state.valid = true;
  return state.change;
}

bool DeltaLowering::is_plain(const Strategy& strategy) {
  return strategy.bucket == Bytes(0) && strategy.priorities.empty() && strategy.splits.empty() &&
         strategy.variables.empty();
}

bool DeltaLowering::are_near(const Strategy& a, const Strategy& b, const Grouping& grouping) {
  if (a.groups.size() != grouping.size() || b.groups.size() != grouping.size()) return false;
  if (!is_plain(a) || !is_plain(b)) return false;
  std::size_t all = 0;
  std::vector<OpId> changed;
  std::set_symmetric_difference(a.duplicated.begin(), a.duplicated.end(), b.duplicated.begin(),
                                b.duplicated.end(), std::back_inserter(changed));
  std::size_t count = changed.size();
  for (std::size_t g = 0; g < grouping.size(); ++g) {
    const std::size_t ops = grouping.group(GroupId(g)).ops.size();
    all += ops;
    if (a.groups[GroupId(g)] != b.groups[GroupId(g)]) count += ops;
  }
  return are_few(count, all);
}

bool DeltaLowering::is_near(const Strategy& complete) const {
  return state_->valid && are_near(complete, state_->strategy, *state_->tables().grouping);
}

void DeltaLowering::forget() { state_->valid = false; }

const Program& DeltaLowering::store() const { return state_->store; }
std::size_t DeltaLowering::row(TaskId task) const {
  return static_cast<std::size_t>(state_->tasks.row_of[task]);
}
void DeltaLowering::list_tasks(std::vector<TaskId>& tasks) const {
  tasks.clear();
  for (const State::Block& block : state_->blocks)
    for (std::size_t i = block.begin; i < block.end; ++i) tasks.push_back(state_->entries[i].task);
}
std::size_t DeltaLowering::task_count() const { return state_->alive; }
Bytes DeltaLowering::resident(DeviceId device) const { return state_->resident[device]; }
const std::shared_ptr<const Grouping>& DeltaLowering::grouping() const {
  return state_->tables().grouping;
}

}  // namespace strato
