#include "core/program/rank/rank_moves.h"

#include <algorithm>

#include "core/program/value/tables.h"

namespace strato {
namespace {

TensorId base_of(const Graph& graph, TensorId tensor) {
  while (graph.tensor(tensor).producer.valid() && is_alias(graph, graph.tensor(tensor).producer)) {
    const auto& inputs = graph.op(graph.tensor(tensor).producer).inputs;
    tensor = *std::find_if(inputs.begin(), inputs.end(), [](TensorId id) { return id.valid(); });
  }
  return tensor;
}

}  // namespace

std::vector<std::pair<TensorId, Bytes>> moved_by(const Graph& graph, const RankProgram& program,
                                                 std::size_t instruction) {
  const Instruction& what = program.instructions[instruction];
  const bool comes = what.kind == InstructionKind::Receive ||
                     what.kind == InstructionKind::AllGather;  // each brings another piece
  std::vector<std::pair<TensorId, Bytes>> result;
  for (const ValueId id : (comes ? program.writes : program.reads)[instruction]) {
    const Value& value = program.values[id];
    result.emplace_back(base_of(graph, value.tensor), what.peer.valid()
                                                          ? moved_bytes(graph, what, value)
                                                          : bytes_of(graph, value));
  }
  return result;
}

}  // namespace strato
