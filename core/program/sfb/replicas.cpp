#include "core/program/sfb/replicas.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

Digest shape_of(const Replicas::Group& group) {
  std::string bytes;
  const auto add = [&](auto value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (const DeviceId device : group.devices) add(device.value());
  for (const std::int64_t samples : group.samples) add(samples);
  return digest_of(bytes);
}

}  // namespace

Replicas::Replicas(const Tables& tables, const Strategy& complete) : tables_(tables) {
  place_groups(complete);
  sharded_.assign(tables.graph->op_count(), 1);
  for (const OpId op : complete.duplicated) sharded_[op] = 0;
  for (std::size_t i = 0; i < sharded_.size(); ++i)  // producers come first
    sharded_[OpId(i)] = sharded_[OpId(i)] && may_shard(OpId(i));
}

void Replicas::place_groups(const Strategy& complete) {
  CHECK(complete.is_complete() && complete.groups.size() == tables_.grouping->size(),
        "strategy of another grouping, or not complete");
  for (const std::optional<Decision>& decision : complete.groups) {
    Group group;
    group.mode = decision->mode;
    const bool split = group.mode == Mode::ReplicateAllReduce || group.mode == Mode::ReplicatePs;
    const auto samples = split ? apportion(tables_.batch, decision->devices)
                               : std::vector<std::int64_t>(decision->devices.size(), tables_.batch);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (samples[i] == 0) continue;
      group.devices.push_back(decision->devices[i].device);
      group.samples.push_back(samples[i]);
    }
    group.spread = group.mode == Mode::ModelParallel && group.devices.size() > 1;
    group.shape = shape_of(group);
    groups_.push_back(std::move(group));
  }
}

bool Replicas::may_shard(OpId op) const {
  const Group& here = group(op);
  const bool split = here.mode == Mode::ReplicateAllReduce || here.mode == Mode::ReplicatePs;
  if (!split || here.devices.size() < 2 || !tables_.ops[op].splittable) return false;
  return std::ranges::all_of(tables_.inputs(op), [&](TensorId input) {
    const TensorFacts& facts = tables_.tensors[input];
    if (facts.source != Source::Produced || facts.kind != BatchKind::Partial) return true;
    return sharded_[facts.op] && group(facts.op).shape == here.shape;
  });
}

bool Replicas::is_whole_on(OpId op, const std::vector<DeviceId>& devices) const {
  const Group& there = group(op);
  return !sharded_[op] && !there.spread && std::ranges::includes(there.devices, devices);
}

}  // namespace strato
