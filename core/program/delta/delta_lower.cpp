#include "core/program/delta/delta_lower.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/program/delta/lowered_strategy.h"

namespace strato {

DeltaLowering::DeltaLowering(std::shared_ptr<const Graph> graph,
                             std::shared_ptr<const Grouping> grouping,
                             std::shared_ptr<const Cluster> cluster,
                             std::shared_ptr<const CostModel> cost)
    : grouping_(grouping),
      lowered_(std::make_unique<LoweredStrategy>(std::move(graph), std::move(grouping),
                                                 std::move(cluster), std::move(cost))) {}
DeltaLowering::~DeltaLowering() = default;

const DeltaLowering::Change& DeltaLowering::lower(const CompleteStrategy& strategy) {
  CHECK(is_plain(*strategy),
        "delta lowering knows no buckets, priorities, split ops and variables");
  return lowered_->lower(strategy);
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

bool DeltaLowering::is_near(const CompleteStrategy& strategy) const {
  return lowered_->is_valid() && are_near(*strategy, lowered_->strategy(), *grouping_);
}

void DeltaLowering::forget() { lowered_->forget(); }

const Program& DeltaLowering::store() const { return lowered_->store(); }
std::size_t DeltaLowering::row(TaskId task) const {
  return static_cast<std::size_t>(lowered_->blocks().row(task));
}
void DeltaLowering::list_tasks(std::vector<TaskId>& tasks) const {
  lowered_->blocks().list_tasks(tasks);
}
std::size_t DeltaLowering::task_count() const { return lowered_->task_count(); }
Bytes DeltaLowering::resident(DeviceId device) const { return lowered_->resident(device); }

}  // namespace strato
