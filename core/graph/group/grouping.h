// Op groups: ops that are placed together. They are found in metis_grouping.h, or a person gives
// them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/graph/value/graph.h"

namespace strato {

using GroupId = Id<struct GroupTag>;

struct OpGroup {
  std::string name;       // own_name, unless a person gave another; unique
  std::string own_name;   // from the common part of its ops' names, unique
  std::vector<OpId> ops;  // ascending
  Nanos compute_time;     // sum over its ops of the times that the grouping was made with
  Bytes parameter_bytes;  // of parameters updated in this group
};

inline constexpr std::size_t kLongestGroupName = 200;

// A partition of all ops; groups are in descending order of compute time (TAG 4.2.2).
class Grouping {
 public:
  Grouping() = default;
  // `group_of[op]` may use any non-negative numbers; empty groups vanish.
  Grouping(const Graph& graph, std::span<const std::int32_t> group_of,
           std::span<const Nanos> op_time);

  std::size_t size() const { return groups_.size(); }
  std::size_t op_count() const { return group_of_.size(); }
  const OpGroup& group(GroupId id) const { return groups_[id]; }
  const IdVector<GroupId, OpGroup>& groups() const { return groups_; }
  GroupId group_of(OpId op) const { return group_of_[op]; }
  GroupId find(std::string_view name) const;  // invalid id when there is none

  // The same groups, this one called `name`; empty: its own name again. Throws InputError where
  // another group is called so, or would be, or the name is not of 1 to kLongestGroupName bytes in
  // one line. The digest does not know of names.
  Grouping renamed(GroupId id, std::string_view name) const;
  bool is_renamed(GroupId id) const { return groups_[id].name != groups_[id].own_name; }
  // The same groups of ops, called the same.
  friend bool operator==(const Grouping& a, const Grouping& b);

  // Bytes of distinct tensors made in `from` and read in `to`.
  struct Edge {
    GroupId from, to;
    Bytes bytes;
  };
  const std::vector<Edge>& edges() const { return edges_; }  // ascending by (from, to)
  const Digest& digest() const { return digest_; }

 private:
  IdVector<GroupId, OpGroup> groups_;
  IdVector<OpId, GroupId> group_of_;
  std::vector<Edge> edges_;
  Digest digest_;
};

}  // namespace strato
