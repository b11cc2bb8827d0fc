// What lowering works with, shared by the full and the delta lowering (internal to core/program).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/program/exchange/exchange.h"
#include "core/program/exchange/variable_exchange.h"
#include "core/program/place/emitter.h"
#include "core/program/place/placement.h"
#include "core/program/value/tables.h"

namespace strato {

// Is told what lowering an op is about to do: delta lowering keeps blocks of tasks by it.
class BlockObserver {
 public:
  virtual ~BlockObserver() = default;
  // An input of a shard is brought: `ask` tells them apart, ascending within an op.
  virtual void bring(std::uint32_t ask) = 0;
  // The task of a shard comes next.
  virtual void compute(std::size_t shard) = 0;
};

struct LowerState {
  LowerState(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
             std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost)
      : tables(std::move(graph), std::move(grouping), std::move(cluster), std::move(cost)),
        placement(tables),
        emitter(tables),
        exchange(tables, placement, emitter),
        variables(tables, placement, emitter, exchange) {}

  void start(Program& into);
  void lower_op(OpId op);
  void lower_alias(OpId op);
  void lower_split(OpId op);  // lower_split.cpp
  void declare_outputs(OpId op);
  void sort_inputs(OpId op);
  Instance bring(OpId op, std::size_t shard, std::size_t input) {
    const std::span<const TensorId> inputs = tables.inputs(op);
    const std::size_t ask = shard * inputs.size() + input;
    if (observer) observer->bring(static_cast<std::uint32_t>(ask));
    return exchange.input(op, inputs[input], shard);
  }
  void set_output(std::size_t output, std::size_t shard, const Instance& instance) {
    exchange.set_output(first_output[output] + shard, instance);
  }
  void bring_inputs(OpId op, std::size_t shard);
  void compute(OpId op, std::size_t first_shard, std::size_t end_shard);
  void bring_slices(OpId op, std::size_t part);
  void compute_part(OpId op, std::size_t part);
  void overwrite_parameters(OpId update, DeviceId device);

  Tables tables;
  Placement placement;
  Emitter emitter;
  Exchange exchange;
  VariableExchange variables;
  Program* program = nullptr;
  BlockObserver* observer = nullptr;
  bool outputs_stay = false;  // they are declared already, with the same layout
  // Of the op being lowered:
  std::vector<std::size_t> at_hand;       // of inputs, see Exchange::at_hand()
  std::vector<std::int32_t> at_home;      // slots of parameters that are at home where it runs
  std::vector<std::size_t> to_bring;      // other inputs, but for resident ones
  std::vector<Instance> brought;          // those, for one shard
  std::vector<std::size_t> first_output;  // by output: its instance for shard 0
  TaskId last_task;
};

}  // namespace strato
