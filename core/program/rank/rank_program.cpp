#include "core/program/rank/rank_program.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/program/rank/rank_file.h"

namespace strato {
namespace {

std::string range(std::int32_t begin, std::int32_t end) {
  return "[" + std::to_string(begin) + "," + std::to_string(end) + ")";
}

const std::string& subject(const Graph& graph, const RankProgram& program, std::size_t index) {
  const Instruction& instruction = program.instructions[index];
  if (instruction.op.valid()) return graph.op(instruction.op).name;
  const auto writes = program.writes[index];
  const ValueId value = writes.empty() ? program.reads[index].front() : writes.front();
  return graph.tensor(program.values[value].tensor).name;
}

}  // namespace

Piece piece_of(const Part& part) {
  Piece piece;
  const auto cuts = part.cuts();
  if (part.is_whole()) return piece;
  if (!cuts.empty()) {
    piece.form = Piece::Form::Slice;
    piece.axis = cuts[0].axis;
    piece.begin = cuts[0].begin;
    piece.end = cuts[0].end;
    std::copy(cuts.begin() + 1, cuts.end(), piece.more.begin());
  }
  if (const AxisRange* samples = part.along(kBatchAxis)) {
    CHECK(part.is_partial_sum() || cuts.empty(), "a piece of some samples that is cut further");
    piece.form = part.is_partial_sum() ? Piece::Form::Partial : Piece::Form::Samples;
    piece.from = piece.begin;
    piece.until = piece.end;
    piece.begin = samples->begin;
    piece.end = samples->end;
  }
  return piece;
}

std::string describe(const Piece& piece) {
  switch (piece.form) {
    case Piece::Form::Whole:
      return "whole";
    case Piece::Form::Samples:
      return "samples " + range(piece.begin, piece.end);
    case Piece::Form::Partial:
      return "the sum over samples " + range(piece.begin, piece.end) +
             (piece.axis < 0 ? "" : " of " + describe(ranges_of(piece)));
    case Piece::Form::Slice:
      return describe(ranges_of(piece));
  }
  return "whole";
}

std::vector<AxisRange> ranges_of(const Piece& piece) {
  std::vector<AxisRange> ranges;
  if (piece.axis < 0) return ranges;
  const bool of_sum = piece.form == Piece::Form::Partial;
  ranges.push_back(
      {piece.axis, of_sum ? piece.from : piece.begin, of_sum ? piece.until : piece.end});
  for (const AxisRange& range : piece.more)
    if (range.axis >= 0) ranges.push_back(range);
  return ranges;
}

// What is cut along different axes always meets.
bool overlap(const Piece& a, const Piece& b) {
  for (const AxisRange& one : ranges_of(a))
    for (const AxisRange& other : ranges_of(b))
      if (one.axis == other.axis && (one.end <= other.begin || other.end <= one.begin))
        return false;
  return true;
}

Shape shape_of(const Tensor& tensor, const Piece& piece, std::int64_t batch) {
  Shape shape = tensor.shape;
  if (piece.form == Piece::Form::Samples && tensor.batch.kind == BatchKind::Batched) {
    std::int64_t& extent = shape[static_cast<std::size_t>(tensor.batch.axis)];
    extent = extent / batch * (piece.end - piece.begin);
  }
  for (const AxisRange& range : ranges_of(piece))
    shape[static_cast<std::size_t>(range.axis)] = range.end - range.begin;
  return shape;
}

Bytes bytes_of(const Tensor& tensor, const Piece& piece, std::int64_t batch) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape_of(tensor, piece, batch)) elements *= extent;
  return Bytes(elements * size_of(tensor.type));
}

DataType type_of(const Graph& graph, const Value& value) {
  if (value.encoding == Encoding::None) return graph.tensor(value.tensor).type;
  return value.encoding == Encoding::Half ? DataType::F16 : DataType::U8;
}

Bytes slot_bytes(const Tensor& tensor, const Piece& piece, Encoding encoding, std::int64_t batch) {
  constexpr Bytes kNumber(8);
  if (encoding == Encoding::TopK) return kNumber + Bytes(size_of(tensor.type));
  const Shape shape = shape_of(tensor, piece, batch);
  CHECK(!shape.empty() && shape[0] > 0, "rows of a tensor that has none");
  const Bytes row = bytes_of(tensor, piece, batch) / shape[0];
  if (encoding == Encoding::LowRank) return row + Bytes(shape[0] * size_of(tensor.type));
  return kNumber + row;
}

Shape shape_of(const Graph& graph, const Value& value) {
  const Tensor& tensor = graph.tensor(value.tensor);
  if (value.encoding == Encoding::None || value.encoding == Encoding::Half)
    return shape_of(tensor, value.piece, graph.batch());
  return {slot_bytes(tensor, value.piece, value.encoding, graph.batch()).value *
          value.record_count};
}

Bytes bytes_of(const Graph& graph, const Value& value) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape_of(graph, value)) elements *= extent;
  return Bytes(elements * size_of(type_of(graph, value)));
}

Bytes moved_bytes(const Graph& graph, const Instruction& transfer, const Value& value) {
  if (!moves_slice(transfer, value)) return bytes_of(graph, value);
  return bytes_of(graph.tensor(value.tensor), transfer.piece, graph.batch());
}

std::string_view name_of(InstructionKind kind) {
  switch (kind) {
    case InstructionKind::Compute:
      return "compute";
    case InstructionKind::View:
      return "view";
    case InstructionKind::Update:
      return "update";
    case InstructionKind::Split:
      return "split";
    case InstructionKind::Concat:
      return "concat";
    case InstructionKind::Sum:
      return "sum";
    case InstructionKind::Send:
      return "send";
    case InstructionKind::Receive:
      return "receive";
    case InstructionKind::AllReduce:
      return "all-reduce";
    case InstructionKind::AllGather:
      return "all-gather";
    case InstructionKind::ReduceScatter:
      return "reduce-scatter";
  }
  return "compute";
}

int RankPrograms::rank_of(DeviceId device) const {
  const auto at = std::lower_bound(
      ranks.begin(), ranks.end(), device,
      [](const RankProgram& rank, DeviceId wanted) { return rank.device < wanted; });
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
  std::string text = "rank " + std::to_string(program.rank) + " #" + std::to_string(instruction) +
                     ": " + std::string(name_of(what.kind)) + " " +
                     subject(*programs.graph, program, instruction);
  const std::size_t reduced = program.reads[instruction].size();
  if (what.kind == InstructionKind::AllReduce && reduced > 1)
    text += " and " + std::to_string(reduced - 1) + " more";
  text += " " + describe(what.piece);
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

std::string describe(const RankPrograms& programs, std::size_t rank, std::size_t instruction,
                     const Cluster& cluster) {
  return describe_instruction(programs, rank, instruction,
                              [&](DeviceId device) { return cluster.device(device).name; });
}

}  // namespace strato
