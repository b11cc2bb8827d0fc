#include "plugins/engines/torch/rank/rank_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/build/copy_graph.h"
#include "plugins/engines/torch/values/made_elements.h"
#include "plugins/engines/torch/values/pieces.h"
#include "plugins/engines/torch/values/stored.h"

namespace strato::torch_engine {
namespace {

bool is_forward(const Op& op) { return op.phase == Phase::Forward || op.phase == Phase::Loss; }

bool goes_on(const Graph& graph, TensorId tensor) {
  const auto readers = graph.consumers(tensor);
  return std::any_of(readers.begin(), readers.end(),
                     [&](OpId reader) { return is_forward(graph.op(reader)); });
}

}  // namespace

std::vector<TensorId> loss_tensors(const Graph& graph) {
  std::vector<TensorId> losses;
  for (const Op& op : graph.ops()) {
    if (op.phase == Phase::Loss && !goes_on(graph, op.outputs[0])) losses.push_back(op.outputs[0]);
  }
  if (!losses.empty()) return losses;
  for (const TensorId id : results_of(graph)) {  // made of losses: their mean, their sum
    if (graph.tensor(id).elements() == 1) losses.push_back(id);
  }
  return losses;
}

RankValues::RankValues(const Graph& graph, const RankProgram& program)
    : graph_(graph), program_(program) {
  for (const Value& value : program.values) {
    shapes_.push_back(shape_of(graph, value));
  }
  values_.resize(program.values.size());
}

void RankValues::seed(const Shard& whole) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const ValueId id(i);
    if (program_.values[id].resident) write(id, initial(id, whole));
  }
}

std::string RankValues::initial(ValueId id, const Shard& whole) const {
  const Value& value = program_.values[id];
  const Part& part = value.part;
  if (tensor(id).producer.valid())  // a gradient that no step before this one kept
    return std::string(static_cast<std::size_t>(bytes_of(graph_, value).value), '\0');
  if (part.is_samples() && tensor(id).role == TensorRole::Input) {
    Shard shard = whole;
    shard.first_sample = part.first().begin;
    shard.samples = part.first().size();
    return initial_elements(graph_, value.tensor, shard);
  }
  const std::string all = initial_elements(graph_, value.tensor, whole);
  if (part.is_whole()) return all;
  const at::Tensor elements = from_elements(tensor(id), tensor(id).shape, all);
  return elements_of(cut(elements, tensor(id), {}, part, graph_.batch()));
}

const at::Tensor& RankValues::at(ValueId id) const {
  const at::Tensor& value = values_[id];
  CHECK(value.defined(), fmt::format("{} of \"{}\" is not there yet or not any more",
                                     describe(program_.values[id].part), tensor(id).name));
  return value;
}

void RankValues::release(ValueId id) {
  if (!program_.values[id].resident) values_[id] = at::Tensor();
}

std::span<std::byte> RankValues::memory(ValueId id) {
  at::Tensor& value = values_[id];
  if (!value.defined())
    value = at::empty(shapes_[id], scalar_type(type_of(graph_, program_.values[id])));
  return {static_cast<std::byte*>(value.data_ptr()), value.nbytes()};
}

void RankValues::write(ValueId id, const std::string& elements) {
  at::Tensor made = from_elements(tensor(id), shapes_[id], elements);
  at::Tensor& value = values_[id];
  if (value.defined()) {
    overwrite(id, made);
  } else {
    value = std::move(made);
  }
}

}  // namespace strato::torch_engine
