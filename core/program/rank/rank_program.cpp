#include "core/program/rank/rank_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/program/rank/rank_file.h"
#include "core/program/value/tables.h"

namespace strato {
namespace {

const std::string& subject(const Graph& graph, const RankProgram& program, std::size_t index) {
  const Instruction& instruction = program.instructions[index];
  if (instruction.op.valid()) return graph.op(instruction.op).name;
  const auto writes = program.writes[index];
  const ValueId value = writes.empty() ? program.reads[index].front() : writes.front();
  return graph.tensor(program.values[value].tensor).name;
}

}  // namespace

DataType type_of(const Graph& graph, const Value& value) {
  if (value.encoding == Encoding::None) return graph.tensor(value.tensor).type;
  return value.encoding == Encoding::Half ? DataType::F16 : DataType::U8;
}

Bytes slot_bytes(const Tensor& tensor, const Part& part, Encoding encoding, std::int64_t batch) {
  constexpr Bytes kNumber(8);
  if (encoding == Encoding::TopK) return kNumber + Bytes(size_of(tensor.type));
  const Shape shape = shape_of(tensor, part, batch);
  CHECK(!shape.empty() && shape[0] > 0, "rows of a tensor that has none");
  const Bytes row = bytes_of(tensor, part, batch) / shape[0];
  if (encoding == Encoding::LowRank) return row + Bytes(shape[0] * size_of(tensor.type));
  return kNumber + row;
}

Shape shape_of(const Graph& graph, const Value& value) {
  const Tensor& tensor = graph.tensor(value.tensor);
  if (value.encoding == Encoding::None || value.encoding == Encoding::Half)
    return shape_of(tensor, value.part, graph.batch());
  return {slot_bytes(tensor, value.part, value.encoding, graph.batch()).value * value.record_count};
}

Bytes bytes_of(const Graph& graph, const Value& value) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape_of(graph, value)) elements *= extent;
  return Bytes(elements * size_of(type_of(graph, value)));
}

Bytes moved_bytes(const Graph& graph, const Instruction& transfer, const Value& value) {
  if (!moves_slice(transfer, value)) return bytes_of(graph, value);
  return bytes_of(graph.tensor(value.tensor), transfer.part, graph.batch());
}

std::vector<std::pair<TensorId, Bytes>> moved_by(const Graph& graph, const RankProgram& program,
                                                 std::size_t instruction) {
  const Instruction& what = program.instructions[instruction];
  const bool comes = what.kind == InstructionKind::Receive ||
                     what.kind == InstructionKind::AllGather;  // each brings another part
  std::vector<std::pair<TensorId, Bytes>> result;
  if (what.kind == InstructionKind::AllToAll) {  // members have other parts of it
    const TensorId tensor = root_of(graph, program.values[program.reads[instruction][0]].tensor);
    return {{tensor, bytes_of(graph.tensor(tensor), what.part, graph.batch())}};
  }
  for (const ValueId id : (comes ? program.writes : program.reads)[instruction]) {
    const Value& value = program.values[id];
    result.emplace_back(root_of(graph, value.tensor), what.peer.valid()
                                                          ? moved_bytes(graph, what, value)
                                                          : bytes_of(graph, value));
  }
  return result;
}

std::string_view name_of(InstructionKind kind) {
  constexpr std::array<std::string_view, 14> kNames = {
      "compute", "view",       "update",     "split",          "concat",     "sum",     "send",
      "receive", "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "offload", "fetch"};
  return kNames.at(static_cast<std::size_t>(kind));
}

int RankPrograms::rank_of(DeviceId device) const {
  const auto at = std::ranges::lower_bound(ranks, device, {}, &RankProgram::device);
  return at != ranks.end() && at->device == device ? static_cast<int>(at - ranks.begin()) : -1;
}

Digest RankPrograms::digest() const {
  std::vector<Digest> digests;
  for (const RankProgram& rank : ranks) digests.push_back(digest_of(write_rank_program(rank)));
  return digest_of_ranks(graph->digest(), digests);
}

Digest digest_of_ranks(const Digest& graph, std::span<const Digest> ranks) {
  Hasher hasher;
  hasher.text("rank programs").number(RankProgram::kVersion).digest(graph);
  hasher.number(ranks.size());
  for (const Digest& rank : ranks) hasher.digest(rank);
  return hasher.finish();
}

std::string describe_instruction(const RankPrograms& programs, std::size_t rank,
                                 std::size_t instruction, const DeviceNames& device) {
  const RankProgram& program = programs.ranks[rank];
  const Instruction& what = program.instructions[instruction];
  std::string text =
      fmt::format("rank {} #{}: {} {}", program.rank, instruction, name_of(what.kind),
                  subject(*programs.graph, program, instruction));
  const std::size_t reduced = program.reads[instruction].size();
  if (what.kind == InstructionKind::AllReduce && reduced > 1)
    text += fmt::format(" and {} more", reduced - 1);
  text += " " + describe(what.part);
  if (what.kind == InstructionKind::Send) text += " to " + device(what.peer);
  if (what.kind == InstructionKind::Receive) text += " from " + device(what.peer);
  const char* before = " with ";
  for (const DeviceId member : program.members[instruction]) {
    if (member == program.device) continue;
    text += before + device(member);
    before = ", ";
  }
  return text;
}

}  // namespace strato
