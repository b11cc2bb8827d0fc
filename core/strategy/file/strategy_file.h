// Strategies as text that a person can read, write and diff: keyed by op and device names, so that
// a strategy outlives the numbers of one grouping, cluster or model.
//
//   {"format": "stratoscope-strategy", "version": 1, "groups": [
//     {"name": "features.28", "mode": "replicate-ps", "devices": {"v100:0": 1, "v100:1": 3},
//      "ops": ["features.28", "features.28/grad"]}, ...],
//    "bucket_bytes": 25000000, "duplicated": ["fc6/grad_w", ...],
//    "splits": [{"op": "conv1", "axis": 1, "devices": {"v100:0": 1, "v100:1": 1}}, ...],
//    "variables": [{"variable": "embed.w", "axis": 0, "parts": [
//      {"sync": "ps", "server": "v100:0", "stations": ["v100:1", "p100:0"], "encoding": "half"},
//      {"sync": "allreduce", "merge_group": 3, "sequence": ["v100:1", "v100:0", "p100:0"]}]}, ...],
//    "order": ["embed", ...]}
//
// All parts of a group but its name may be missing: without mode and devices it is undecided,
// without ops it means the op group of that name. With "renamed": true its ops are called so from
// then on; else groups get names from their ops. A device group's name ("v100") stands for all its
// devices. "bucket_bytes" (0: no gradient buckets), "duplicated", "splits", "variables" and "order"
// may be missing.
// "duplicated" lists ops of replicated groups that every device of their group computes on the
// whole batch (sufficient factor broadcasting). "splits" are ops that several devices compute
// together, each a slice along the axis (counted from 0; of an update: the parameter's) in
// proportion to its weight. "variables" are parameters that are synchronised in another way than
// their groups say (variable_sync.h): equal parts along the axis (0 unless it is there), or as many
// along each axis as "partition" says in its place ([2, 3]: six, row by row), each with
// "sync" ("ps" with its "server", or "allreduce"), and where it is not the default "encoding"
// ("none", "sparse-rows", "half", "top-k", "sufficient-factors", "low-rank"), of ps "stations", of
// allreduce "merge_group" and "sequence"; a variable may have a "staleness" (0, see there). "order"
// is either a list of ops in the order in which they run, those not listed after all that are; or
// an object with the priorities of ops, smaller first, 0 for those not in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/strategy/value/strategy.h"

namespace strato {

struct NamedGroup {
  std::string name;
  std::optional<Mode> mode;  // nothing: undecided
  std::vector<std::pair<std::string, std::int32_t>>
      devices;                   // name and weight; empty when undecided
  std::vector<std::string> ops;  // empty: the op group called `name`
  bool renamed = false;          // `name` was given by a person
  friend bool operator==(const NamedGroup&, const NamedGroup&) = default;
};

struct NamedOrder {
  std::vector<std::pair<std::string, std::int32_t>> ops;  // name and priority, each op once
  std::int32_t others = 0;                                // priority of all other ops
  friend bool operator==(const NamedOrder&, const NamedOrder&) = default;
};

struct NamedSplit {
  std::string op;
  int axis = 0;
  std::vector<std::pair<std::string, std::int32_t>> devices;  // name and weight
  friend bool operator==(const NamedSplit&, const NamedSplit&) = default;
};

struct NamedPart {
  Synchroniser synchroniser = Synchroniser::AllReduce;
  Encoding encoding = Encoding::None;
  std::string server;                 // a device; empty: none
  std::vector<std::string> stations;  // devices, each once
  std::int32_t merge_group = -1;
  std::vector<std::string> sequence;  // devices, each once
  friend bool operator==(const NamedPart&, const NamedPart&) = default;
};

struct NamedVariable {
  std::string variable;  // the parameter's name
  int axis = 0;
  std::vector<NamedPart> parts;
  int staleness = 0;
  std::vector<std::int32_t> partition{};  // VariableSync::partition
  friend bool operator==(const NamedVariable&, const NamedVariable&) = default;
};

// A strategy that is bound to no graph, grouping or cluster.
struct NamedStrategy {
  std::vector<NamedGroup> groups;
  Bytes bucket;
  std::vector<std::string> duplicated;   // each op once
  std::vector<NamedSplit> splits;        // each op once
  std::vector<NamedVariable> variables;  // each parameter once
  std::optional<NamedOrder> order;       // nothing: first in, first out
  bool names_ops() const;  // at least one group lists ops: a grouping can be restored from it
  friend bool operator==(const NamedStrategy&, const NamedStrategy&) = default;
};

NamedStrategy name_strategy(const Strategy& strategy, const Graph& graph, const Grouping& grouping,
                            const Cluster& cluster);

std::string strategy_json(const NamedStrategy& strategy);
void write_strategy(const std::filesystem::path& file, const NamedStrategy& strategy);
// Throw InputError with the exact place: not JSON, another format, a newer version, an unknown
// mode, a weight below 1, an op in two groups, a name twice, a negative bucket, an op twice in the
// order or among the duplicated or split ones, a priority or an axis out of range, a variable
// twice, a part of it with what is not for its synchroniser.
NamedStrategy parse_strategy(std::string_view json, const std::string& file);
NamedStrategy read_strategy(const std::filesystem::path& file);

// A strategy bound to a grouping and cluster, and in words what did not match (empty: everything
// did).
struct Rebound {
  Strategy strategy;
  std::vector<std::string> unmatched;
};

// Each of our groups takes the decision of the file's group that holds most of its ops by time
// (ties: the first in the file); devices that the cluster does not have are dropped, as are ops of
// the order, and duplicated and split ones, that the graph does not have; so is a split along an
// axis that does not divide its op, or with fewer than two devices left, and a variable that the
// graph does not have or cannot divide so, or whose server is gone. `op_times`: of every op of
// the graph, see mean_op_times; empty: every op counts the same.
Rebound bind_strategy(const NamedStrategy& named, const Graph& graph, const Grouping& grouping,
                      const Cluster& cluster, std::span<const Nanos> op_times = {});

// The grouping that the strategy was made with. With the same graph and op_times it is the same to
// the last bit. Ops that the file lacks join the group of their forward op, else that of the first
// op that they read from, else a group of their own.
struct RestoredGrouping {
  Grouping grouping;
  std::vector<std::string> unmatched;
};
RestoredGrouping restore_grouping(const NamedStrategy& named, const Graph& graph,
                                  std::span<const Nanos> op_times);

// Bound to it; says of both what did not match.
Rebound bind_strategy(const NamedStrategy& named, const Graph& graph,
                      const RestoredGrouping& restored, const Cluster& cluster,
                      std::span<const Nanos> op_times);

// The strategy as it was when it was named: in the problem's groups where it was made with them,
// else with groups of its own (Strategy::grouping), which hold the ops as the file has them.
// Without listed ops: as bind_strategy has it.
Rebound restore_strategy(const NamedStrategy& named, const Graph& graph, const Grouping& problems,
                         const Cluster& cluster, std::span<const Nanos> op_times);

}  // namespace strato
