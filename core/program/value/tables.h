// What lowering knows about a problem before it sees a strategy: emission order, the facts of ops
// and tensors in flat arrays, op costs and model-parallel parts on demand. Made once per Lowering;
// costs and parts are remembered, so it is not thread safe; what it answers never depends on what
// was asked before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/cost/value/cost_model.h"
#include "core/graph/axes/expert_letters.h"
#include "core/graph/axes/letter_splits.h"
#include "core/graph/axes/position_letters.h"
#include "core/graph/axes/split_axes.h"
#include "core/graph/group/grouping.h"
#include "core/program/value/program.h"

namespace strato {

// Where a tensor comes from in a step.
enum class Source : std::uint8_t {
  Produced,   // by an op
  Parameter,  // updated in this step: resident where its update op's group has replicas ("homes")
  Resident,   // input, constant, frozen parameter, optimizer state: resident wherever it is read
};

struct TensorFacts {
  Bytes bytes;       // of the whole batch; at least 1
  Bytes per_sample;  // of a batched tensor whose bytes are a multiple of the batch; else 0
  BatchKind kind = BatchKind::Whole;
  Source source = Source::Produced;
  bool passed_on = false, adds_up = false;  // as CostModel has them
  std::int32_t slot = -1;                   // row among the tensors that no op produces
  OpId op;                                  // its producer; of a parameter: its update op
};

struct SampleRange {  // empty: none
  std::int32_t begin = 0, end = 0;
  void add(std::int32_t from, std::int32_t to) {
    begin = begin == end ? from : std::min(begin, from);
    end = std::max(end, to);
  }
};

// Bytes of these samples of a tensor; of all of it where it does not carry the batch.
inline Bytes slice_bytes(const TensorFacts& facts, std::int32_t begin, std::int32_t end,
                         std::int32_t batch) {
  if (facts.per_sample > Bytes(0)) return facts.per_sample * (end - begin);
  if (facts.kind != BatchKind::Batched) return facts.bytes;
  return std::max(Bytes(1), facts.bytes * (end - begin) / batch);
}

struct OpFacts {
  TaskKind kind = TaskKind::Compute;
  bool splittable = false;
  bool alias = false;      // makes no task: its outputs are its first input's bytes
  std::int32_t issue = 0;  // Task::issue
};

// Does this op make no task? It takes over one input's bytes and readiness; others may only be
// known before the step.
bool is_alias(const Graph& graph, OpId op);
// What the outputs of such an op are views of; and of any tensor, through views, the one whose
// bytes it is.
TensorId viewed(const Graph& graph, OpId alias);
TensorId root_of(const Graph& graph, TensorId tensor);

class Tables {
 public:
  // Throws InputError where the graph cannot be computed in so many micro-batches: they do not
  // divide the batch, an op needs all samples at once, or reads a sum over them.
  Tables(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
         std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost,
         std::int32_t micro_batches = 1);

  const std::shared_ptr<const Graph> graph;
  const std::shared_ptr<const Grouping> grouping;
  const std::shared_ptr<const Cluster> cluster;
  const std::shared_ptr<const CostModel> cost;
  const std::int32_t micro_batches;
  const std::int32_t batch, micro_batch;  // samples, in all and of a micro-batch

  // Emission order, together all ops. Updates (and what follows from them) come last: an update
  // overwrites its parameter, so it waits for every reader of the old value.
  std::vector<OpId> early, late;
  bool is_late(OpId op) const { return is_late_[op]; }
  // Does the op run once for each micro-batch? Others run once a step. Of a single micro-batch: no.
  bool is_repeated(OpId op) const { return is_repeated_[op]; }
  // Does it cast a gradient, which is summed over samples, as a whole?
  bool casts_sum(OpId op) const;
  std::vector<OpId> updates;  // ascending by parameter
  IdVector<OpId, OpFacts> ops;
  IdVector<TensorId, TensorFacts> tensors;
  std::vector<TensorId> slots;  // tensors that no op produces, ascending

  std::int32_t issue_of(const Task& task) const {  // Task::issue
    if (task.kind == TaskKind::Compute || task.kind == TaskKind::Update) return ops[task.op].issue;
    if (task.kind == TaskKind::Transfer) return 0;  // it is on no stream
    if (task.kind == TaskKind::Sum && tensors[task.tensor].adds_up) return 0;
    return is_communication(task.kind) ? issue_collective_ : issue_local_move_;
  }

  // Valid inputs, each once, in the op's order.
  std::span<const TensorId> inputs(OpId op) const {
    return {inputs_.data() + input_begin_[op.index()],
            inputs_.data() + input_begin_[op.index() + 1]};
  }
  std::span<const TensorId> outputs(OpId op) const { return graph->op(op).outputs; }

  // Is this input a parameter that the op overwrites?
  bool updates_here(OpId op, TensorId input) const {
    return tensors[input].source == Source::Parameter && tensors[input].op == op;
  }

  // Op costs on one GPU type and number of samples. The handle is good until forget().
  using Column = std::int32_t;
  Column column(GpuTypeId gpu, std::int32_t samples);
  Nanos op_time(Column column, OpId op) {
    const std::int64_t time = columns_[static_cast<std::size_t>(column)].time[op.index()];
    return time >= 0 ? Nanos(time) : ask_op_time(column, op);
  }
  bool is_large() const;  // so many costs are remembered that they had better be forgotten
  void forget();

  // See core/graph/axes/split_axes.h.
  const std::vector<SplitAxis>& split_axes(OpId op);
  // See core/graph/axes/letter_splits.h.
  const std::vector<LetterSplit>& letter_splits(OpId op);
  // See core/graph/axes/expert_letters.h. Null: the op is no expert's.
  const LetterSplit* expert_split(OpId op);
  // See core/graph/axes/position_letters.h.
  const WeightTensors& weights();

  // The model-parallel part of each op of the group (ops of one layer stay together).
  std::span<const std::int32_t> parts(GroupId group, int count);

 private:
  struct CostColumn {
    GpuTypeId gpu;
    std::int32_t samples;
    std::vector<std::int64_t> time;  // by op; -1: not asked yet
  };
  Nanos ask_op_time(Column column, OpId op);
  void describe_tensors();
  void describe_ops();
  void order_ops();
  void find_repeated();

  IdVector<OpId, char> is_late_, is_repeated_;
  std::vector<std::uint32_t> input_begin_;
  std::vector<TensorId> inputs_;
  std::vector<CostColumn> columns_;
  std::map<std::pair<GpuTypeId, std::int32_t>, Column> column_of_;
  std::map<std::pair<GroupId, int>, std::vector<std::int32_t>> parts_;
  std::map<OpId, std::vector<SplitAxis>> split_axes_;
  std::map<OpId, std::vector<LetterSplit>> letter_splits_;
  ExpertSplits expert_splits_;  // empty: not asked for yet
  WeightTensors weights_;       // the same
  std::vector<Nanos> mean_times_;
  std::int32_t issue_collective_ = 0, issue_local_move_ = 0;
};

}  // namespace strato
