#include "core/program/rank/rank_file.h"

#include <type_traits>
#include <utility>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/io/byte_io.h"

namespace strato {
namespace {

// Layout: magic, version, digest of the rest; then rank, device, values, those of the loss,
// instructions, each with its rows. All numbers little endian, lists with their length first.
constexpr std::string_view kMagic = "STRATORP";
constexpr ByteReader::Words kWords{"the rank's program", "stage the job again"};

// A part: what its flags say, the number of its ranges and these; before them the period and times
// of samples that repeat.
constexpr std::uint8_t kSumsSamples = 1, kRepeats = 2;
// Of a value.
constexpr std::uint8_t kResident = 1, kOnHost = 2;

void write_part(ByteWriter& out, const Part& part) {
  const bool repeats = part.times() > 1;
  out.number(static_cast<std::uint8_t>((part.sums_samples() ? kSumsSamples : 0) |
                                       (repeats ? kRepeats : 0)));
  out.number(static_cast<std::uint8_t>(part.ranges().size()));
  if (repeats) out.number(part.period()).number(part.times());
  for (const AxisRange& range : part.ranges())
    out.number(range.axis).number(range.begin).number(range.end);
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
    for (std::size_t left = in_.count(12); left > 0; --left) program.values.push_back(value());
    for (std::size_t left = in_.count(4); left > 0; --left) program.losses.push_back(id<ValueId>());
    for (std::size_t left = in_.count(52); left > 0; --left) read_instruction(program);
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
    const auto flags = in_.number<std::uint8_t>(), count = in_.number<std::uint8_t>();
    const bool sums = (flags & kSumsSamples) != 0, repeats = (flags & kRepeats) != 0;
    if (flags > (kSumsSamples | kRepeats) || (repeats && !sums))
      in_.damaged("a part is of no form");
    if (count > kMostCutAxes + 2) in_.damaged("a part is cut along too many axes");
    const auto period = repeats ? in_.number<std::int32_t>() : 0;
    const auto times = repeats ? in_.number<std::int32_t>() : 1;
    Part result;
    for (std::uint8_t i = 0; i < count; ++i) {
      AxisRange range{in_.number<std::int8_t>(), 0, 0};
      range.begin = in_.number<std::int32_t>();
      range.end = in_.number<std::int32_t>();
      if (range.axis < kBatchAxis || result.sums_letter() ||
          (i > 0 && range.axis <= result.ranges().back().axis))
        in_.damaged("a part is cut along axes out of order");
      const bool summed = sums && i == 0 && range.axis == kBatchAxis;
      result = summed ? Part::partial_sum(range.begin, range.end) : result.cut(range);
    }
    if (sums != result.sums_samples()) in_.damaged("a part is of no form");
    if (!repeats) return result;
    const AxisRange samples = result.first();
    if (samples.begin < 0 || samples.end <= samples.begin || samples.size() > period || times < 2)
      in_.damaged("the samples of a part overlap where they repeat");
    return result.repeated(period, times);
  }

  Value value() {
    Value result;
    result.tensor = id<TensorId>();
    result.part = part();
    const auto flags = in_.number<std::uint8_t>();
    if (flags > (kResident | kOnHost)) in_.damaged("a value is out of range");
    result.resident = (flags & kResident) != 0;
    result.on_host = (flags & kOnHost) != 0;
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
    what.kind = in_.enumerated(InstructionKind::Fetch);
    what.stream = in_.enumerated(Stream::TensorCommunication);
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
    body.number(static_cast<std::uint8_t>((value.resident ? kResident : 0) |
                                          (value.on_host ? kOnHost : 0)));
    body.number(value.encoding).number(value.record_count);
  }
  write_row(body, std::span(program.losses));
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
