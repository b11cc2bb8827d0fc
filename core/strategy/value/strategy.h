// A strategy: every decision about how a graph runs on a cluster. An immutable value in use: edits
// copy.
//
// Here are TAG's decisions: per op group a set of devices with shares and a mode (TAG 4.2). A group
// that is not decided yet is empty (partial strategies are legal. see complete()). Single variables
// may say otherwise how they are synchronised: AutoDist's node configs (variable_sync.h).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/base/units.h"
#include "core/cluster/value/cluster.h"
#include "core/graph/group/grouping.h"
#include "core/strategy/value/mesh_roles.h"
#include "core/strategy/value/schedule_table.h"
#include "core/strategy/value/variable_sync.h"

namespace strato {

enum class Mode : std::uint8_t {
  ReplicateAllReduce,  // batch split over the devices, gradients all-reduced
  ReplicatePs,  // batch split, gradients summed at one device a parameter (round robin), sent back
  Duplicate,    // every device computes the whole batch: nothing to synchronise
  ModelParallel,  // ops divided over the devices (METIS inside the group)
};
// "replicate-allreduce", "replicate-ps", "duplicate", "model-parallel"
std::string_view name_of(Mode mode);
std::string_view label_of(Mode mode);  // "AllReduce", "PS", "Duplicate", "Model parallel"
std::optional<Mode> mode_from(std::string_view name);
constexpr bool splits_batch(Mode mode) {  // whether weights mean something
  return mode == Mode::ReplicateAllReduce || mode == Mode::ReplicatePs;
}

struct DeviceShare {
  DeviceId device;
  std::int32_t weight = 1;  // part of the batch relative to the others; only for Replicate modes
  friend auto operator<=>(const DeviceShare&, const DeviceShare&) = default;
};

struct Decision {
  Mode mode = Mode::ReplicateAllReduce;
  std::vector<DeviceShare> devices;  // ascending by device, at least one, weights >= 1
  MeshRoles roles{};                 // with ReplicateAllReduce
  friend bool operator==(const Decision&, const Decision&) = default;
};
// What of its roles means something in the decision's mode and on its devices: the others are 1.
//
// The devices of a row: 1 where their number does not divide them, or a row's weights differ.
std::size_t columns_of(const Decision& decision);
// The rows that have experts among them: 1 where their number does not divide that of the rows with
// samples of their own.
std::size_t expert_rows_of(const Decision& decision);
// The rows that have positions among them: 1 where their number does not divide that of the rows,
// or weights of rows that should have the same samples differ.
std::size_t context_rows_of(const Decision& decision);
// The rows that have states among them: 1 where their number does not divide that of the rows, or
// is not divided by that of the rows that have experts, and positions, among them.
std::size_t state_rows_of(const Decision& decision);
// Takes back from a decision, whose devices may have changed, what means nothing on them.
void drop_meaningless_roles(Decision& decision);
// Are its devices rows of columns, or rows that have experts, positions, or states, among them?
inline bool is_mesh(const Decision& decision) {
  return columns_of(decision) > 1 || expert_rows_of(decision) > 1 ||
         context_rows_of(decision) > 1 || state_rows_of(decision) > 1;
}
// Throws InputError (of this place) where it means nothing.
void check_rows(const Decision& decision, const std::string& place);

// An op that several devices compute together, each a slice of its outputs (FastT 5.2,
// SplitOperation): of the channels of a convolution, of the columns of a matrix product. Every part
// has the whole batch.
struct OpSplit {
  OpId op;
  int axis = 1;  // of the first output; one of split_axes() (core/graph/axes/split_axes.h)
  std::vector<DeviceShare> parts;  // ascending by device, at least two; slices in this order
  friend bool operator==(const OpSplit&, const OpSplit&) = default;
};

// What the devices of a pipeline stage do next of their chunks and micro-batches. A chunk is what a
// stage computes between two visits of other stages; nearly always each has one. "Under way" is
// what has had its forward pass, and not all of its backward pass. The orders themselves, and what
// they come from: core/program/lower/pipeline_order.h.
enum class PipelineSchedule : std::uint8_t {
  AsReady,      // what is ready first
  Gpipe,        // all forward passes, then all backward passes (Huang et al. 2019, GPipe)
  OneFOneB,     // one of each in turn: stage s of p has p - s micro-batches under way (Narayanan et
                // al. 2019, PipeDream; without its weight versions, as PipeDream-Flush, 2021)
  Interleaved,  // the same with more under way, so that transfers are hidden (Narayanan et al.
                // 2021, Megatron-LM, section 2.2)
  ZbH1,         // backward passes in two, weight gradients fill the gaps (Qi et al. 2023, Zero
                // Bubble Pipeline Parallelism, section 2)
  ZbV,          // the same on two chunks each, the second ones in reverse (Qi et al. 2024, Pipeline
                // Parallelism with Controllable Memory)
  DualPipeV,    // as zb-v, forward and backward passes side by side (DeepSeek-AI 2024, DeepSeek-V3,
                // section 3.2.1, cut in half)
  ByHand,       // MicroBatches::table
};
inline constexpr std::array<std::string_view, 7> kPipelineSchedules = {
    "as-ready", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "dualpipe-v"};  // not ByHand
std::string_view name_of(PipelineSchedule schedule);  // "by-hand" has no other name
std::optional<PipelineSchedule> pipeline_schedule_from(std::string_view name);  // not ByHand

// The step's batch in equal parts that follow each other. Gradients accumulate where they are made,
// and are synchronised once, so that a program still computes what its graph says. Groups on
// different devices thereby are stages of a pipeline.
struct MicroBatches {
  std::int32_t count = 1;                                  // divides the batch
  PipelineSchedule schedule = PipelineSchedule::OneFOneB;  // of one micro-batch it means nothing
  ScheduleTable table{};                                   // ByHand: a row for each stage
  friend bool operator==(const MicroBatches&, const MicroBatches&) = default;
};

// By a table of which nothing is checked yet. Of 1 micro-batch, as nothing was said: of as many as
// it has.
MicroBatches by_hand(ScheduleTable table, std::int32_t count);
// Passes that have been forward and not all backward on a device, at most, of a pipeline with so
// many chunks in all.
std::int64_t most_under_way(const MicroBatches& micro_batches, std::size_t chunks);

struct Strategy {
  IdVector<GroupId, std::optional<Decision>> groups;  // one entry per op group
  // Gradients that the same devices all-reduce are fused, in the order in which they are made, into
  // buckets of at most this many bytes (a larger gradient stands alone); 0: no fusion.
  Bytes bucket;
  // Sufficient factor broadcasting (TAG 4.2.3): ops of replicated groups that every device of their
  // group computes on the whole batch, so that nothing is left to synchronise. Ascending, no op
  // twice. An update of a ReplicatePs group in it runs on every device; elsewhere an entry that
  // changes nothing is legal.
  std::vector<OpId> duplicated;
  // Ops of the forward pass whose outputs are not kept for the backward pass, which computes them
  // again when it needs them (Chen et al. 2016, "Training deep nets with sublinear memory cost").
  // Ascending, no op twice. An op that cannot be (core/program/value/recompute.h) changes nothing
  // and is legal.
  std::vector<OpId> recomputed;
  // Ops of the forward pass whose outputs wait for the backward pass in the memory of their host,
  // and updates whose optimizer state rests there (Ren et al. 2021, "ZeRO-Offload: democratizing
  // billion-scale model training", section 3; updates run on the devices). Ascending, no op twice,
  // none that is recomputed. An op that cannot be (core/program/value/offload.h) changes nothing
  // and is legal.
  std::vector<OpId> offloaded;
  // Ops split along another axis than the batch, ascending by op, no op twice; what their groups
  // say does not hold for them.
  std::vector<OpSplit> splits;
  // Variables of replicated groups that are synchronised otherwise than their group says (AutoDist
  // 2.2); ascending by update op, no update twice. Elsewhere an entry changes nothing and is legal.
  std::vector<VariableSync> variables;
  // Execution order (FastT 5): by op, smaller runs first; its transfers and collectives have it,
  // too. Empty: first in, first out.
  std::vector<std::int32_t> priorities;
  MicroBatches micro_batches;
  // The grouping that these groups belong to; null: the problem's. A planner that decides op by op
  // makes its own groups, of the ops that it decides alike (core/schedule/list/placement.h).
  std::shared_ptr<const Grouping> grouping;

  bool is_complete() const;
  Digest digest() const;
  friend bool operator==(const Strategy&, const Strategy&);  // groupings by digest and names
};

// All devices of the device groups, equal shares.
Decision decision_on_groups(const Cluster& cluster, std::span<const DeviceGroupId> groups,
                            Mode mode);
Decision decision_on_device(DeviceId device);

bool has_equal_weights(std::span<const DeviceShare> shares);
// Weights that say the same in the smallest whole numbers: 10 : 10 is 1 : 1.
void divide_by_common(std::vector<DeviceShare>& shares);
// The same decision in the smallest whole weights; all are 1 where the batch is not split, since
// they mean nothing there.
Decision reduced(Decision decision);

// Fills undecided groups: with the decision of the first decided group (groups are sorted by
// compute time, so it is the most expensive one: TAG 4.2.2, footnote 2), or data parallel with
// AllReduce on all devices.
Strategy complete(const Strategy& partial, const Cluster& cluster);

// A strategy in which every group is decided, with its digest. A strategy becomes one where it
// enters the rooms that evaluate it (Evaluator::evaluate(), Lowering::lower()), and is neither
// completed nor digested again behind that border. Immutable, cheap to copy, safe from any thread.
class CompleteStrategy {
 public:
  // Decides what is undecided as complete() does.
  CompleteStrategy(const Strategy& strategy, const Cluster& cluster);

  const Strategy& operator*() const { return made_->strategy; }
  const Strategy* operator->() const { return &made_->strategy; }
  const Digest& digest() const { return made_->digest; }

 private:
  struct Made {
    Strategy strategy;
    Digest digest;
  };
  std::shared_ptr<const Made> made_;
};

// Samples of a batch for each weight, `batch` in all: largest remainder, ties to the lower index.
std::vector<std::int64_t> apportion(std::int64_t batch, std::span<const DeviceShare> shares);

// Throws InputError (place: the group) when a decision names no device, repeats one, has them out
// of order, names one outside the cluster, or has a weight below 1; or when the strategy is for
// another number of groups, or its duplicated or split ops are out of order or outside the graph.
void validate(const Strategy& strategy, const Grouping& grouping, const Cluster& cluster);

// "AllReduce on v100, 1080ti-0:1"; "AllReduce on all 16 devices"; unequal shares as "v100:0 x3". A
// device group that is there as a whole goes by its name.
std::string describe(const Decision& decision, const Cluster& cluster);
std::string describe(const MicroBatches& micro_batches);  // "1", "8 by 1f1b"

}  // namespace strato
