// A task of AutoDist is what it decides about: the variables of a model and the replicas of it
// (AutoDist 2.2). The graph config is given: every op is replicated on the devices of `base`; the
// node configs are what builders (builders.h) and searches fill in.
#pragma once

#include <optional>
#include <vector>

#include "core/search/api/problem.h"
#include "core/strategy/value/strategy.h"

namespace strato::autodist {

struct Variable {
  OpId update;
  TensorId parameter, gradient;
  Shape shape;
  DataType type = DataType::F32;
  Bytes bytes;
  // The gradient is that of one embedding lookup along axis 0: most of its rows are zero.
  bool sparse = false;
  Bytes rows_bytes;  // of a sparse gradient: rows that are looked up in a step, with their numbers
  double ready = 0;  // part of the step's compute time after which the gradient is made
  std::optional<OpSplit> sharded;  // its update, every replica its part; nothing: it cannot be

  // Gathering rows moves clearly less than all-reducing the whole, which moves it twice.
  bool has_few_rows() const { return sparse && 2 * rows_bytes < 3 * bytes; }
  // Most parts along an axis; 1: it cannot be divided.
  std::int64_t most_parts(int axis) const;
  std::vector<int> axes() const;  // that can be divided
};

struct SyncTask {
  // `rows`: false: gradients of lookups count as dense. `sharded`: false: no variable can be.
  SyncTask(const Problem& problem, Strategy base, bool rows = true, bool sharded = true);

  const Problem problem;
  const Strategy base;            // data parallel; without node configs
  std::vector<DeviceId> devices;  // the replicas, ascending
  // By machine, ascending: its replicas.
  std::vector<std::vector<DeviceId>> machines;
  std::vector<std::size_t> machine_of;  // by device of the cluster: index into machines
  std::vector<Variable> variables;      // in the order in which gradients are made

  Bytes bytes() const;  // of all variables
};

// A variable's node config. `sharded`: replicas keep and update a part each; gradients are
// reduce-scattered, and values gathered before they are read (ZeRO; beyond the paper). Of a
// variable that can be, which then is in one part that is all-reduced, in no merge group.
struct NodeConfig : VariableSync {
  bool sharded = false;
  friend bool operator==(const NodeConfig&, const NodeConfig&) = default;
};

// May it travel in one message with parts of other variables?
inline bool may_merge(const NodeConfig& config, const SyncPart& part) {
  return !config.sharded && part.synchroniser == Synchroniser::AllReduce &&
         part.encoding == Encoding::None;
}

// One entry for each of the task's variables, in their order.
using SyncPlan = std::vector<NodeConfig>;

// All variables as they are, each all-reduced on its own.
SyncPlan plain_plan(const SyncTask& task);
Strategy strategy_of(const SyncTask& task, const SyncPlan& plan);

// `variable` in `parts` parts along `axis`, all like `part`.
NodeConfig in_parts(const Variable& variable, int axis, std::int64_t parts, const SyncPart& part);
// `variable` as a whole, which is like `part`.
NodeConfig in_one(const Variable& variable, const SyncPart& part = {}, bool sharded = false);
// Elements of part `index`: as equal as can be, larger ones first.
Bytes part_bytes(const Variable& variable, const VariableSync& sync, std::size_t index);

}  // namespace strato::autodist
