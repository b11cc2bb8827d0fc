// The one selection that all views share: a click on a group anywhere selects it everywhere. Lives
// in the GUI thread.
#pragma once

#include <QObject>
#include <optional>
#include <vector>

#include "core/cluster/value/cluster.h"
#include "core/graph/group/grouping.h"
#include "core/program/value/program.h"

namespace strato {

struct TimeRange {
  Nanos begin, end;
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

class Selection : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  const std::vector<GroupId>& groups() const { return groups_; }  // ascending
  bool contains(GroupId group) const;
  // Single ops of those groups, ascending; empty: the groups as wholes, or nothing.
  const std::vector<OpId>& ops() const { return ops_; }
  bool contains(OpId op) const;
  std::optional<OpId> op() const;                       // the only one of ops()
  std::optional<TaskId> task() const { return task_; }  // of the outcome shown
  std::optional<DeviceId> device() const { return device_; }
  std::optional<LinkId> link() const { return link_; }
  std::optional<TimeRange> range() const { return range_; }
  std::optional<GroupId> hovered_group() const { return hovered_; }

  // Each replaces what was selected of its kind; a task also selects its op and group.
  void select_group(GroupId group, bool extend = false);
  void select_groups(std::vector<GroupId> groups);
  void select_task(TaskId task, OpId op, GroupId group);
  void select_op(OpId op, GroupId group);
  void select_ops(std::vector<OpId> ops,
                  std::vector<GroupId> groups);  // `groups`: that they are in
  void select_device(DeviceId device);
  void select_link(LinkId link);
  void select_range(std::optional<TimeRange> range);
  void hover_group(std::optional<GroupId> group);
  void drop_task();  // another outcome is shown: task ids of the old one mean nothing
  void clear();
  // Groups have other ids from now on: takes these without a word, until tell() does.
  void regroup(std::vector<GroupId> groups);
  void tell();

 signals:
  void changed();
  void hover_changed();
  void range_changed();

 private:
  std::vector<GroupId> groups_;
  std::vector<OpId> ops_;
  std::optional<TaskId> task_;
  std::optional<DeviceId> device_;
  std::optional<LinkId> link_;
  std::optional<TimeRange> range_;
  std::optional<GroupId> hovered_;
};

}  // namespace strato
