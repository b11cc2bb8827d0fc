#include "tests/plugins/engines/rank/in_process_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/base/error.h"
#include "core/program/value/program_task.h"

namespace strato {
namespace {

bool sends_or_receives(InstructionKind kind) {
  return kind == InstructionKind::Send || kind == InstructionKind::Receive;
}

template <class T>
void add(std::span<std::byte> to, std::span<const std::byte> term) {
  for (std::size_t at = 0; at < to.size(); at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to.data() + at, sizeof a);
    std::memcpy(&b, term.data() + at, sizeof b);
    a = static_cast<T>(a + b);
    std::memcpy(to.data() + at, &a, sizeof a);
  }
}

// As numbers of 16 bits: sign, 5 bits of exponent, 10 of the fraction.
float number_of(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                   : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return half >> 15 ? -size : size;
}
std::uint16_t half_of(float number) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(number) ? 1 << 15 : 0);
  const float size = std::min(std::abs(number), 65504.0f);
  int exponent = 0;
  std::frexp(size, &exponent);
  if (size == 0 || exponent < -13)  // subnormal
    return static_cast<std::uint16_t>(sign + std::lround(std::ldexp(size, 24)));
  const long fraction = std::lround(std::ldexp(size, 11 - exponent));  // 1024 to 2048
  return static_cast<std::uint16_t>(sign + ((exponent + 14) << 10) + fraction - 1024);
}
void add_halves(std::span<std::byte> to, std::span<const std::byte> term) {
  for (std::size_t at = 0; at < to.size(); at += 2) {
    std::uint16_t a, b;
    std::memcpy(&a, to.data() + at, 2);
    std::memcpy(&b, term.data() + at, 2);
    a = half_of(number_of(a) + number_of(b));
    std::memcpy(to.data() + at, &a, 2);
  }
}

void add(DataType type, std::span<std::byte> to, std::span<const std::byte> term) {
  CHECK(to.size() == term.size(), "terms of different sizes");
  if (type == DataType::F64) return add<double>(to, term);
  if (type == DataType::F32) return add<float>(to, term);
  if (type == DataType::F16) return add_halves(to, term);
  CHECK(type == DataType::I64, "a sum of another type");
  add<std::int64_t>(to, term);
}

std::span<std::byte> bytes_of(std::string& text) { return std::as_writable_bytes(std::span(text)); }

// How the pieces of a tensor lie in it: `runs` times one after another, of so many bytes an index.
struct Layout {
  Layout(const Graph& graph, TensorId id, const Part& part, const Part& of, std::int64_t extent,
         std::size_t bytes) {
    const Tensor& tensor = graph.tensor(id);
    const int cut = joined_axis(part.summed_up(), of.summed_up());
    const bool slice = cut != kBatchAxis;
    const auto axis = static_cast<std::size_t>(slice ? cut : tensor.batch.axis);
    const Shape shape = shape_of(tensor, part, graph.batch());
    for (std::size_t i = 0; i < axis; ++i) runs *= static_cast<std::size_t>(shape[i]);
    if (!slice) runs *= static_cast<std::size_t>(tensor.batch.blocks);
    each = bytes / runs / static_cast<std::size_t>(extent);
    row = bytes / runs;
  }
  Layout(std::int64_t records, std::size_t bytes)
      : each(bytes / static_cast<std::size_t>(records)), row(bytes) {}
  // Copies between a piece and the whole.
  void copy(std::span<std::byte> whole, std::span<std::byte> piece, std::int32_t begin,
            std::int32_t end, bool to_whole) const {
    const std::size_t length = static_cast<std::size_t>(end - begin) * each;
    for (std::size_t run = 0; run < runs; ++run) {
      std::byte* in_whole = whole.data() + run * row + static_cast<std::size_t>(begin) * each;
      std::byte* in_piece = piece.data() + run * length;
      if (length > 0)
        std::memcpy(to_whole ? in_whole : in_piece, to_whole ? in_piece : in_whole, length);
    }
  }
  std::size_t runs = 1, each = 0, row = 0;
};

// Copies between a slice and its whole tensor, element by element.
void copy_slice(const Tensor& tensor, const Part& slice, std::span<std::byte> whole,
                std::span<std::byte> part, bool to_whole) {
  const auto size = static_cast<std::size_t>(size_of(tensor.type));
  std::byte* at = part.data();
  for (std::size_t i = 0; i * size < whole.size(); ++i) {
    if (!holds_element(slice, tensor.shape, i)) continue;
    std::byte* const in_whole = whole.data() + i * size;
    std::memcpy(to_whole ? in_whole : at, to_whole ? at : in_whole, size);
    at += size;
  }
  CHECK(at == part.data() + part.size(), "a slice of another size");
}

}  // namespace

InProcessRun::InProcessRun(std::shared_ptr<const RankPrograms> programs, const RankEngine& engine,
                           const EngineOptions& options)
    : programs_(std::move(programs)) {
  for (const RankProgram& program : programs_->ranks) {
    Rank& rank = ranks_.emplace_back();
    rank.program = &program;
    rank.execution = engine.prepare(
        programs_->graph, std::shared_ptr<const RankProgram>(programs_, &program), options);
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
      rank.streams[static_cast<std::size_t>(program.instructions[i].stream)].push_back(
          static_cast<std::uint32_t>(i));
    }
  }
}

const Instruction& InProcessRun::at(const Place& place) const {
  return ranks_[place.rank].program->instructions[place.instruction];
}

std::span<std::byte> InProcessRun::read_memory(const Place& place, std::size_t i) {
  const Rank& rank = ranks_[place.rank];
  return rank.execution->memory(rank.program->reads[place.instruction][i]);
}
std::span<std::byte> InProcessRun::write_memory(const Place& place, std::size_t i) {
  const Rank& rank = ranks_[place.rank];
  return rank.execution->memory(rank.program->writes[place.instruction][i]);
}

void InProcessRun::run_step(std::int64_t step, Random& random) {
  for (Rank& rank : ranks_) {
    rank.execution->begin_step(step);
    rank.next.fill(0);
    rank.started.assign(rank.program->instructions.size(), false);
    rank.ended = rank.started;
  }
  while (act(random)) {
  }
  for (const Rank& rank : ranks_) {
    const bool all = std::find(rank.ended.begin(), rank.ended.end(), false) == rank.ended.end();
    if (!all) throw std::logic_error("the ranks wait for each other");
  }
}

// One thing that may happen next; false: nothing may.
bool InProcessRun::act(Random& random) {
  std::vector<std::pair<std::size_t, std::size_t>> starts;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      if (may_start(ranks_[r], stream)) starts.emplace_back(r, stream);
    }
  }
  std::vector<std::vector<Place>> finishes;
  for (const Place& place : under_way_) {
    std::vector<Place> members;
    if (all_there(place, members)) finishes.push_back(std::move(members));
  }
  if (starts.empty() && finishes.empty()) return false;
  const std::size_t choice = random.below(starts.size() + finishes.size());
  if (choice < starts.size()) {
    start(starts[choice].first, starts[choice].second);
  } else {
    finish(finishes[choice - starts.size()]);
  }
  return true;
}

bool InProcessRun::may_start(const Rank& rank, std::size_t stream) const {
  const auto& line = rank.streams[stream];
  const std::size_t next = rank.next[stream];
  if (next == line.size()) return false;
  const auto waits = rank.program->waits[line[next]];
  return std::all_of(waits.begin(), waits.end(),
                     [&rank](std::uint32_t other) { return rank.ended[other]; });
}

void InProcessRun::start(std::size_t r, std::size_t stream) {
  Rank& rank = ranks_[r];
  const std::size_t i = rank.streams[stream][rank.next[stream]++];
  rank.started[i] = true;
  if (static_cast<Stream>(stream) == Stream::Compute) {
    rank.execution->run(i);
    return end({r, i});
  }
  for (const ValueId id : rank.program->writes[i]) rank.execution->memory(id);
  under_way_.push_back({r, i});
}

void InProcessRun::end(const Place& place) {
  Rank& rank = ranks_[place.rank];
  rank.ended[place.instruction] = true;
  for (const ValueId id : rank.program->releases[place.instruction]) rank.execution->release(id);
}

// Asked of the first member only: its rank, or the sender.
bool InProcessRun::all_there(const Place& place, std::vector<Place>& members) const {
  const Instruction& instruction = at(place);
  if (instruction.kind == InstructionKind::Receive) return false;
  const auto find = [&](DeviceId device) {
    return std::find_if(under_way_.begin(), under_way_.end(), [&](const Place& other) {
      const Instruction& there = at(other);
      const bool same =
          there.task == instruction.task && ranks_[other.rank].program->device == device;
      return same && (!sends_or_receives(instruction.kind) ||
                      (there.kind == InstructionKind::Receive &&
                       there.peer == ranks_[place.rank].program->device));
    });
  };
  members = {place};
  if (instruction.kind == InstructionKind::Send) {
    const auto other = find(instruction.peer);
    if (other == under_way_.end()) return false;
    members.push_back(*other);
    return true;
  }
  if (is_host_copy(instruction.kind)) return true;
  const auto devices = ranks_[place.rank].program->members[place.instruction];
  if (devices[0] != ranks_[place.rank].program->device) return false;
  for (const DeviceId device : devices.subspan(1)) {
    const auto other = find(device);
    if (other == under_way_.end()) return false;
    members.push_back(*other);
  }
  return true;
}

void InProcessRun::finish(const std::vector<Place>& members) {
  const InstructionKind kind = at(members[0]).kind;
  if (kind == InstructionKind::Send) transfer(members[0], members[1]);
  if (is_host_copy(kind)) transfer(members[0], members[0]);
  if (kind == InstructionKind::AllReduce) all_reduce(members);
  if (kind == InstructionKind::AllGather) all_gather(members);
  if (kind == InstructionKind::ReduceScatter) reduce_scatter(members);
  if (kind == InstructionKind::AllToAll) all_to_all(members);
  for (const Place& place : members) {
    std::erase_if(under_way_, [&place](const Place& other) {
      return other.rank == place.rank && other.instruction == place.instruction;
    });
    end(place);
  }
}

// All of a value, or the slice that is sent.
std::string InProcessRun::moved(const Place& place, ValueId id) {
  const Rank& rank = ranks_[place.rank];
  const Value& value = rank.program->values[id];
  const std::span<std::byte> memory = rank.execution->memory(id);
  std::string bytes(reinterpret_cast<const char*>(memory.data()), memory.size());
  const Part& part = at(place).part;
  if (!moves_slice(at(place), value)) return bytes;
  bytes.resize(static_cast<std::size_t>(moved_bytes(*programs_->graph, at(place), value).value));
  copy_slice(programs_->graph->tensor(value.tensor), part, memory, bytes_of(bytes), false);
  return bytes;
}

void InProcessRun::transfer(const Place& from, const Place& to) {
  std::string source = moved(from, ranks_[from.rank].program->reads[from.instruction][0]);
  const RankProgram& program = *ranks_[to.rank].program;
  const Value& value = program.values[program.writes[to.instruction][0]];
  const Part& part = at(to).part;
  const auto target = write_memory(to);
  if (moves_slice(at(to), value))
    return copy_slice(programs_->graph->tensor(value.tensor), part, target, bytes_of(source), true);
  CHECK(source.size() == target.size(), "a transfer between values of different sizes");
  if (!source.empty()) std::memcpy(target.data(), source.data(), source.size());
}

void InProcessRun::all_reduce(const std::vector<Place>& members) {
  const RankProgram& first = *ranks_[members[0].rank].program;
  const auto reads = first.reads[members[0].instruction];
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const DataType type = type_of(*programs_->graph, first.values[reads[i]]);
    const auto term = read_memory(members[0], i);
    std::vector<std::byte> total(term.begin(), term.end());
    for (std::size_t m = 1; m < members.size(); ++m) add(type, total, read_memory(members[m], i));
    for (const Place& place : members) {
      const bool in_place = ranks_[place.rank].program->writes[place.instruction].empty();
      const auto to = in_place ? read_memory(place, i) : write_memory(place, i);
      std::copy(total.begin(), total.end(), to.begin());
    }
  }
}

void InProcessRun::all_gather(const std::vector<Place>& members) {
  const RankProgram& first = *ranks_[members[0].rank].program;
  const std::size_t row = members[0].instruction;
  const Value& value = first.values[first.writes[row][0]];
  const auto cuts = first.cuts[row];
  const Part part = first.values[first.reads[row][0]].part;
  const bool records = value.encoding != Encoding::None;
  for (const Place& to : members) {
    const auto whole = write_memory(to);
    const std::int32_t first_cut = cuts.front(), count = cuts.back() - first_cut;
    const Layout layout =
        records ? Layout(count, whole.size())
                : Layout(*programs_->graph, value.tensor, part, value.part, count, whole.size());
    for (std::size_t m = 0; m < members.size(); ++m) {
      layout.copy(whole, read_memory(members[m]), cuts[m] - first_cut, cuts[m + 1] - first_cut,
                  true);
    }
  }
}

void InProcessRun::reduce_scatter(const std::vector<Place>& members) {
  const RankProgram& first = *ranks_[members[0].rank].program;
  const std::size_t row = members[0].instruction;
  const TensorId tensor = first.values[first.reads[row][0]].tensor;
  const DataType type = programs_->graph->tensor(tensor).type;
  const auto term = read_memory(members[0]);
  std::string total(reinterpret_cast<const char*>(term.data()), term.size());
  for (std::size_t m = 1; m < members.size(); ++m) {
    add(type, bytes_of(total), read_memory(members[m]));
  }
  const auto cuts = first.cuts[row];
  const Layout layout(*programs_->graph, tensor, at(members[0]).part,
                      first.values[first.reads[row][0]].part, cuts.back(), total.size());
  for (std::size_t m = 0; m < members.size(); ++m) {
    layout.copy(bytes_of(total), write_memory(members[m]), cuts[m], cuts[m + 1], false);
  }
}

void InProcessRun::all_to_all(const std::vector<Place>& members) {
  const auto value_of = [&](const Place& place, bool writes) -> const Value& {
    const RankProgram& program = *ranks_[place.rank].program;
    return program.values[(writes ? program.writes : program.reads)[place.instruction][0]];
  };
  const auto cuts = ranks_[members[0].rank].program->cuts[members[0].instruction];
  const auto before = cuts.first(members.size() + 1), after = cuts.last(members.size() + 1);
  const Graph& graph = *programs_->graph;
  for (std::size_t f = 0; f < members.size(); ++f)
    for (std::size_t t = 0; t < members.size(); ++t) {
      const Value &from = value_of(members[f], false), &to = value_of(members[t], true);
      const Part moved = *common_part(from.part.summed_up(), to.part);
      const auto source = read_memory(members[f]), target = write_memory(members[t]);
      const Layout sends(graph, from.tensor, moved, from.part, after.back() - after[0],
                         source.size()),
          gets(graph, to.tensor, moved, to.part, before.back() - before[0], target.size());
      std::string piece(
          static_cast<std::size_t>(bytes_of(graph.tensor(from.tensor), moved, graph.batch()).value),
          '\0');
      sends.copy(source, bytes_of(piece), after[t] - after[0], after[t + 1] - after[0], false);
      gets.copy(target, bytes_of(piece), before[f] - before[0], before[f + 1] - before[0], true);
    }
}

}  // namespace strato
