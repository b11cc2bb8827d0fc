#include "core/program/delta/lowered_strategy.h"

#include <algorithm>
#include <utility>

namespace strato {
namespace {

bool same_place(const Instance& a, const Instance& b) {
  return a.buffer == b.buffer && a.task == b.task && a.device == b.device && a.part == b.part &&
         a.slot == b.slot && a.exclusive == b.exclusive;
}

}  // namespace

LoweredStrategy::LoweredStrategy(std::shared_ptr<const Graph> graph,
                                 std::shared_ptr<const Grouping> grouping,
                                 std::shared_ptr<const Cluster> cluster,
                                 std::shared_ptr<const CostModel> cost)
    : ops_(std::move(graph), std::move(grouping), std::move(cluster), std::move(cost)),
      dirty_(ops_),
      blocks_(ops_, dirty_, store_) {}

const DeltaLowering::Change& LoweredStrategy::lower(const CompleteStrategy& strategy) {
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

void LoweredStrategy::lower_all() {
  change_ = DeltaLowering::Change();
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

void LoweredStrategy::lower_changes() {
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

void LoweredStrategy::lower_again(OpId op) {
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

void LoweredStrategy::list_outputs(OpId op, std::vector<Instance>& outputs) {
  for (TensorId output : ops_.tables().outputs(op))
    for (std::size_t s = 0; s < ops_.placement().layout(op).shards.size(); ++s)
      outputs.push_back(ops_.copies().of_shard(output, s));
}

}  // namespace strato
