// A strategy by op and device names: it outlives the numbers of one grouping, cluster or model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/strategy/value/strategy.h"

namespace strato {

using NamedShares = std::vector<std::pair<std::string, std::int32_t>>;  // device and weight

struct NamedGroup {
  std::string name;
  std::optional<Mode> mode;      // nothing: undecided
  NamedShares devices;           // empty when undecided
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
  NamedShares devices;
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

}  // namespace strato
