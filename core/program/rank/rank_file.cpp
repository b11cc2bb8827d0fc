#include "core/program/rank/rank_file.h"

#include <array>
#include <type_traits>
#include <utility>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/io/byte_io.h"

namespace strato {
namespace {

// Layout: magic, version, digest of the rest; then rank, device, values, instructions, each with
// its rows. All numbers little endian, lists with their length first.
constexpr std::string_view kMagic = "STRATORP";
constexpr ByteReader::Words kWords{"the rank's program", "stage the job again"};

// How a part is laid out: its form, the first axis that is cut, the first range, the range of that
// axis where the first is of samples; then the ranges along further axes. Of a partial sum whose
// samples repeat, its period and times follow the form.
struct PartLayout {
  enum class Form : std::uint8_t {
    Whole,
    Samples,
    PartialSum,
    Slice,
    RepeatedSum
  } form = Form::Whole;
  std::int8_t axis = kBatchAxis;
  std::array<std::int32_t, 4> bounds{};
  friend bool operator==(const PartLayout&, const PartLayout&) = default;
};
using Form = PartLayout::Form;

PartLayout layout_of(const Part& part) {
  const AxisRange first = part.first(), cut = part.cuts().empty() ? AxisRange() : part.cuts()[0];
  const AxisRange after = part.is_slice() ? AxisRange() : cut;
  const Form form = part.is_whole()         ? Form::Whole
                    : part.is_slice()       ? Form::Slice
                    : part.times() > 1      ? Form::RepeatedSum
                    : part.is_partial_sum() ? Form::PartialSum
                                            : Form::Samples;
  return {form, cut.axis, {first.begin, first.end, after.begin, after.end}};
}

void write_part(ByteWriter& out, const Part& part) {
  const PartLayout layout = layout_of(part);
  out.number(layout.form).number(layout.axis);
  if (layout.form == Form::RepeatedSum) out.number(part.period()).number(part.times());
  for (const std::int32_t bound : layout.bounds) out.number(bound);
  const auto more = part.cuts().empty() ? part.cuts() : part.cuts().subspan(1);
  out.number(static_cast<std::uint8_t>(more.size()));
  for (const AxisRange& range : more) out.number(range.axis).number(range.begin).number(range.end);
}

void write_instruction(ByteWriter& out, const Instruction& what) {
  out.number(what.kind).number(what.stream).number(what.task.value()).number(what.op.value());
  write_part(out, what.part);
  out.number(what.peer.value()).number(what.duration.value).number(what.bytes.value);
}

template <class T>
void write_row(ByteWriter& out, std::span<const T> row) {
  out.number(static_cast<std::uint32_t>(row.size()));
  for (const T element : row) {
    if constexpr (std::is_arithmetic_v<T>)
      out.number(element);
    else
      out.number(element.value());
  }
}

class RankReader {
 public:
  RankReader(std::string_view bytes, const std::string& file) : in_(bytes, file, kWords) {}

  RankProgram read() {
    RankProgram program;
    program.rank = in_.number<std::int32_t>();
    program.device = id<DeviceId>();
    for (std::size_t left = in_.count(29); left > 0; --left) program.values.push_back(value());
    for (std::size_t left = in_.count(69); left > 0; --left) read_instruction(program);
    if (!in_.at_end()) in_.damaged("bytes are left over");
    return program;
  }

 private:
  template <class I>
  I id() {
    const auto value = in_.number<std::int32_t>();
    if (value < -1) in_.damaged("a reference is out of range");
    return value < 0 ? I() : I(static_cast<std::size_t>(value));
  }

  Part part() {
    PartLayout layout{in_.enumerated(Form::RepeatedSum), in_.number<std::int8_t>(), {}};
    const bool repeats = layout.form == Form::RepeatedSum;
    const auto period = repeats ? in_.number<std::int32_t>() : 0;
    const auto times = repeats ? in_.number<std::int32_t>() : 1;
    for (std::int32_t& bound : layout.bounds) bound = in_.number<std::int32_t>();
    const auto [begin, end, from, until] = layout.bounds;
    Part result;
    if (layout.form == Form::Samples) result = Part::samples(begin, end);
    if (layout.form == Form::PartialSum) result = Part::partial_sum(begin, end);
    if (layout.form == Form::Slice) result = Part::slice(layout.axis, begin, end);
    if (repeats) {
      if (begin < 0 || end <= begin || end - begin > period || times < 2)
        in_.damaged("the samples of a part overlap where they repeat");
      result = Part::partial_sum(begin, end).repeated(period, times);
    }
    if ((repeats || layout.form == Form::PartialSum) && layout.axis >= 0)
      result = result.cut({layout.axis, from, until});
    if (layout_of(result) != layout) in_.damaged("a part is of no form");
    const auto more = in_.number<std::uint8_t>();
    if (more >= kMostCutAxes || (more > 0 && layout.axis == kBatchAxis))
      in_.damaged("a part is cut along too many axes");
    for (std::size_t i = 0; i < more; ++i) {
      AxisRange range{in_.number<std::int8_t>(), 0, 0};
      range.begin = in_.number<std::int32_t>();
      range.end = in_.number<std::int32_t>();
      if (range.axis <= result.cuts().back().axis)
        in_.damaged("a part is cut along axes out of order");
      result = result.cut(range);
    }
    return result;
  }

  Value value() {
    Value result;
    result.tensor = id<TensorId>();
    result.part = part();
    const auto resident = in_.number<std::uint8_t>();
    if (resident > 1) in_.damaged("a value is out of range");
    result.resident = resident == 1;
    result.encoding = in_.enumerated(Encoding::LowRank);
    result.record_count = in_.number<std::int32_t>();
    return result;
  }

  template <class T>
  void row(Rows<T>& rows) {
    for (std::size_t left = in_.count(4); left > 0; --left) {
      if constexpr (std::is_arithmetic_v<T>)
        rows.push(in_.number<T>());
      else
        rows.push(id<T>());
    }
    rows.end_row();
  }

  void read_instruction(RankProgram& program) {
    Instruction what;
    what.kind = in_.enumerated(InstructionKind::ReduceScatter);
    what.stream = in_.enumerated(Stream::Communication);
    what.task = id<TaskId>();
    what.op = id<OpId>();
    what.part = part();
    what.peer = id<DeviceId>();
    what.duration = Nanos(in_.number<std::int64_t>());
    what.bytes = Bytes(in_.number<std::int64_t>());
    program.instructions.push_back(what);
    row(program.reads);
    row(program.writes);
    row(program.releases);
    row(program.waits);
    row(program.members);
    row(program.cuts);
  }

  ByteReader in_;
};

}  // namespace

std::string write_rank_program(const RankProgram& program) {
  ByteWriter body;
  body.number(static_cast<std::int32_t>(program.rank)).number(program.device.value());
  body.number(static_cast<std::uint32_t>(program.values.size()));
  for (const Value& value : program.values) {
    write_part(body.number(value.tensor.value()), value.part);
    body.number(static_cast<std::uint8_t>(value.resident));
    body.number(value.encoding).number(value.record_count);
  }
  body.number(static_cast<std::uint32_t>(program.instructions.size()));
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    write_instruction(body, program.instructions[i]);
    write_row(body, program.reads[i]);
    write_row(body, program.writes[i]);
    write_row(body, program.releases[i]);
    write_row(body, program.waits[i]);
    write_row(body, program.members[i]);
    write_row(body, program.cuts[i]);
  }
  const std::string content = std::move(body).take();
  const Digest check = digest_of(content);
  ByteWriter head;
  head.number(static_cast<std::uint32_t>(RankProgram::kVersion));
  head.number(check.high).number(check.low);
  return std::string(kMagic) + std::move(head).take() + content;
}

RankProgram read_rank_program(std::string_view bytes, const Graph& graph, const std::string& name) {
  if (!bytes.starts_with(kMagic))
    throw InputError(name, "", "is not the program of a rank", "stage the job again");
  ByteReader head(bytes.substr(kMagic.size()), name, kWords);
  const auto version = head.number<std::uint32_t>();
  if (version != static_cast<std::uint32_t>(RankProgram::kVersion))
    throw InputError(name, "", "is a rank's program of format version " + std::to_string(version),
                     "run it with the worker of the program version that staged the job");
  Digest check;
  check.high = head.number<std::uint64_t>();
  check.low = head.number<std::uint64_t>();
  const std::string_view content = bytes.substr(kMagic.size() + 20);
  if (digest_of(content) != check) head.damaged("the check sum is wrong");
  RankProgram program = RankReader(content, name).read();
  validate_rank_program(program, graph, name);
  return program;
}

}  // namespace strato
