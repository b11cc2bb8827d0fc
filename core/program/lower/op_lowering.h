// Lowers one op after the other: brings its inputs, adds its tasks, and says where its outputs
// stand. Shared by the full and the delta lowering (internal to core/program). Not thread safe.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/program/exchange/exchange.h"
#include "core/program/exchange/mesh_twins.h"
#include "core/program/lower/mesh_lowering.h"
#include "core/program/lower/pipeline.h"
#include "core/program/place/emitter.h"
#include "core/program/place/placement.h"
#include "core/program/value/tables.h"
#include "core/program/variable/variable_exchange.h"

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

class OpLowering {
 public:
  OpLowering(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
             std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost,
             std::int32_t micro_batches = 1);
  void set_observer(BlockObserver* observer) { observer_ = observer; }

  // Empties the program, for the strategy that is placed. Priorities: by op; empty: none. Bucket:
  // Strategy::bucket.
  void start(Program& into, std::span<const std::int32_t> priorities, Bytes bucket = {});
  // `outputs_stay`: they are declared already, with the same layout.
  void lower(OpId op, bool outputs_stay = false);
  // What a shard of the op is about to read of its input (by Tables::inputs()): the tasks that
  // bring it there are added now, unless it is there already.
  Instance bring_input(OpId op, std::size_t shard, std::size_t input);
  // What ops compute waits for each other as it says; null: as their inputs have it.
  void set_order(CellOrder* order) { order_ = order; }
  // Of the program that was lowered: its own, or those of a copy that shares its parts.
  void list_residents(Program& program) { residents_.list(emitter_.parts(), program.residents); }
  // See CollectiveExchange::fuse and MeshSums::fuse.
  void fuse_gradients(Bytes limit) {
    collectives_.fuse(limit);
    mesh_sums_.fuse(limit);
  }

  Tables& tables() { return tables_; }
  Placement& placement() { return placement_; }
  Emitter& emitter() { return emitter_; }
  Copies& copies() { return copies_; }
  Residents& residents() { return residents_; }
  ExchangeTasks& tasks() { return tasks_; }
  MeshSums& mesh_sums() { return mesh_sums_; }

 private:
  // The inputs of an op, but for those that are resident wherever they are read.
  struct Inputs {
    std::vector<std::size_t> at_hand;   // Copies::at_hand()
    std::vector<std::int32_t> at_home;  // slots of parameters that are at home where it runs
    std::vector<std::size_t> to_bring;  // all others
    std::vector<Instance> brought;      // those, for one shard
  };
  void declare_outputs(OpId op);
  void sort_inputs(OpId op);
  Instance bring(OpId op, std::size_t shard, std::size_t input);
  TaskId compute(OpId op, std::size_t first_shard, std::size_t end_shard);
  void write_outputs(OpId op, const AxisRange& at, std::size_t shard, TaskId task, PartId samples);
  void return_parameters(OpId update, TaskId updated);
  void lower_alias(OpId op);
  void lower_shards(OpId op);
  void lower_split(OpId op);
  void compute_part(OpId op, std::size_t part, std::span<const Instance> brought);

  Tables tables_;
  Placement placement_;
  Emitter emitter_;
  Copies copies_;
  MeshLetters letters_;
  Residents residents_;
  ExchangeTasks tasks_;
  Readers readers_;
  ParameterGathers gathers_;
  ActivationGathers activations_;
  MeshTwins twins_;
  const ExchangeBase exchange_base_;
  CollectiveExchange collectives_;
  MeshSums mesh_sums_;
  MeshExchange mesh_exchange_;
  Exchange exchange_;
  MeshLowering meshes_;
  VariableExchange variables_;
  CellOrder* order_ = nullptr;
  BlockObserver* observer_ = nullptr;
  Inputs inputs_;  // of the op being lowered: memory that is used again
};

}  // namespace strato
