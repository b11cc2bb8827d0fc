// What must hold for a single instruction.
#include <algorithm>

#include "core/program/rank/rank_validate.h"
#include "core/program/value/ascending.h"
#include "core/program/value/tables.h"

namespace strato {
namespace {

using Kind = InstructionKind;

bool is_op(Kind kind) {
  return kind == Kind::Compute || kind == Kind::View || kind == Kind::Update;
}
bool is_transfer(Kind kind) { return kind == Kind::Send || kind == Kind::Receive; }
bool is_collective(Kind kind) {
  return kind == Kind::AllReduce || kind == Kind::AllGather || kind == Kind::ReduceScatter;
}
bool has_cuts(Kind kind) { return kind == Kind::AllGather || kind == Kind::ReduceScatter; }

class InstructionCheck {
 public:
  InstructionCheck(const RankProgram& program, std::size_t at, const Graph& graph,
                   const RankRefusal& refusal)
      : program_(program), at_(at), graph_(graph), refusal_(refusal) {}

  void run() const {
    check_kind();
    check_links();
    check_operands();
  }

 private:
  void expect(bool holds, const char* problem) const { refusal_.expect(holds, at_, problem); }
  const Instruction& what() const { return program_.instructions[at_]; }
  const Value& value(ValueId id) const { return program_.values[id]; }
  Bytes bytes(ValueId id) const { return bytes_of(graph_, value(id)); }
  TensorId tensor(ValueId id) const { return id.valid() ? program_.values[id].tensor : TensorId(); }

  void check_kind() const {
    const Kind kind = what().kind;
    const bool communicates = is_transfer(kind) || is_collective(kind);
    expect((what().stream == Stream::Communication) == communicates, "it is on the wrong stream");
    expect(what().task.valid(), "it belongs to no task");
    expect(is_op(kind) ? what().op.valid() && what().op.index() < graph_.op_count()
                       : !what().op.valid(),
           "its op is out of range");
    expect(is_transfer(kind) ? what().peer.valid() && what().peer != program_.device
                             : !what().peer.valid(),
           "its peer is out of range");
    expect(what().duration >= Nanos(0) && what().bytes >= Bytes(0), "it takes less than nothing");
    const Part& part = what().part;
    const AxisRange* samples = part.along(kBatchAxis);
    expect(std::ranges::all_of(part.ranges(),
                               [](const AxisRange& range) {
                                 return range.begin >= 0 && range.begin <= range.end;
                               }) &&
               (!samples || (samples->begin < samples->end && samples->end <= graph_.batch())),
           "its part is out of range");
  }

  void check_links() const {
    const auto waits = program_.waits[at_];
    expect(ascending(waits) && (waits.empty() || waits.back() < at_), "it waits for a later one");
    for (const std::uint32_t earlier : waits)
      expect(program_.instructions[earlier].stream != what().stream ||
                 what().stream == Stream::Communication,
             "it waits for its own stream");
    const auto members = program_.members[at_];
    if (!is_collective(what().kind)) return expect(members.empty(), "it has members");
    std::vector<DeviceId> sorted(members.begin(), members.end());  // else in a ring's order
    std::sort(sorted.begin(), sorted.end());
    expect(sorted.size() >= 2 && sorted.front().valid() &&
               ascending(std::span<const DeviceId>(sorted)) &&
               std::binary_search(sorted.begin(), sorted.end(), program_.device),
           "its members are there twice or lack this rank");
  }

  void check_operands() const {
    for (const auto* rows : {&program_.reads, &program_.writes, &program_.releases})
      for (const ValueId id : (*rows)[at_])
        expect(id.valid() ? id.index() < program_.values.size()
                          : is_op(what().kind) && rows == &program_.reads,
               "a value is out of range");
    const std::size_t reads = program_.reads[at_].size(), writes = program_.writes[at_].size();
    if (is_op(what().kind)) {
      check_op();
    } else if (what().kind == Kind::AllReduce) {
      expect(reads >= 1 && (writes == 0 || (reads == 1 && writes == 1)), "its values do not fit");
    } else {
      const bool many = what().kind == Kind::Concat || what().kind == Kind::Sum;
      const std::size_t from = what().kind == Kind::Receive ? 0 : 1;
      const std::size_t to = what().kind == Kind::Send ? 0 : 1;
      expect((many ? reads >= 1 : reads == from) && writes == to, "its values do not fit");
    }
    check_bytes();
    check_cuts();
  }

  void check_op() const {
    const Op& op = graph_.op(what().op);
    const auto reads = program_.reads[at_];
    const auto writes = program_.writes[at_];
    const bool update = what().kind == Kind::Update, view = what().kind == Kind::View;
    expect(update == (op.phase == Phase::Update) && (!view || is_alias(graph_, what().op)),
           "its op is of another kind");
    expect(reads.size() == op.inputs.size() && writes.size() == (update ? 0 : op.outputs.size()),
           "its values do not fit");
    expect(what().part.cuts().size() <= 1 || (update && is_in(op.inputs.front())),
           "its part is out of range");
    for (std::size_t i = 0; i < reads.size(); ++i)
      expect(tensor(reads[i]) == op.inputs[i] || (view && i > 0 && !reads[i].valid()),
             "it reads something else than its op");
    for (std::size_t o = 0; o < writes.size(); ++o)
      expect(tensor(writes[o]) == op.outputs[o], "it writes something else than its op");
  }

  void check_bytes() const {
    const auto reads = program_.reads[at_];
    const auto writes = program_.writes[at_];
    if (is_transfer(what().kind)) return check_transfer(value((reads.empty() ? writes : reads)[0]));
    if (is_op(what().kind) || writes.empty()) return;
    bool encoded = value(writes.front()).encoding != Encoding::None;
    for (const ValueId id : reads) encoded = encoded || value(id).encoding != Encoding::None;
    if (encoded) return check_encoded(reads, writes.front());
    const Bytes made = bytes(writes.front());
    Bytes sum;
    for (const ValueId id : reads) {
      const Bytes read = bytes(id);
      sum += read;
      const bool alike = what().kind == Kind::Sum || what().kind == Kind::AllReduce;
      expect(alike ? read == made : true, "it makes another size than it reads");
    }
    const Kind kind = what().kind;
    expect(kind != Kind::Concat || sum == made, "it makes another size than it reads");
    expect(kind != Kind::AllGather || sum <= made, "it makes another size than it reads");
    expect((kind != Kind::Split && kind != Kind::ReduceScatter) || sum >= made,
           "it makes another size than it reads");
    if (kind == Kind::Split || kind == Kind::Concat) check_ranges(reads, writes.front());
    for (const ValueId id : reads)
      expect(tensor(id) == tensor(writes.front()) || kind == Kind::AllReduce,
             "it makes another tensor than it reads");
  }

  void check_transfer(const Value& moved) const {
    expect(!moves_slice(what(), moved) || (moved.resident && is_in(moved.tensor)),
           "it moves a slice that its value does not have");
  }
  bool is_in(TensorId tensor) const {
    return is_part_of(what().part, graph_.tensor(tensor), graph_.batch());
  }

  // A Split encodes, a Concat or Sum decodes, an AllReduce adds halves, an AllGather collects.
  void check_encoded(std::span<const ValueId> reads, ValueId write) const {
    const Kind kind = what().kind;
    const bool decoded = value(write).encoding == Encoding::None;
    std::int64_t slots = 0;
    for (const ValueId id : reads) {
      expect(tensor(id) == tensor(write), "it makes another tensor than it reads");
      const bool plain = value(id).encoding == Encoding::None;
      expect(kind != Kind::Split || plain, "it encodes what is encoded");
      const bool alike = shape_of(graph_.tensor(tensor(id)), value(id).part, graph_.batch()) ==
                         shape_of(graph_.tensor(tensor(id)), value(write).part, graph_.batch());
      expect(kind == Kind::Split || alike, "it makes another size than it reads");
      slots += value(id).record_count;
    }
    if (kind == Kind::Split) check_ranges(reads, write);
    expect((kind == Kind::Concat && decoded && reads.size() == 1) ||
               (kind == Kind::Sum && decoded) || (kind == Kind::Split && !decoded) ||
               (kind == Kind::AllGather && is_gathered(value(write).encoding) &&
                value(write).encoding == value(reads[0]).encoding &&
                slots <= value(write).record_count),
           "its values are encoded in other ways");
  }

  // A part lies within what it is cut from, or made of.
  void check_ranges(std::span<const ValueId> reads, ValueId write) const {
    const Part& made = value(write).part;
    std::int32_t next = made.first().begin;
    for (const ValueId id : reads) {
      const Part& part = value(id).part;
      if (what().kind == Kind::Split) {
        expect(is_cut_from(made, part), "a part is not one of the whole");
        continue;
      }
      expect(is_cut_from(part, made), "a part is not one of the whole");
      const AxisRange range = part.first();
      expect(made.is_whole() || range.axis == made.first().axis,
             "its parts are along another axis");
      expect(part.without(range.axis) == made.without(range.axis),
             "its parts are cut along several axes");
      expect(range.begin == next, "its parts leave a gap");
      next = range.end;
    }
  }

  void check_cuts() const {
    const auto cuts = program_.cuts[at_];
    const auto members = program_.members[at_];
    if (!has_cuts(what().kind)) return expect(cuts.empty(), "it has cuts");
    const bool gathers = what().kind == Kind::AllGather;
    const ValueId whole = (gathers ? program_.writes : program_.reads)[at_].front();
    if (is_gathered(value(whole).encoding))
      return check_slots(whole, value(program_.reads[at_].front()));
    const Part& part = value((gathers ? program_.reads : program_.writes)[at_].front()).part;
    expect((part.is_slice() || part.is_samples()) && part.cuts().size() <= 1,
           "its part is all of it, or cut along several axes");
    const Shape& shape = graph_.tensor(tensor(whole)).shape;
    const std::int64_t extent =
        part.is_slice() ? shape[static_cast<std::size_t>(part.first().axis)] : graph_.batch();
    expect(cuts.size() == members.size() + 1 && ascending(cuts) && cuts.front() == 0 &&
               cuts.back() == extent,
           "its cuts are not of the whole");
    const std::size_t own = own_place();
    expect(part.first().begin == cuts[own] && part.first().end == cuts[own + 1],
           "its cuts are not its part's");
    const Part& all = value(whole).part;
    expect(gathers ? all.is_whole() : all.is_partial_sum(), "its whole is none");
  }

  // Of this device among the members, which may stand in a ring's order.
  std::size_t own_place() const {
    const auto members = program_.members[at_];
    const auto found = std::find(members.begin(), members.end(), program_.device);
    expect(found != members.end(), "this device is none of its members");
    return static_cast<std::size_t>(found - members.begin());
  }

  void check_slots(ValueId whole, const Value& part) const {
    const auto cuts = program_.cuts[at_];
    const auto members = program_.members[at_];
    expect(cuts.size() == members.size() + 1 && ascending(cuts) && cuts.front() == 0 &&
               cuts.back() == value(whole).record_count,
           "its cuts are not of the whole");
    const std::size_t own = own_place();
    expect(part.record_count == cuts[own + 1] - cuts[own], "its cuts are not its part's");
  }

  const RankProgram& program_;
  const std::size_t at_;
  const Graph& graph_;
  const RankRefusal& refusal_;
};

}  // namespace

void check_instruction(const RankProgram& program, std::size_t instruction, const Graph& graph,
                       const RankRefusal& refusal) {
  InstructionCheck(program, instruction, graph, refusal).run();
}

}  // namespace strato
