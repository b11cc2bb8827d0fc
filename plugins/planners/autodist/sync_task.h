// What AutoDist decides about: the variables of a model and the replicas of it (AutoDist 2.2). The
// graph config is given: every op is replicated on the devices of `base`; the node configs are what
// builders (builders.h) and searches fill in.
#pragma once

#include <vector>

#include "core/search/problem.h"
#include "core/strategy/strategy.h"

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

  // Most parts along an axis; 1: it cannot be divided.
  std::int64_t most_parts(int axis) const;
  std::vector<int> axes() const;  // that can be divided
};

struct SyncTask {
  // `rows`: false: gradients of lookups count as dense.
  SyncTask(const Problem& problem, Strategy base, bool rows = true);

  const Problem problem;
  const Strategy base;            // data parallel; without node configs
  std::vector<DeviceId> devices;  // the replicas, ascending
  // By machine, ascending: its replicas.
  std::vector<std::vector<DeviceId>> machines;
  std::vector<std::size_t> machine_of;  // by device of the cluster: index into machines
  std::vector<Variable> variables;      // in the order in which gradients are made

  Bytes bytes() const;  // of all variables
};

// One entry for each of the task's variables, in their order.
using SyncPlan = std::vector<VariableSync>;

// All variables as they are, each all-reduced on its own.
SyncPlan plain_plan(const SyncTask& task);
Strategy strategy_of(const SyncTask& task, const SyncPlan& plan);

// `variable` in `parts` parts along `axis`, all like `part`.
VariableSync in_parts(const Variable& variable, int axis, std::int64_t parts, const SyncPart& part);
// Elements of part `index`: as equal as can be, larger ones first.
Bytes part_bytes(const Variable& variable, const VariableSync& sync, std::size_t index);

}  // namespace strato::autodist
