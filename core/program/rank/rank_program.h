// What one rank of a launched plan does: the tasks of one device as instructions on values, made
// from the same program that was simulated.
//
// Order: one order of all tasks, in which each comes after its dependencies (as a rule by start in
// the simulated timeline), is restricted to each rank and its streams. A rank starts each stream's
// instructions in their order, and those of the compute stream end before the next one starts;
// communication may go on while the next one of its stream is under way. `waits` are what an
// instruction needs beyond that. All ranks have the collectives and transfers that they share in
// the same order, whichever stream these are on: who starts all communication in one order cannot
// come to wait in a circle either.
//
// Immutable values once built; safe to read from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/program/value/program.h"

namespace strato {

using ValueId = Id<struct ValueTag>;  // of one rank

struct Value {
  TensorId tensor;
  Part part;  // as it is first written: an AllReduce in place makes a partial sum the total
  // Lives from step to step: a parameter, its state, a constant, an input (which is loaded anew
  // before each step), a gradient that is kept for the next step (zeros before the first).
  bool resident = false;
  // In the memory of the device's host, where only Offload and Fetch touch it.
  bool on_host = false;
  // Half: elements of 16 bits. SparseRows, TopK: `record_count` records, each a number (64 bits: of
  // a row of the part along axis 0, or of an element of the part) and that row's or element's
  // bytes; unused ones are zero. LowRank: `record_count` records, each a column and a row, whose
  // products add up to the part. Other values hold their part as it is.
  Encoding encoding = Encoding::None;
  std::int32_t record_count = 0;
};

// A value as it lies in memory.
DataType type_of(const Graph& graph, const Value& value);
Shape shape_of(const Graph& graph, const Value& value);  // of records: their bytes, one axis
Bytes bytes_of(const Graph& graph, const Value& value);
// Of one record of an encoding that has them.
Bytes slot_bytes(const Tensor& tensor, const Part& part, Encoding encoding, std::int64_t batch);

enum class InstructionKind : std::uint8_t {
  Compute,  // op on reads (the op's inputs in order; invalid: omitted) -> writes (its outputs)
  View,     // the same of an op that makes no task: writes share the memory of reads[0];
            // other inputs are invalid where nothing of them is needed
  Update,   // in place on parameter and state
  Split,   // writes[0] is the instruction's part of reads[0], encoded as it is; a resident value is
           // overwritten in place
  Concat,  // writes[0] is made of all reads, in the order of their begins; of one: decoded
  Sum,     // writes[0] is the sum of the reads, which are decoded; one read of records: of these;
           // when there are no writes, all other reads are added to reads[0], in place
  // Of a resident parameter that is whole there perhaps just a slice, the instruction's part.
  Send,       // reads[0] to `peer`; perhaps under the name of the tensor that it is a view of
  Receive,    // writes[0] from `peer`; a resident value is overwritten in place
  AllReduce,  // sums each of the reads over the members; in place when there are no writes, else
              // one read into one write
  AllGather,  // writes[0] is made of the members' reads[0], in their order; `cuts` says how
              // (of records: in them)
  ReduceScatter,  // writes[0] is this member's part of the sum of the members' reads[0]; `cuts`
  AllToAll,       // members' reads[0] are parts along one axis of the instruction's part, writes[0]
                  // along another one; `cuts` of the first, then of the second
  Offload,  // writes[0], on the host, is a copy of reads[0]; a resident value is overwritten in
            // place
  Fetch,    // writes[0] is a copy of reads[0], which is on the host
};
// They communicate, with nobody.
inline bool is_host_copy(InstructionKind kind) {
  return kind == InstructionKind::Offload || kind == InstructionKind::Fetch;
}
std::string_view name_of(InstructionKind kind);  // "compute", "all-reduce", ...

struct Instruction {
  InstructionKind kind = InstructionKind::Compute;
  Stream stream = Stream::Compute;
  TaskId task;  // of the program; of a view: the task that needs it first
  OpId op;      // of Compute, View, Update
  Part part;    // of an op: the samples or the slice that it works on; else what is made: of a Send
                // what is sent, of an AllGather the part that is put together, of a ReduceScatter
                // this member's, of an AllToAll all that its members have
  DeviceId peer;   // of Send and Receive
  Nanos duration;  // as simulated: what the replay engine takes; of a view: 0
  Bytes bytes;     // as simulated
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

struct RankProgram {
  static constexpr int kVersion = 7;

  int rank = 0;
  DeviceId device;
  IdVector<ValueId, Value> values;
  std::vector<Instruction> instructions;  // in the order of all streams together
  Rows<ValueId> reads, writes;            // row = instruction; invalid ids: omitted inputs
  // row = instruction; values that nobody reads after it ends. Every reader has ended then: it is
  // the instruction itself, before it on the compute stream, or waited for.
  Rows<ValueId> releases;
  // row = instruction; earlier instructions that end before it starts, ascending: of the other
  // streams, and of communication also of its own.
  Rows<std::uint32_t> waits;
  Rows<DeviceId> members;  // row = instruction; of collectives, ascending or in a ring's order
  // row = instruction; of AllGather and ReduceScatter, one more than members: member i's part is
  // [cuts[i], cuts[i + 1]), of the batch, or along the axis of that part. Of AllToAll twice as
  // many.
  Rows<std::int32_t> cuts;
  // What it computes of the loss and no rank before it does, ascending: over all ranks they add up.
  std::vector<ValueId> losses;
};

struct RankPrograms {
  std::shared_ptr<const Graph> graph;
  std::vector<RankProgram> ranks;      // one for each device that has a task, ascending by device
  int rank_of(DeviceId device) const;  // -1: it has none
  Digest digest() const;
};

// What a Send or Receive moves of its value.
Bytes moved_bytes(const Graph& graph, const Instruction& transfer, const Value& value);
// Does it move just a slice of a value that is whole?
inline bool moves_slice(const Instruction& transfer, const Value& value) {
  return transfer.part.is_slice() && value.part.is_whole();
}

// Tensors and bytes of what an instruction that several ranks take part in brings in; of a receive,
// of what comes; of an all-gather, of all that comes together. The same on both sides of a
// transfer, and on all members: a view's bytes may travel as its base's, which is named here.
std::vector<std::pair<TensorId, Bytes>> moved_by(const Graph& graph, const RankProgram& program,
                                                 std::size_t instruction);

// Proves that ranks that execute their computing in order, and all their communication in order,
// each instruction blocking what is behind it until it is done, all end: sends meet receives of the
// same tensor and size in the same order for each pair of ranks, collectives have the same members
// and order everywhere, and no instruction waits for itself through others. Throws InputError
// (file: `name`) naming the instructions of the cycle, or what has no counterpart. Pure; safe from
// any thread.
void check_termination(const RankPrograms& programs, const std::string& name);

// The digest of rank programs from their graph's and those of their write_rank_program()
// (rank_file.h), by rank.
Digest digest_of_ranks(const Digest& graph, std::span<const Digest> ranks);

// The instruction in words: "rank 1 #12: all-reduce grad(conv1.w) whole with v100:0, v100:1".
using DeviceNames = std::function<std::string(DeviceId)>;
std::string describe_instruction(const RankPrograms& programs, std::size_t rank,
                                 std::size_t instruction, const DeviceNames& device);

}  // namespace strato
