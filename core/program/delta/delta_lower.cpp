#include "core/program/delta/delta_lower.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

// Of all ops: more are lowered anew.
bool are_few(std::size_t changed, std::size_t all) { return 3 * changed <= all; }

bool same_place(const Instance& a, const Instance& b) {
  return a.buffer == b.buffer && a.task == b.task && a.device == b.device && a.part == b.part &&
         a.slot == b.slot && a.exclusive == b.exclusive;
}

template <class Id>
void push_mapped(std::span<const Id> row, const IdVector<Id, Id>& to, Rows<Id>& rows) {
  std::vector<Id> mapped;
  for (const Id id : row) mapped.push_back(to[id]);
  std::sort(mapped.begin(), mapped.end());
  rows.push_row(mapped);
}

// A task's place and what it makes; `buffers`: by handle.
void push_task(const Program& store, std::size_t row, Program& program,
               IdVector<BufferId, BufferId>& buffers) {
  program.tasks.push_back(store.tasks[TaskId(row)]);
  program.resources.push_row(store.resources[row]);
  for (BufferId buffer : store.writes[row]) {
    buffers[buffer] = program.buffers.next_id();
    program.buffers.push_back(store.buffers[buffer]);
    program.writes.push(buffers[buffer]);
  }
  program.writes.end_row();
}

}  // namespace

DeltaLowering::DeltaLowering(std::shared_ptr<const Graph> graph,
                             std::shared_ptr<const Grouping> grouping,
                             std::shared_ptr<const Cluster> cluster,
                             std::shared_ptr<const CostModel> cost)
    : grouping_(grouping),
      ops_(std::move(graph), std::move(grouping), std::move(cluster), std::move(cost)),
      dirty_(ops_),
      blocks_(ops_, dirty_, store_) {}

bool DeltaLowering::is_plain(const Strategy& strategy) {
  const auto has_rows = [](const std::optional<Decision>& decision) {
    return decision && is_mesh(*decision);
  };
  return std::ranges::none_of(strategy.groups, has_rows) && strategy.bucket == Bytes(0) &&
         strategy.priorities.empty() && strategy.splits.empty() && strategy.variables.empty() &&
         strategy.recomputed.empty() && strategy.offloaded.empty() &&
         strategy.micro_batches.count == 1;
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

bool DeltaLowering::is_near(const CompleteStrategy& strategy) const {
  return valid_ && are_near(*strategy, **strategy_, *grouping_);
}

const DeltaLowering::Change& DeltaLowering::lower(const CompleteStrategy& strategy) {
  CHECK(is_plain(*strategy),
        "delta lowering knows no buckets, priorities, meshes, split ops, variables and "
        "micro-batches");
  constexpr std::size_t kMostGarbage = 3;  // rows that are gone for each that is not
  strategy_ = strategy;
  ops_.placement().place(*strategy);
  const bool comparable = valid_ &&
                          dirty_.generation() == ops_.placement().layouts().generation() &&
                          store_.tasks.size() <= (kMostGarbage + 1) * alive_ + 1000;
  if (comparable) dirty_.find_changed();
  const bool near = comparable && are_few(dirty_.changed_count(), blocks_.ops().size());
  valid_ = false;  // until it is done: an exception leaves it half done
  near ? lower_changes() : lower_all();
  valid_ = true;
  return change_;
}

void DeltaLowering::lower_all() {
  change_ = Change();
  change_.everything = true;
  ops_.start(store_, {});
  blocks_.start();
  for (const OpId op : blocks_.ops()) {
    blocks_.begin(op, false);
    ops_.lower(op);
    blocks_.end();
  }
  blocks_.number_tasks();
  ops_.list_residents(store_);
  dirty_.start(**strategy_, store_.residents);
  alive_ = store_.tasks.size();
}

void DeltaLowering::lower_changes() {
  change_.everything = false;
  change_.added.clear();
  change_.removed.clear();
  change_.changed.clear();
  dirty_.mark(**strategy_);
  for (const OpId op : blocks_.ops())
    if (dirty_.is_dirty(op)) lower_again(op);
  alive_ += change_.added.size();
  alive_ -= change_.removed.size();
  dirty_.remember(**strategy_);
}

void DeltaLowering::lower_again(OpId op) {
  const bool layout_stays = dirty_.layout_stays(op);
  const bool view_stays = ops_.tables().ops[op].alias && layout_stays;
  std::vector<Instance> before, now;
  if (view_stays) list_outputs(op, before);
  blocks_.begin(op, layout_stays);
  ops_.lower(op, layout_stays);
  blocks_.end();
  blocks_.compare(change_);
  if (!view_stays) return;
  list_outputs(op, now);
  if (!std::ranges::equal(now, before, same_place)) dirty_.mark_readers_of_view(op);
}

void DeltaLowering::list_outputs(OpId op, std::vector<Instance>& outputs) {
  for (TensorId output : ops_.tables().outputs(op))
    for (std::size_t s = 0; s < ops_.placement().layout(op).shards.size(); ++s)
      outputs.push_back(ops_.copies().of_shard(output, s));
}

Program DeltaLowering::program(std::vector<TaskId>& ids) {
  CHECK(valid_, "nothing was lowered");
  const Program& all = store();
  Program program;
  program.graph = all.graph;
  program.cluster = all.cluster;
  program.issues_after_transfers = all.issues_after_transfers;
  IdVector<TaskId, TaskId> tasks(all.tasks.size());  // by handle
  IdVector<BufferId, BufferId> buffers(all.buffers.size());
  list_tasks(ids);
  for (const TaskId task : ids) {
    tasks[task] = program.tasks.next_id();
    push_task(all, row(task), program, buffers);
  }
  for (const TaskId task : ids) {
    push_mapped(all.dependencies[row(task)], tasks, program.dependencies);
    push_mapped(all.reads[row(task)], buffers, program.reads);
  }
  ops_.list_residents(program);
  program.parts = store_.parts;
  return program;
}

}  // namespace strato
