// The values of a rank's program as tensors. Include in .cpp files only.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/program/rank/rank_program.h"
#include "plugins/engines/torch/values/aten.h"
#include "plugins/engines/torch/values/made_elements.h"

namespace strato::torch_engine {

// Contiguous tensors. Safe from several threads as long as each value is one thread's at a time.
class RankValues {
 public:
  RankValues(const Graph& graph, const RankProgram& program);

  // Residents get what they hold before the first step: every rank its piece of the same elements.
  void seed(const Shard& whole);

  const Tensor& tensor(ValueId id) const { return graph_.tensor(program_.values[id].tensor); }
  const Shape& shape(ValueId id) const { return shapes_[id]; }
  const at::Tensor& at(ValueId id) const;  // it is there
  void set(ValueId id, at::Tensor value) { values_[id] = std::move(value); }
  // Overwrites a resident value: its memory stays, and views of it see the new elements.
  void overwrite(ValueId id, const at::Tensor& elements) { at(id).copy_(elements); }
  void release(ValueId id);
  std::span<std::byte> memory(ValueId id);  // made when it is not there
  void write(ValueId id, const std::string& elements);

 private:
  std::string initial(ValueId id, const Shard& whole) const;
  at::Tensor empty(ValueId id) const;

  const Graph& graph_;
  const RankProgram& program_;
  IdVector<ValueId, Shape> shapes_;
  IdVector<ValueId, at::Tensor> values_;
};

}  // namespace strato::torch_engine
