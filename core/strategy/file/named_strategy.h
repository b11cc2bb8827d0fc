// A strategy by op and device names: it outlives the numbers of one grouping, cluster or model. As
// text a person can read, write and diff it:
//
//   {"format": "stratoscope-strategy", "version": 1, "groups": [
//     {"name": "features.28", "mode": "replicate-ps", "devices": {"v100:0": 1, "v100:1": 3},
//      "ops": ["features.28", "features.28/grad"]}, ...],
//    "bucket_bytes": 25000000, "duplicated": ["fc6/grad_w", ...], "recomputed": ["gelu_3", ...],
//    "offloaded": ["ffn_3", "ffn_3.w/update", ...],
//    "splits": [{"op": "conv1", "axis": 1, "devices": {"v100:0": 1, "v100:1": 1}}, ...],
//    "variables": [{"variable": "embed.w", "axis": 0, "parts": [
//      {"sync": "ps", "server": "v100:0", "stations": ["v100:1", "p100:0"], "encoding": "half"},
//      {"sync": "allreduce", "merge_group": 3, "sequence": ["v100:1", "v100:0", "p100:0"]}]}, ...],
//    "order": ["embed", ...], "micro_batches": 8, "schedule": "1f1b"}
//
// All parts of a group but its name may be missing: without mode and devices it is undecided,
// without ops it means the op group of that name. With "renamed": true its ops are called so from
// then on; else groups get names from their ops. With "tensor": 4 the devices are rows of four that
// compute each op of their samples together, with "expert": 8 eight rows have the experts of a
// mixture among them, with "context": 2 two rows the positions of their samples, and with "zero": 3
// rows share states (roles_json.h). A device group's name
// ("v100") stands for all its devices. "bucket_bytes" (0: no gradient buckets), "duplicated",
// "recomputed", "offloaded", "splits", "variables", "order", "micro_batches" (1) and their
// "schedule"
// ("as-ready", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "dualpipe-v", or a table by hand: a
// row for each stage,
// ["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"], see schedule_table.h) may be missing. "duplicated" lists
// ops of replicated groups that every device of their group computes on the whole batch (sufficient
// factor broadcasting), "recomputed" ops of the forward pass that the backward pass computes again,
// "offloaded" ops whose outputs wait for the backward pass in the memory of their host, and updates
// whose optimizer state rests there; no op is in both. "splits" are ops that several devices
// compute together, each a slice along the axis (counted from 0; of an update: the parameter's) in
// proportion to its weight. "variables" are parameters that are synchronised in another way than
// their groups say (variable_sync.h): equal parts along the axis (0 unless it is there), or as many
// along each axis as "partition" says in its place ([2, 3]: six, row by row), each with "sync"
// ("ps" with its "server", or "allreduce"), and where it is not the default "encoding"
// ("none", "sparse-rows", "half", "top-k", "sufficient-factors", "low-rank"), of ps "stations", of
// allreduce "merge_group" and "sequence"; a variable may have a "staleness" (0, see there). "order"
// is either a list of ops in the order in which they run, those not listed after all that are; or
// an object with the priorities of ops, smaller first, 0 for those not in it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/strategy/value/strategy.h"

namespace strato {

class JsonView;

using NamedShares = std::vector<std::pair<std::string, std::int32_t>>;  // device and weight

struct NamedGroup {
  std::string name;
  std::optional<Mode> mode;      // nothing: undecided
  NamedShares devices;           // empty when undecided
  std::vector<std::string> ops;  // empty: the op group called `name`
  bool renamed = false;          // `name` was given by a person
  MeshRoles roles{};             // Decision::roles
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
  NamedShares devices;
  friend bool operator==(const NamedSplit&, const NamedSplit&) = default;
};

using NamedPart = SyncPartOf<std::string>;  // without a server: an empty name

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
  std::vector<std::string> duplicated;  // each op once
  std::vector<std::string> recomputed;  // each op once
  std::vector<std::string> offloaded;   // each op once, none that is recomputed
  std::vector<NamedSplit> splits;       // each op once
  // Files of before, of parameters whose updates are split: what was gathered in each pass anew.
  // Bound to a graph it is ZeRO's stage 3 of groups whose updates their devices share.
  bool gathers_each_pass = false;
  std::vector<NamedVariable> variables;  // each parameter once
  std::optional<NamedOrder> order;       // nothing: first in, first out
  MicroBatches micro_batches;
  bool names_ops() const;  // at least one group lists ops: a grouping can be restored from it
  friend bool operator==(const NamedStrategy&, const NamedStrategy&) = default;
};

NamedStrategy name_strategy(const Strategy& strategy, const Graph& graph, const Grouping& grouping,
                            const Cluster& cluster);

std::string strategy_json(const NamedStrategy& strategy);
// Throws InputError with the exact place: not JSON, another format, a newer version, an unknown
// mode, a weight below 1, an op in two groups, a name twice, a negative bucket, an op twice in the
// order or among the duplicated, recomputed, offloaded or split ones, one recomputed and offloaded,
// a priority or an axis out of range, a variable twice, a part of it with what is not for its
// synchroniser.
NamedStrategy parse_strategy(std::string_view json, const std::string& file);

// The same, all but format and version, in the root of another file: of a plan.
void add_strategy(nlohmann::ordered_json& root, const NamedStrategy& strategy);
NamedStrategy strategy_from_json(const JsonView& root);

}  // namespace strato
