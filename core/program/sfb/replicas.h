// Which ops of a strategy run as shards, and on which devices: what the integer programs need to
// know of a strategy. The rules are those of lowering's first pass (placement.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/digest.h"
#include "core/program/value/tables.h"
#include "core/strategy/value/strategy.h"

namespace strato {

class Replicas {
 public:
  struct Group {
    Mode mode = Mode::ReplicateAllReduce;
    std::vector<DeviceId> devices;      // that have samples, ascending
    std::vector<std::int64_t> samples;  // of each, when it is sharded
    bool spread = false;                // model parallel on several devices
    Digest shape;                       // of devices and samples
  };
  Replicas(const Tables& tables, const Strategy& complete);

  const Group& group(OpId op) const { return groups_[tables_.grouping->group_of(op)]; }
  bool is_sharded(OpId op) const { return sharded_[op] != 0; }
  // Does every one of the devices run the whole op?
  bool is_whole_on(OpId op, const std::vector<DeviceId>& devices) const;

 private:
  void place_groups(const Strategy& complete);
  bool may_shard(OpId op) const;

  const Tables& tables_;
  IdVector<GroupId, Group> groups_;
  IdVector<OpId, char> sharded_;
};

}  // namespace strato
