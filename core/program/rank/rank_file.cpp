#include "core/program/rank/rank_file.h"

#include <type_traits>
#include <utility>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/io/byte_io.h"
#include "core/program/rank/rank_validate.h"

namespace strato {
namespace {

// Layout: magic, version, digest of the rest; then rank, device, values, instructions, each with
// its rows. All numbers little endian, lists with their length first.
constexpr std::string_view kMagic = "STRATORP";
constexpr ByteReader::Words kWords{"the rank's program", "stage the job again"};

void write_piece(ByteWriter& out, const Piece& piece) {
  out.number(piece.form).number(piece.axis).number(piece.begin).number(piece.end);
  out.number(piece.from).number(piece.until);
  std::uint8_t more = 0;
  for (const AxisRange& range : piece.more) more += range.axis >= 0;
  out.number(more);
  for (std::size_t i = 0; i < more; ++i)
    out.number(piece.more[i].axis).number(piece.more[i].begin).number(piece.more[i].end);
}

void write_instruction(ByteWriter& out, const Instruction& what) {
  out.number(what.kind).number(what.stream).number(what.task.value()).number(what.op.value());
  write_piece(out, what.piece);
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

  Piece piece() {
    Piece result;
    result.form = in_.enumerated(Piece::Form::Slice);
    result.axis = in_.number<std::int8_t>();
    result.begin = in_.number<std::int32_t>();
    result.end = in_.number<std::int32_t>();
    result.from = in_.number<std::int32_t>();
    result.until = in_.number<std::int32_t>();
    const auto more = in_.number<std::uint8_t>();
    if (more > result.more.size()) in_.damaged("a piece is cut along too many axes");
    for (std::size_t i = 0; i < more; ++i) {
      AxisRange& range = result.more[i];
      range.axis = in_.number<std::int8_t>();
      range.begin = in_.number<std::int32_t>();
      range.end = in_.number<std::int32_t>();
      if (range.axis < 0) in_.damaged("a piece is cut along no axis");
    }
    return result;
  }

  Value value() {
    Value result;
    result.tensor = id<TensorId>();
    result.piece = piece();
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
    what.piece = piece();
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
    write_piece(body.number(value.tensor.value()), value.piece);
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
