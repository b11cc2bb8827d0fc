// How the micro-batches of a step follow each other: the stages that a strategy makes of its
// devices, and for each of them the order in which it computes its parts of the forward and of the
// backward pass (internal to core/program).
//
// Devices that compute an op together, each some samples or a copy, are of one stage. Stages that
// wait for each other within a pass are one, too: what is left is a chain, or a graph without
// cycles, of stages. Any strategy has them, not only those that were made as pipelines.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/place/emitter.h"
#include "core/program/place/placement.h"
#include "core/program/value/tables.h"

namespace strato {

// What a stage does of one micro-batch without turning to another.
struct PipelineCell {
  std::int32_t stage = 0;
  bool backward = false;
  std::int32_t micro = 0;
};

// Of the strategy that is placed. Immutable once made.
class Pipeline {
 public:
  Pipeline(const Tables& tables, const Placement& placement);

  std::int32_t stage_count() const { return static_cast<std::int32_t>(passes_.size() / 2); }
  // How many stages' forward passes come before it, at most.
  std::int32_t depth(std::int32_t stage) const { return depth_[static_cast<std::size_t>(stage)]; }
  std::int32_t stage_of(DeviceId device) const { return stage_of_[device]; }

  // All cells, each after those that it waits for: those of its stage that the schedule has before
  // it, and what makes its inputs. Throws InputError naming the devices that wait for each other
  // where a schedule cannot go on.
  std::vector<PipelineCell> cells(PipelineSchedule schedule) const;
  std::span<const OpId> ops(const PipelineCell& cell) const { return pass(cell).ops; }
  // What runs once a step, before and after all cells.
  std::span<const OpId> before() const { return before_; }
  std::span<const OpId> after() const { return after_; }

 private:
  struct Pass {                        // of one stage
    std::vector<OpId> ops;             // ascending
    std::vector<std::size_t> follows;  // passes that make what it reads
  };
  const Pass& pass(const PipelineCell& cell) const {
    return passes_[2 * static_cast<std::size_t>(cell.stage) + cell.backward];
  }
  void find_passes();
  bool join_cycles();
  void find_depths();
  std::vector<PipelineCell> sequence(std::int32_t stage, PipelineSchedule schedule) const;
  std::string devices_of(std::int32_t stage) const;

  const Tables& tables_;
  const Placement& placement_;
  std::vector<Pass> passes_;  // forward and backward of each stage
  std::vector<std::int32_t> depth_;
  IdVector<DeviceId, std::int32_t> stage_of_;  // -1: it computes nothing of the batch
  std::vector<OpId> before_, after_;
};

// Makes what a device computes in a cell wait for what it computed in the one before.
class CellOrder {
 public:
  void begin_cell() { ++cell_; }
  // The emitter's next task is one of the cell, on this device.
  void add(Emitter& emitter, DeviceId device);

 private:
  struct Ends {
    std::int64_t cell = -1;           // that `now` are tasks of
    std::vector<TaskId> now, before;  // those that no other task of their cell waits for
  };
  std::int64_t cell_ = 0;
  IdVector<DeviceId, Ends> of_device_;
};

}  // namespace strato
