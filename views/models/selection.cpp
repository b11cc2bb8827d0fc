#include "views/models/selection.h"

#include <algorithm>

#include "views/models/ascending.h"

namespace strato {

bool Selection::contains(GroupId group) const {
  return std::binary_search(groups_.begin(), groups_.end(), group);
}

bool Selection::contains(OpId op) const { return std::ranges::binary_search(ops_, op); }

std::optional<OpId> Selection::op() const {
  return ops_.size() == 1 ? std::optional(ops_[0]) : std::nullopt;
}

void Selection::select_group(GroupId group, bool extend) {
  std::vector<GroupId> groups;
  if (extend) groups = groups_;
  const auto at = std::lower_bound(groups.begin(), groups.end(), group);
  if (at != groups.end() && *at == group) {
    groups.erase(at);  // extending by what is selected already takes it away
  } else {
    groups.insert(at, group);
  }
  select_groups(std::move(groups));
}

void Selection::select_groups(std::vector<GroupId> groups) {
  groups = ascending(std::move(groups));
  if (groups == groups_ && ops_.empty() && !task_ && !device_ && !link_) return;
  groups_ = std::move(groups);
  ops_.clear();
  task_.reset();
  device_.reset();
  link_.reset();
  emit changed();
}

void Selection::select_task(TaskId task, OpId op, GroupId group) {
  if (task_ == task) return;
  if (group.valid()) groups_ = {group};
  ops_.clear();
  if (op.valid()) ops_ = {op};
  task_ = task;
  device_.reset();
  link_.reset();
  emit changed();
}

void Selection::select_op(OpId op, GroupId group) {
  select_ops({op}, group.valid() ? std::vector{group} : groups_);
}

void Selection::select_ops(std::vector<OpId> ops, std::vector<GroupId> groups) {
  ops = ascending(std::move(ops));
  groups = ascending(std::move(groups));
  if (ops.empty()) return select_groups(std::move(groups));
  if (ops == ops_ && groups == groups_ && !task_) return;
  groups_ = std::move(groups);
  ops_ = std::move(ops);
  task_.reset();
  device_.reset();
  link_.reset();
  emit changed();
}

void Selection::select_device(DeviceId device) {
  if (device_ == device) return;
  groups_.clear();
  ops_.clear();
  task_.reset();
  link_.reset();
  device_ = device;
  emit changed();
}

void Selection::select_link(LinkId link) {
  if (link_ == link) return;
  groups_.clear();
  ops_.clear();
  task_.reset();
  device_.reset();
  link_ = link;
  emit changed();
}

void Selection::select_range(std::optional<TimeRange> range) {
  if (range_ == range) return;
  range_ = range;
  emit range_changed();
}

void Selection::hover_group(std::optional<GroupId> group) {
  if (hovered_ == group) return;
  hovered_ = group;
  emit hover_changed();
}

void Selection::regroup(std::vector<GroupId> groups) {
  groups_ = std::move(groups);
  hovered_.reset();
  task_.reset();
}

void Selection::tell() {
  emit hover_changed();
  emit changed();
}

void Selection::drop_task() {
  if (!task_) return;
  task_.reset();
  emit changed();
}

void Selection::clear() {
  hover_group({});
  select_range({});
  if (groups_.empty() && ops_.empty() && !task_ && !device_ && !link_) return;
  groups_.clear();
  ops_.clear();
  task_.reset();
  device_.reset();
  link_.reset();
  emit changed();
}

}  // namespace strato
