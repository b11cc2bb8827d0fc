#include "views/models/selection.h"

#include <algorithm>

namespace strato {

bool Selection::contains(GroupId group) const {
  return std::binary_search(groups_.begin(), groups_.end(), group);
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
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  if (groups == groups_ && !op_ && !task_ && !device_ && !link_) return;
  groups_ = std::move(groups);
  op_.reset();
  task_.reset();
  device_.reset();
  link_.reset();
  emit changed();
}

void Selection::select_task(TaskId task, OpId op, GroupId group) {
  if (task_ == task) return;
  if (group.valid()) groups_ = {group};
  op_ = op.valid() ? std::optional(op) : std::nullopt;
  task_ = task;
  device_.reset();
  link_.reset();
  emit changed();
}

void Selection::select_op(OpId op, GroupId group) {
  if (op_ == op && !task_) return;
  if (group.valid()) groups_ = {group};
  op_ = op;
  task_.reset();
  device_.reset();
  link_.reset();
  emit changed();
}

void Selection::select_device(DeviceId device) {
  if (device_ == device) return;
  groups_.clear();
  op_.reset();
  task_.reset();
  link_.reset();
  device_ = device;
  emit changed();
}

void Selection::select_link(LinkId link) {
  if (link_ == link) return;
  groups_.clear();
  op_.reset();
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
  if (groups_.empty() && !op_ && !task_ && !device_ && !link_) return;
  groups_.clear();
  op_.reset();
  task_.reset();
  device_.reset();
  link_.reset();
  emit changed();
}

}  // namespace strato
