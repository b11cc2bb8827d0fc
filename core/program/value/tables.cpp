#include "core/program/value/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/graph/group/metis_grouping.h"

namespace strato {
namespace {

bool no_work(const Op& op) {
  return op.work.flops == 0 && op.work.batch_bytes.value == 0 && op.work.fixed_bytes.value == 0;
}

}  // namespace

bool is_alias(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  if (op.phase == Phase::Update || !(op.view || no_work(op))) return false;
  const auto first = std::ranges::find_if(op.inputs, &TensorId::valid);
  return first != op.inputs.end() && std::none_of(first, op.inputs.end(), [&](TensorId input) {
           return input.valid() && input != *first && graph.tensor(input).producer.valid();
         });
}

TensorId viewed(const Graph& graph, OpId alias) {
  return *std::ranges::find_if(graph.op(alias).inputs, &TensorId::valid);
}

TensorId root_of(const Graph& graph, TensorId tensor) {
  for (OpId producer = graph.tensor(tensor).producer; producer.valid() && is_alias(graph, producer);
       producer = graph.tensor(tensor).producer)
    tensor = viewed(graph, producer);
  return tensor;
}

Tables::Tables(std::shared_ptr<const Graph> graph_, std::shared_ptr<const Grouping> grouping_,
               std::shared_ptr<const Cluster> cluster_, std::shared_ptr<const CostModel> cost_,
               std::int32_t micro_batches_)
    : graph(std::move(graph_)),
      grouping(std::move(grouping_)),
      cluster(std::move(cluster_)),
      cost(std::move(cost_)),
      micro_batches(micro_batches_),
      batch(static_cast<std::int32_t>(graph->batch())),
      micro_batch(batch / micro_batches) {
  CHECK(graph->batch() >= 1 && graph->batch() < (std::int64_t{1} << 31), "batch out of range");
  if (batch % micro_batches != 0)
    throw InputError(
        "", "micro-batches",
        fmt::format("are {}, which do not divide the batch of {}", micro_batches, batch),
        "choose a number that divides it");
  describe_tensors();
  describe_ops();
  order_ops();
  is_repeated_.resize(graph->op_count());
  if (micro_batches > 1) find_repeated();
}

void Tables::describe_tensors() {
  tensors.resize(graph->tensor_count());
  for (TensorId id(0); id < graph->tensors().next_id(); id = TensorId(id.index() + 1)) {
    const Tensor& tensor = graph->tensor(id);
    TensorFacts& facts = tensors[id];
    facts.bytes = std::max(Bytes(1), tensor.bytes());
    facts.kind = tensor.batch.kind;
    facts.op = tensor.producer;
    if (facts.kind == BatchKind::Batched && facts.bytes.value % batch == 0)
      facts.per_sample = facts.bytes / batch;
    facts.passed_on = cost->is_passed_on(id);
    facts.adds_up = cost->adds_up(id);
    if (tensor.producer.valid()) continue;
    facts.slot = static_cast<std::int32_t>(slots.size());
    slots.push_back(id);
    facts.source = Source::Resident;
    if (tensor.role != TensorRole::Parameter || !graph->update_of(id).valid()) continue;
    facts.source = Source::Parameter;
    facts.kind = BatchKind::Whole;
    facts.op = graph->update_of(id);
    updates.push_back(facts.op);  // of no other parameter
  }
}

void Tables::describe_ops() {
  const auto nanos = [](Nanos time) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(std::min(time.value, kMost));
  };
  issue_collective_ = nanos(cost->issue_collective());
  issue_local_move_ = nanos(cost->issue_local_move());
  ops.resize(graph->op_count());
  input_begin_.assign(1, 0);
  for (std::size_t i = 0; i < graph->op_count(); ++i) {
    const Op& op = graph->op(OpId(i));
    const auto first = static_cast<std::ptrdiff_t>(inputs_.size());
    for (TensorId input : op.inputs)
      if (input.valid() &&
          std::find(inputs_.begin() + first, inputs_.end(), input) == inputs_.end())
        inputs_.push_back(input);
    input_begin_.push_back(static_cast<std::uint32_t>(inputs_.size()));
    OpFacts& facts = ops[OpId(i)];
    facts.kind = op.phase == Phase::Update ? TaskKind::Update : TaskKind::Compute;
    facts.splittable = op.split != Splittability::None && op.phase != Phase::Update;
    facts.alias = is_alias(*graph, OpId(i));
    facts.issue = nanos(cost->issue(OpId(i)));
  }
}

void Tables::order_ops() {
  is_late_.resize(graph->op_count());
  for (std::size_t i = 0; i < graph->op_count(); ++i) {
    bool is_late = ops[OpId(i)].kind == TaskKind::Update;
    for (TensorId input : inputs(OpId(i)))
      if (const OpId producer = graph->tensor(input).producer; producer.valid())
        is_late = is_late || is_late_[producer];
    is_late_[OpId(i)] = is_late ? 1 : 0;
    (is_late ? late : early).push_back(OpId(i));
  }
}

// What works on the batch does; what follows from a sum over it comes when all of them are done.
// A gradient that is cast, though, is so for each of them: 32-bit gradients are added up, as
// frameworks do with parameters in 16 bits.
void Tables::find_repeated() {
  const auto refuse = [&](OpId op, const char* problem) {
    throw InputError("", fmt::format("op \"{}\"", graph->op(op).name), problem,
                     "use a single micro-batch");
  };
  IdVector<OpId, char> follows_sum(graph->op_count());
  for (const OpId op : early) {
    bool reads_sum = false;
    const auto is_batched = [&](TensorId tensor) {
      return tensors[tensor].kind == BatchKind::Batched;
    };
    bool repeated = std::ranges::any_of(outputs(op), is_batched);
    for (const TensorId input : inputs(op)) {
      const OpId producer = graph->tensor(input).producer;
      const bool sum =
          producer.valid() &&
          (follows_sum[producer] ||
           (is_repeated_[producer] && tensors[input].kind == BatchKind::Partial && !casts_sum(op)));
      reads_sum = reads_sum || sum;
      if (is_batched(input) || (producer.valid() && is_repeated_[producer] && !sum))
        repeated = true;
    }
    if (repeated && reads_sum)
      refuse(op,
             "reads a sum over the batch, which micro-batches add up to only when all are done");
    if (repeated && !ops[op].splittable && !ops[op].alias)
      refuse(op, "needs all samples of the batch at once, and micro-batches come one by one");
    is_repeated_[op] = repeated ? 1 : 0;
    follows_sum[op] = reads_sum ? 1 : 0;
  }
}

bool Tables::casts_sum(OpId op) const {
  return graph->op(op).type == "CastGrad" && outputs(op).size() == 1 &&
         tensors[outputs(op).front()].kind == BatchKind::Partial;
}

Tables::Column Tables::column(GpuTypeId gpu, std::int32_t samples) {
  const auto [at, fresh] =
      column_of_.try_emplace({gpu, samples}, static_cast<Column>(columns_.size()));
  if (fresh) columns_.push_back({gpu, samples, std::vector<std::int64_t>(graph->op_count(), -1)});
  return at->second;
}

Nanos Tables::ask_op_time(Column column, OpId op) {
  CostColumn& costs = columns_[static_cast<std::size_t>(column)];
  const Nanos time = std::max(Nanos(1), cost->compute(op, costs.gpu, costs.samples));
  costs.time[op.index()] = time.value;
  return time;
}

bool Tables::is_large() const {
  constexpr std::size_t kFewColumns = 64, kMostColumns = 512, kMostTimes = 8'000'000;
  return columns_.size() >= kMostColumns ||
         (columns_.size() >= kFewColumns && columns_.size() * graph->op_count() >= kMostTimes);
}

void Tables::forget() {
  columns_.clear();
  column_of_.clear();
}

const std::vector<SplitAxis>& Tables::split_axes(OpId op) {
  const auto [at, fresh] = split_axes_.try_emplace(op);
  if (fresh) at->second = strato::split_axes(*graph, op);
  return at->second;
}

const std::vector<LetterSplit>& Tables::letter_splits(OpId op) {
  const auto [at, fresh] = letter_splits_.try_emplace(op);
  if (fresh) at->second = strato::letter_splits(*graph, op);
  return at->second;
}

const LetterSplit* Tables::expert_split(OpId op) {
  if (expert_splits_.empty()) expert_splits_ = expert_splits(*graph);
  const std::int32_t ordinal = expert_splits_[op];
  return ordinal == kNoExperts ? nullptr : &letter_splits(op)[static_cast<std::size_t>(ordinal)];
}

const WeightTensors& Tables::weights() {
  if (weights_.empty()) weights_ = weights_of(*graph);
  return weights_;
}

std::span<const std::int32_t> Tables::parts(GroupId group, int count) {
  const auto [at, fresh] = parts_.try_emplace({group, count});
  if (fresh) {
    if (mean_times_.empty()) mean_times_ = mean_op_times(*graph, *cluster, *cost);
    at->second = partition_ops(*graph, grouping->group(group).ops, mean_times_, count);
  }
  return at->second;
}

}  // namespace strato
