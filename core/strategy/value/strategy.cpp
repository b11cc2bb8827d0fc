#include "core/strategy/value/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/base/error.h"
#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

struct ModeNames {
  std::string_view name, label;
};
constexpr std::array<ModeNames, 4> kModes = {{{"replicate-allreduce", "AllReduce"},
                                              {"replicate-ps", "PS"},
                                              {"duplicate", "Duplicate"},
                                              {"model-parallel", "Model parallel"}}};

Decision data_parallel(const Cluster& cluster) {
  Decision decision;
  for (std::size_t i = 0; i < cluster.device_count(); ++i) {
    decision.devices.push_back({DeviceId(i), 1});
  }
  return decision;
}

bool has_equal_weights(std::span<const DeviceShare> shares) {
  return !shares.empty() && shares.front().weight > 0 &&
         std::all_of(shares.begin(), shares.end(), [&](const DeviceShare& share) {
           return share.weight == shares.front().weight;
         });
}

// The common case, which lowering asks for thousands of times: no remainders to sort.
std::vector<std::int64_t> apportion_equally(std::int64_t batch, std::size_t parts) {
  CHECK(batch >= 0, "a batch has no negative size");
  const auto count = static_cast<std::int64_t>(parts);
  std::vector<std::int64_t> samples(parts, batch / count);
  std::fill_n(samples.begin(), batch % count, batch / count + 1);
  return samples;
}

void validate_shares(std::span<const DeviceShare> shares, const std::string& place,
                     const Cluster& cluster) {
  const auto fail = [&](std::string problem, const char* remedy) {
    throw InputError("", place, std::move(problem), remedy);
  };
  DeviceId last;
  for (const DeviceShare& share : shares) {
    if (!share.device.valid() || share.device.index() >= cluster.device_count()) {
      fail(fmt::format("names device number {}, which the cluster does not have",
                       share.device.value()),
           "choose a device of the cluster");
    }
    const std::string& name = cluster.device(share.device).name;
    if (share.device == last) fail(fmt::format("repeats device {}", name), "name each device once");
    if (share.device < last)
      fail(fmt::format("has device {} out of order", name), "sort the devices");
    if (share.weight < 1) {
      fail(fmt::format("gives device {} the weight {}", name, share.weight),
           "give a weight of at least 1");
    }
    last = share.device;
  }
}

void validate(const Decision& decision, const std::string& place, const Cluster& cluster) {
  const auto fail = [&](std::string problem, const char* remedy) {
    throw InputError("", place, std::move(problem), remedy);
  };
  if (decision.devices.empty()) fail("names no device", "give at least one, or leave it undecided");
  if (static_cast<std::size_t>(decision.mode) >= kModes.size())
    fail("has no known mode", "choose one");
  validate_shares(decision.devices, place, cluster);
}

// The groups are a partition of all ops, so they know how many there are.
std::size_t op_count(const Grouping& grouping) {
  std::size_t ops = 0;
  for (const OpGroup& group : grouping.groups()) ops += group.ops.size();
  return ops;
}

void validate_order(const Strategy& strategy, const Grouping& grouping) {
  if (strategy.bucket < Bytes(0)) {
    throw InputError("", "gradient buckets",
                     fmt::format("have a limit of {} bytes", strategy.bucket.value),
                     "give a positive number of bytes, or 0 for no buckets");
  }
  if (strategy.priorities.empty()) return;
  const std::size_t ops = op_count(grouping);
  if (strategy.priorities.size() == ops) return;
  throw InputError(
      "", "execution order",
      fmt::format("has {} priorities, the model has {} ops", strategy.priorities.size(), ops),
      "give one for each op, or none");
}

// Ascending, each once, of the model.
void validate_ops(std::span<const OpId> listed, const char* place, const Grouping& grouping) {
  const auto fail = [&](std::string problem, const char* remedy) {
    throw InputError("", place, std::move(problem), remedy);
  };
  const std::size_t ops = op_count(grouping);
  OpId last;
  for (const OpId op : listed) {
    if (!op.valid() || op.index() >= ops)
      fail(fmt::format("have op number {}, the model has {} ops", op.value(), ops),
           "choose an op of the model");
    if (op == last) fail(fmt::format("have op number {} twice", op.value()), "name each op once");
    if (op < last) fail(fmt::format("have op number {} out of order", op.value()), "sort the ops");
    last = op;
  }
}

// Only the graph tells whether an axis divides its op (split_axes.h).
void validate_splits(const Strategy& strategy, const Grouping& grouping, const Cluster& cluster) {
  std::vector<OpId> ops;
  for (const OpSplit& split : strategy.splits) ops.push_back(split.op);
  validate_ops(ops, "split ops", grouping);
  for (const OpSplit& split : strategy.splits) {
    const std::string place = fmt::format("split of op number {}", split.op.value());
    if (split.axis < 0) {
      throw InputError("", place, fmt::format("is along axis {}", split.axis), "count axes from 0");
    }
    if (split.parts.size() < 2) {
      throw InputError("", place, fmt::format("has {} parts", split.parts.size()),
                       "give at least two devices, or do not split it");
    }
    validate_shares(split.parts, place, cluster);
  }
}

}  // namespace

std::string_view name_of(Mode mode) { return kModes[static_cast<std::size_t>(mode)].name; }
std::string_view label_of(Mode mode) { return kModes[static_cast<std::size_t>(mode)].label; }

std::optional<Mode> mode_from(std::string_view name) {
  for (std::size_t i = 0; i < kModes.size(); ++i) {
    if (kModes[i].name == name) return static_cast<Mode>(i);
  }
  return std::nullopt;
}

bool Strategy::is_complete() const {
  return std::all_of(groups.begin(), groups.end(),
                     [](const auto& group) { return group.has_value(); });
}

Digest Strategy::digest() const {
  Hasher hasher;
  hasher.text("strategy 1").number(groups.size());
  if (grouping != nullptr) hasher.digest(grouping->digest());
  for (const std::optional<Decision>& decision : groups) {
    hasher.number(decision.has_value());
    if (!decision) continue;
    hasher.number(decision->mode).number(decision->devices.size());
    for (const DeviceShare& share : decision->devices) {
      hasher.number(share.device.value()).number(share.weight);
    }
  }
  // Nothing is added for what is not set: digests of strategies without stay what they were.
  if (bucket > Bytes(0)) hasher.text("bucket").number(bucket.value);
  if (!duplicated.empty()) hasher.text("duplicated").number(duplicated.size());
  for (const OpId op : duplicated) hasher.number(op.value());
  if (!splits.empty()) hasher.text("splits").number(splits.size());
  for (const OpSplit& split : splits) {
    hasher.number(split.op.value()).number(split.axis).number(split.parts.size());
    for (const DeviceShare& part : split.parts)
      hasher.number(part.device.value()).number(part.weight);
  }
  if (!variables.empty()) hasher.text("variables").number(variables.size());
  for (const VariableSync& variable : variables) add_to(hasher, variable);
  if (!priorities.empty()) hasher.text("priorities").numbers(std::span(priorities));
  for (std::size_t g = 0; grouping && g < grouping->size(); ++g) {
    if (grouping->is_renamed(GroupId(g)))
      hasher.text("named").number(g).text(grouping->group(GroupId(g)).name);
  }
  return hasher.finish();
}

bool operator==(const Strategy& a, const Strategy& b) {
  const bool alike =
      a.grouping && b.grouping ? *a.grouping == *b.grouping : a.grouping == b.grouping;
  return a.groups == b.groups && a.bucket == b.bucket && a.duplicated == b.duplicated &&
         a.splits == b.splits && a.variables == b.variables && a.priorities == b.priorities &&
         alike;
}

Decision decision_on_groups(const Cluster& cluster, std::span<const DeviceGroupId> groups,
                            Mode mode) {
  Decision decision{mode, {}};
  for (const DeviceGroupId group : groups) {
    for (const DeviceId device : cluster.groups()[group].devices)
      decision.devices.push_back({device, 1});
  }
  std::sort(decision.devices.begin(), decision.devices.end());
  const auto end = std::unique(decision.devices.begin(), decision.devices.end());
  decision.devices.erase(end, decision.devices.end());
  return decision;
}

Decision decision_on_device(DeviceId device) { return {Mode::ReplicateAllReduce, {{device, 1}}}; }

Strategy complete(const Strategy& partial, const Cluster& cluster) {
  if (partial.is_complete()) return partial;
  const auto first = std::find_if(partial.groups.begin(), partial.groups.end(),
                                  [](const auto& group) { return group.has_value(); });
  const Decision decision = first == partial.groups.end() ? data_parallel(cluster) : **first;
  Strategy result = partial;
  for (std::optional<Decision>& group : result.groups) {
    if (!group) group = decision;
  }
  return result;
}

std::vector<std::int64_t> apportion(std::int64_t batch, std::span<const DeviceShare> shares) {
  if (has_equal_weights(shares)) return apportion_equally(batch, shares.size());
  using Wide = __int128;  // batch x weight may not fit in 64 bits
  Wide total = 0;
  for (const DeviceShare& share : shares) total += share.weight;
  CHECK(batch >= 0 && total > 0, "a batch is divided among shares with weights");
  std::vector<std::int64_t> samples;
  std::vector<std::pair<Wide, std::size_t>> remainders;  // (minus the remainder, index)
  std::int64_t left = batch;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Wide quota = Wide(batch) * shares[i].weight;
    samples.push_back(static_cast<std::int64_t>(quota / total));
    remainders.emplace_back(-(quota % total), i);
    left -= samples.back();
  }
  std::sort(remainders.begin(), remainders.end());
  for (std::int64_t i = 0; i < left; ++i) ++samples[remainders[static_cast<std::size_t>(i)].second];
  return samples;
}

void validate(const Strategy& strategy, const Grouping& grouping, const Cluster& cluster) {
  if (strategy.grouping != nullptr && strategy.grouping->digest() != grouping.digest()) {
    throw InputError("", "strategy", "has op groups of its own",
                     "look at it in the grouping that it was made with");
  }
  if (strategy.groups.size() != grouping.size()) {
    throw InputError("", "strategy",
                     fmt::format("is for {} op groups, the model has {}", strategy.groups.size(),
                                 grouping.size()),
                     "use the grouping that it was made with");
  }
  for (std::size_t i = 0; i < grouping.size(); ++i) {
    if (!strategy.groups[GroupId(i)]) continue;
    validate(*strategy.groups[GroupId(i)],
             fmt::format("group \"{}\"", grouping.group(GroupId(i)).name), cluster);
  }
  validate_order(strategy, grouping);
  validate_ops(strategy.duplicated, "duplicated ops", grouping);
  validate_splits(strategy, grouping, cluster);
  validate_variables(strategy, grouping, cluster);
}

}  // namespace strato
