// What must hold for a rank's program that came from a file.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/program/rank/rank_file.h"
#include "core/program/value/op_parts.h"
#include "core/program/value/program_task.h"
#include "core/program/value/tables.h"
#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

using Kind = InstructionKind;

bool is_op(Kind kind) {
  return kind == Kind::Compute || kind == Kind::View || kind == Kind::Update;
}
bool is_transfer(Kind kind) { return kind == Kind::Send || kind == Kind::Receive; }
bool is_collective(Kind kind) {
  return kind == Kind::AllReduce || kind == Kind::AllGather || kind == Kind::ReduceScatter ||
         kind == Kind::AllToAll;
}

// An update adds it.
bool is_gradient(const Graph& graph, TensorId id) {
  return std::ranges::any_of(graph.consumers(id), [&](OpId reader) {
    const Op& op = graph.op(reader);
    return op.phase == Phase::Update && op.inputs.size() > 1 && op.inputs[1] == id;
  });
}

// What partial sums are changed to in place: sums over more micro-batches, or the total.
bool is_cut_from_sum(const Part& made, const Part& sum) {
  if (!made.is_partial_sum()) return is_cut_from(made, sum.total());
  return made.times() > 1 && is_cut_from(made.repeated(made.period(), 1), sum);
}

class RankCheck {
 public:
  RankCheck(const RankProgram& program, const Graph& graph, const std::string& file)
      : program_(program), graph_(graph), file_(file), life_(program.values.size()) {}

  void run() {
    if (program_.rank < 0 || !program_.device.valid()) refuse("", "it is of no rank or device");
    for (const Value& value : program_.values) check_value(value);
    if (!is_ascending(std::span(program_.losses)) ||
        std::ranges::any_of(program_.losses, [&](ValueId id) {
          return !id.valid() || id.index() >= program_.values.size();
        }))
      refuse("losses", "a value is out of range");
    for (at_ = 0; at_ < program_.instructions.size(); ++at_) {
      check_kind();
      check_links();
      check_operands();
      follow_values();
    }
  }

 private:
  enum class Life : std::uint8_t { Absent, There, Released };

  [[noreturn]] void refuse(const std::string& place, const char* problem) const {
    throw InputError(file_, place, problem, "stage the job again");
  }
  void expect(bool holds, const char* problem) const {  // of the instruction
    if (!holds) refuse(fmt::format("instruction {}", at_), problem);
  }
  const Instruction& what() const { return program_.instructions[at_]; }
  std::span<const ValueId> reads() const { return program_.reads[at_]; }
  std::span<const ValueId> writes() const { return program_.writes[at_]; }
  const Value& value(ValueId id) const { return program_.values[id]; }
  TensorId tensor(ValueId id) const { return id.valid() ? value(id).tensor : TensorId(); }

  // Its tensor is in range of the graph, its part and encoding are possible for that.
  void check_value(const Value& value) const {
    if (!value.tensor.valid() || value.tensor.index() >= graph_.tensor_count())
      refuse("values", "a tensor is out of range");
    const Tensor& tensor = graph_.tensor(value.tensor);
    const Part& part = value.part;
    const bool some_samples = part.along(kBatchAxis) && !part.sums_samples();
    if (!is_part_of(part, tensor, graph_.batch()) ||
        (some_samples && tensor.batch.kind != BatchKind::Batched) ||
        !is_of_its_letter(part, tensor))
      refuse("values", "a part is not one of its tensor");
    if (value.record_count < 0 || (value.record_count > 0) != is_gathered(value.encoding) ||
        (value.encoding != Encoding::None && (value.resident || value.on_host)) ||
        value.encoding == Encoding::SufficientFactors ||
        (value.encoding == Encoding::SparseRows && tensor.shape.empty()) ||
        (value.encoding == Encoding::LowRank && !is_matrix(tensor)))
      refuse("values", "an encoding is not one of its tensor");
    if (value.resident && tensor.producer.valid() && !is_gradient(graph_, value.tensor))
      refuse("values", "a tensor is not resident");
  }

  // A sum over some indices of a letter is of one that the tensor's producer sums over.
  bool is_of_its_letter(const Part& part, const Tensor& tensor) const {
    if (!part.sums_letter()) return true;
    if (!tensor.producer.valid()) return false;
    const std::vector<LetterSplit> splits = letter_splits(graph_, tensor.producer);
    const AxisRange range = part.addend();
    const auto split = static_cast<std::size_t>(range.axis - kSummedAxis);
    return split < splits.size() && range.end <= splits[split].extent;
  }

  void check_kind() const {
    const Kind kind = what().kind;
    const bool communicates = is_transfer(kind) || is_collective(kind) || is_host_copy(kind);
    expect((what().stream != Stream::Compute) == communicates &&
               (what().stream != Stream::TensorCommunication || is_collective(kind)),
           "it is on the wrong stream");
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
    expect(is_ascending(waits) && (waits.empty() || waits.back() < at_),
           "it waits for a later one");
    for (const std::uint32_t earlier : waits)
      expect(program_.instructions[earlier].stream != what().stream ||
                 what().stream != Stream::Compute,
             "it waits for its own stream");
    const auto members = program_.members[at_];
    if (!is_collective(what().kind)) return expect(members.empty(), "it has members");
    std::vector<DeviceId> sorted(members.begin(), members.end());  // else in a ring's order
    std::ranges::sort(sorted);
    expect(sorted.size() >= 2 && sorted.front().valid() &&
               is_ascending(std::span<const DeviceId>(sorted)) &&
               std::ranges::binary_search(sorted, program_.device),
           "its members are there twice or lack this rank");
  }

  // The reads and writes are those of its kind, of sizes that fit.
  void check_operands() const {
    for (const auto* rows : {&program_.reads, &program_.writes, &program_.releases})
      for (const ValueId id : (*rows)[at_])
        expect(id.valid() ? id.index() < program_.values.size()
                          : is_op(what().kind) && rows == &program_.reads,
               "a value is out of range");
    if (is_op(what().kind)) {
      check_op();
    } else if (what().kind == Kind::AllReduce) {
      expect(
          !reads().empty() && (writes().empty() || (reads().size() == 1 && writes().size() == 1)),
          "its values do not fit");
    } else {
      const bool many = what().kind == Kind::Concat || what().kind == Kind::Sum;
      const std::size_t from = what().kind == Kind::Receive ? 0 : 1;
      const bool adds = what().kind == Kind::Sum && writes().empty();
      const std::size_t to = what().kind == Kind::Send || adds ? 0 : 1;
      expect((many ? !reads().empty() : reads().size() == from) && writes().size() == to,
             "its values do not fit");
    }
    check_ends();
    check_bytes();
    check_cuts();
  }

  // Only copies touch what is on the host: they have one end there, of the same part.
  void check_ends() const {
    const Kind kind = what().kind;
    const auto on_host = [&](ValueId id) { return id.valid() && value(id).on_host; };
    expect(std::ranges::all_of(reads(),
                               [&](ValueId id) {
                                 return id.valid() ? on_host(id) == (kind == Kind::Fetch) : true;
                               }) &&
               std::ranges::all_of(
                   writes(), [&](ValueId id) { return on_host(id) == (kind == Kind::Offload); }),
           "it is at the wrong end of the way to the host");
    if (!is_host_copy(kind)) return;
    const Value &from = value(reads().front()), &to = value(writes().front());
    expect(from.part.summed_up() == to.part.summed_up() && from.encoding == to.encoding,
           "it copies another part");
  }

  void check_op() const {
    const Op& op = graph_.op(what().op);
    const bool update = what().kind == Kind::Update, view = what().kind == Kind::View;
    expect(update == (op.phase == Phase::Update) && (!view || is_alias(graph_, what().op)),
           "its op is of another kind");
    expect(
        reads().size() == op.inputs.size() && writes().size() == (update ? 0 : op.outputs.size()),
        "its values do not fit");
    expect(what().part.cuts().size() <= 1 || (update && is_in(op.inputs.front())) ||
               (!update && !op.outputs.empty() && is_in(op.outputs.front()) &&
                !letters_of(graph_, what().op, what().part).empty()),
           "its part is out of range");
    for (std::size_t i = 0; i < reads().size(); ++i)
      expect(tensor(reads()[i]) == op.inputs[i] || (view && i > 0 && !reads()[i].valid()),
             "it reads something else than its op");
    for (std::size_t o = 0; o < writes().size(); ++o)
      expect(tensor(writes()[o]) == op.outputs[o], "it writes something else than its op");
  }
  bool is_in(TensorId tensor) const {
    return is_part_of(what().part, graph_.tensor(tensor), graph_.batch());
  }

  void check_bytes() const {
    const Kind kind = what().kind;
    if (is_transfer(kind)) {
      const Value& moved = value((reads().empty() ? writes() : reads())[0]);
      return expect(!moves_slice(what(), moved) || (moved.resident && is_in(moved.tensor)),
                    "it moves a slice that its value does not have");
    }
    const bool adds = kind == Kind::Sum && writes().empty();
    if (is_op(kind) || (writes().empty() && !adds)) return;
    const ValueId write = adds ? reads().front() : writes().front();
    const auto encoded = [&](ValueId id) { return value(id).encoding != Encoding::None; };
    if (encoded(write) || std::ranges::any_of(reads(), encoded)) return check_encoded(write);
    constexpr const char* kOtherSize = "it makes another size than it reads";
    const Bytes made = bytes_of(graph_, value(write));
    Bytes sum;
    for (const ValueId id : reads()) {
      const Bytes read = bytes_of(graph_, value(id));
      sum += read;
      expect((kind != Kind::Sum && kind != Kind::AllReduce) || read == made, kOtherSize);
    }
    expect(kind != Kind::Concat || sum == made, kOtherSize);
    expect(kind != Kind::AllGather || sum <= made, kOtherSize);
    if (kind == Kind::AllToAll)  // check_cuts() looks at its parts
      return expect(tensor(reads().front()) == tensor(write),
                    "it makes another tensor than it reads");
    expect((kind != Kind::Split && kind != Kind::ReduceScatter) || sum >= made, kOtherSize);
    expect(!is_host_copy(kind) || sum == made, kOtherSize);
    if (kind == Kind::Split || kind == Kind::Concat) check_ranges(write);
    for (const ValueId id : reads())
      expect(tensor(id) == tensor(write) || kind == Kind::AllReduce,
             "it makes another tensor than it reads");
  }

  // A Split encodes, a Concat or Sum decodes, an AllReduce adds halves, an AllGather collects.
  void check_encoded(ValueId write) const {
    const Kind kind = what().kind;
    const bool decoded = value(write).encoding == Encoding::None;
    const auto shape = [&](ValueId id) {
      return shape_of(graph_.tensor(tensor(id)), value(id).part, graph_.batch());
    };
    std::int64_t slots = 0;
    for (const ValueId id : reads()) {
      expect(tensor(id) == tensor(write), "it makes another tensor than it reads");
      expect(kind != Kind::Split || value(id).encoding == Encoding::None,
             "it encodes what is encoded");
      expect(kind == Kind::Split || shape(id) == shape(write),
             "it makes another size than it reads");
      slots += value(id).record_count;
    }
    if (kind == Kind::Split) check_ranges(write);
    expect((kind == Kind::Concat && decoded && reads().size() == 1) ||
               (kind == Kind::Sum && decoded) || (kind == Kind::Split && !decoded) ||
               (kind == Kind::AllGather && is_gathered(value(write).encoding) &&
                value(write).encoding == value(reads()[0]).encoding &&
                slots <= value(write).record_count),
           "its values are encoded in other ways");
  }

  // A part lies within what it is cut from, or made of.
  void check_ranges(ValueId write) const {
    const Part& made = value(write).part;
    std::optional<std::int32_t> next;
    for (const ValueId id : reads()) {
      const bool joins = what().kind == Kind::Concat && !made.is_partial_sum();
      const Part part = joins ? value(id).part.summed_up() : value(id).part;
      if (what().kind == Kind::Split) {
        expect(is_cut_from(made, part) || (part.is_partial_sum() && is_cut_from_sum(made, part)),
               "a part is not one of the whole");
        continue;
      }
      expect(is_cut_from(part, made), "a part is not one of the whole");
      const int axis = joined_axis(part, made);
      const AxisRange range = range_along(graph_, value(id).tensor, part, axis);
      const AxisRange all = range_along(graph_, value(id).tensor, made, axis);
      expect(part.without(axis) == made.without(axis), "its parts are cut along several axes");
      expect(range.begin == next.value_or(all.begin), "its parts leave a gap");
      next = range.end;
    }
  }

  void check_cuts() const {
    if (what().kind == Kind::AllToAll) return check_swap();
    const bool gathers = what().kind == Kind::AllGather;
    if (!gathers && what().kind != Kind::ReduceScatter)
      return expect(program_.cuts[at_].empty(), "it has cuts");
    const Value& whole = value((gathers ? writes() : reads()).front());
    if (is_gathered(whole.encoding)) {
      const AxisRange records = own_cut({kBatchAxis, 0, whole.record_count});
      return expect(value(reads().front()).record_count == records.size(),
                    "its cuts are not its part's");
    }
    const Part part = value((gathers ? reads() : writes()).front()).part.summed_up();
    expect(gathers || whole.part.is_partial_sum(), "its whole is none");
    const Part all = gathers ? whole.part : whole.part.summed_up();
    expect(!part.is_partial_sum() && part != all, "its part is all of it");
    const int axis = joined_axis(part, all);
    expect(part.along(axis) && part.without(axis) == all.without(axis), "its whole is none");
    const AxisRange own = own_cut(range_along(graph_, whole.tensor, all, axis));
    expect(part.along(axis)->begin == own.begin && part.along(axis)->end == own.end,
           "its cuts are not its part's");
  }

  // Parts along one axis of what the instruction's part names, and along another one.
  void check_swap() const {
    const Value &from = value(reads().front()), &to = value(writes().front());
    const Part& all = what().part;
    const auto cuts = program_.cuts[at_];
    const std::size_t count = program_.members[at_].size() + 1;
    expect(from.encoding == Encoding::None && to.encoding == Encoding::None && !from.resident &&
               !to.resident && is_part_of(all, graph_.tensor(from.tensor), graph_.batch()) &&
               !all.is_partial_sum() && cuts.size() == 2 * count,
           "its cuts are not of the whole");
    const int first = check_cut_of(from, all, cuts.first(count));
    expect(first != check_cut_of(to, all, cuts.last(count)), "it swaps nothing");
  }
  // Of what was a partial sum when it was written, as it is now.
  int check_cut_of(const Value& of, const Part& all, std::span<const std::int32_t> cuts) const {
    const Part part = of.part.summed_up();
    expect(part != all, "its part is all of it");
    const int axis = joined_axis(part, all);
    const AxisRange* range = part.along(axis);
    expect(range && part.without(axis) == all.without(axis), "its whole is none");
    const AxisRange own = own_cut(range_along(graph_, of.tensor, all, axis), cuts);
    expect(range->begin == own.begin && range->end == own.end, "its cuts are not its part's");
    return axis;
  }

  // Of this device among the members, which may stand in a ring's order.
  AxisRange own_cut(const AxisRange& all) const { return own_cut(all, program_.cuts[at_]); }
  AxisRange own_cut(const AxisRange& all, std::span<const std::int32_t> cuts) const {
    const auto members = program_.members[at_];
    expect(cuts.size() == members.size() + 1 && is_ascending(cuts) && cuts.front() == all.begin &&
               cuts.back() == all.end,
           "its cuts are not of the whole");
    const auto own =
        static_cast<std::size_t>(std::ranges::find(members, program_.device) - members.begin());
    return {kBatchAxis, cuts[own], cuts[own + 1]};
  }

  // Values are written once, before they are read, and not used after their release.
  void follow_values() {
    for (const ValueId id : reads())
      expect(!id.valid() || value(id).resident || life_[id] == Life::There,
             "it reads what is not there");
    for (const ValueId id : writes()) {
      const bool kept =
          what().kind == Kind::Split && graph_.tensor(value(id).tensor).producer.valid();
      const bool in_place = kept || what().kind == Kind::Receive || what().kind == Kind::Offload;
      expect(value(id).resident ? in_place : life_[id] == Life::Absent, "it writes a value again");
      life_[id] = Life::There;
    }
    for (const ValueId id : program_.releases[at_]) {
      expect(!value(id).resident && life_[id] == Life::There, "it releases what is not there");
      life_[id] = Life::Released;
    }
  }

  const RankProgram& program_;
  const Graph& graph_;
  const std::string& file_;
  IdVector<ValueId, Life> life_;
  std::size_t at_ = 0;  // the instruction that is looked at
};

}  // namespace

void validate_rank_program(const RankProgram& program, const Graph& graph,
                           const std::string& name) {
  RankCheck(program, graph, name).run();
}

}  // namespace strato
