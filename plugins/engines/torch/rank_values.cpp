#include "plugins/engines/torch/rank_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "plugins/engines/torch/values/made_elements.h"
#include "plugins/engines/torch/values/pieces.h"
#include "plugins/engines/torch/values/stored.h"

namespace strato::torch_engine {

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
  if (part.is_samples() && tensor(id).role == TensorRole::Input)
    return initial_elements(graph_, value.tensor, whole.on(part));
  const std::string all = initial_elements(graph_, value.tensor, whole);
  if (part.is_whole()) return all;
  const at::Tensor elements = from_elements(tensor(id), tensor(id).shape, all);
  return elements_of(cut(elements, graph_, value.tensor, {}, part));
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

// What is kept on the host has memory that does not count as the device's.
at::Tensor RankValues::empty(ValueId id) const {
  const at::ScalarType type = scalar_type(type_of(graph_, program_.values[id]));
  if (!program_.values[id].on_host) return at::empty(shapes_[id], type);
  const auto bytes = static_cast<std::size_t>(bytes_of(graph_, program_.values[id]).value);
  auto* const memory = new std::byte[std::max<std::size_t>(bytes, 1)];
  const auto free = [memory](void*) { delete[] memory; };
  return at::from_blob(memory, shapes_[id], free, at::TensorOptions(type));
}

std::span<std::byte> RankValues::memory(ValueId id) {
  at::Tensor& value = values_[id];
  if (!value.defined()) value = empty(id);
  return {static_cast<std::byte*>(value.data_ptr()), value.nbytes()};
}

void RankValues::write(ValueId id, const std::string& elements) {
  at::Tensor made = from_elements(tensor(id), shapes_[id], elements);
  if (program_.values[id].on_host && !values_[id].defined()) values_[id] = empty(id);
  if (values_[id].defined()) return overwrite(id, made);
  values_[id] = std::move(made);
}

}  // namespace strato::torch_engine
