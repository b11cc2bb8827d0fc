#include "app/worker/communicator.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "core/base/error.h"

namespace strato::worker {
namespace {

using Bytespan = std::span<std::byte>;

class Plain final : public Operation {
 public:
  explicit Plain(std::unique_ptr<Pending> pending) : pending_(std::move(pending)) {}
  void finish() override {
    on_transport([&] { pending_->wait(); });
  }

 private:
  std::unique_ptr<Pending> pending_;
};

// Memory in which pieces lie one after the other, for as long as the operation goes on.
struct Scratch {
  std::shared_ptr<std::byte> memory;
  std::vector<Bytespan> pieces;

  Scratch(const CutLayout& layout, const ValueMemory& values) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < layout.count(); ++i) bytes += layout.bytes(i);
    memory = values.scratch(bytes);
    Bytespan rest(memory.get(), bytes);
    for (std::size_t i = 0; i < layout.count(); ++i) {
      pieces.push_back(rest.first(layout.bytes(i)));
      rest = rest.subspan(layout.bytes(i));
    }
  }
  // Of one piece.
  Scratch(std::size_t bytes, const ValueMemory& values)
      : memory(values.scratch(bytes)), pieces{Bytespan(memory.get(), bytes)} {}
};

class Scratched final : public Operation {
 public:
  Scratched(std::unique_ptr<Scratch> scratch, std::unique_ptr<Pending> pending,
            std::function<void(const Scratch&)> after)
      : scratch_(std::move(scratch)), pending_(std::move(pending)), after_(std::move(after)) {}
  void finish() override {
    on_transport([&] { pending_->wait(); });
    after_(*scratch_);
  }

 private:
  std::unique_ptr<Scratch> scratch_;
  std::unique_ptr<Pending> pending_;
  std::function<void(const Scratch&)> after_;
};

// What a lane's thread does by itself.
class Copied final : public Operation {
 public:
  explicit Copied(std::function<void()> copy) : copy_(std::move(copy)) {}
  void finish() override { copy_(); }

 private:
  std::function<void()> copy_;
};

std::uint32_t tag_of(const Instruction& instruction) {
  return static_cast<std::uint32_t>(instruction.task.value());
}

}  // namespace

Communicator::Communicator(const Graph& graph, const RankProgram& program,
                           std::span<const DeviceId> device_of_rank, RankExecution& execution,
                           Transport& transport)
    : graph_(graph),
      program_(program),
      execution_(execution),
      memory_(execution),
      transport_(transport) {
  for (std::size_t rank = 0; rank < device_of_rank.size(); ++rank)
    rank_of_.emplace(device_of_rank[rank], static_cast<int>(rank));
  assign_lanes();
  const bool talks = std::ranges::any_of(program.instructions, [](const Instruction& what) {
    return what.stream != Stream::Compute && !is_host_copy(what.kind);
  });
  if (talks) expect_reach(execution, transport);
}

void Communicator::assign_lanes() {
  std::map<std::vector<std::int32_t>, std::size_t> known;
  lane_.assign(program_.instructions.size(), 0);
  for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
    const Instruction& instruction = program_.instructions[i];
    if (instruction.stream == Stream::Compute) continue;
    std::vector<std::int32_t> key;
    const bool collective = !instruction.peer.valid();
    key.push_back(collective && !is_host_copy(instruction.kind)
                      ? -static_cast<std::int32_t>(instruction.stream)
                      : static_cast<std::int32_t>(instruction.kind));
    if (!collective) key.push_back(instruction.peer.value());
    for (const DeviceId member : program_.members[i]) key.push_back(member.value());
    if (collective) std::sort(key.begin(), key.end());  // rings of any order
    lane_[i] = known.emplace(std::move(key), known.size()).first->second;
  }
  lanes_ = known.size();
}

void Communicator::copy(ValueId from, Bytespan to) {
  const Bytespan bytes = execution_.memory(from);
  CHECK(bytes.size() == to.size(), "a collective's values have different sizes");
  memory_.copy({to.data(), to.size(), bytes.data(), bytes.size(), bytes.size()});
}

CutLayout::Copy Communicator::row_copy() const {
  return [this](const RowCopy& rows) { memory_.copy(rows); };
}

int Communicator::rank_of(DeviceId device) const {
  const auto found = rank_of_.find(device);
  CHECK(found != rank_of_.end(), "a rank program talks to a device that has no rank");
  return found->second;
}

std::vector<int> Communicator::ranks_of(std::span<const DeviceId> devices) const {
  std::vector<int> ranks;
  for (const DeviceId device : devices) ranks.push_back(rank_of(device));
  return ranks;
}

DataType Communicator::type_of(ValueId value) const {
  return strato::type_of(graph_, program_.values[value]);
}

std::unique_ptr<Operation> Communicator::issue(std::size_t index) {
  switch (program_.instructions[index].kind) {
    case InstructionKind::Send:
      return send(index);
    case InstructionKind::Receive:
      return receive(index);
    case InstructionKind::AllReduce:
      return all_reduce(index);
    case InstructionKind::AllGather:
      return all_gather(index);
    case InstructionKind::ReduceScatter:
      return reduce_scatter(index);
    case InstructionKind::AllToAll:
      return all_to_all(index);
    case InstructionKind::Offload:
    case InstructionKind::Fetch:
      return copy_with_host(index);
    default:
      break;
  }
  check_failed("is_communication(kind)", __FILE__, __LINE__,
               "an instruction of a communication stream does not communicate");
}

// A slice of a parameter that is whole here: where it lies, or by memory of its own.
std::unique_ptr<Operation> Communicator::move_slice(std::size_t index, ValueId value) {
  const Instruction& what = program_.instructions[index];
  const bool sends = what.kind == InstructionKind::Send;
  const Tensor& tensor = graph_.tensor(program_.values[value].tensor);
  const auto slice = std::make_shared<const SliceLayout>(tensor, what.part);
  const Bytespan whole = execution_.memory(value);
  const auto begin = [&](Bytespan bytes) {
    return on_transport([&] {
      return sends ? transport_.send(rank_of(what.peer), tag_of(what), bytes)
                   : transport_.receive(rank_of(what.peer), tag_of(what), bytes);
    });
  };
  if (slice->contiguous()) return std::make_unique<Plain>(begin(slice->part(whole)));
  auto scratch = std::make_unique<Scratch>(slice->bytes(), memory_);
  const Bytespan bytes = scratch->pieces.front();
  if (sends) slice->take(whole, bytes, row_copy());
  auto pending = begin(bytes);
  return std::make_unique<Scratched>(std::move(scratch), std::move(pending),
                                     [sends, slice, whole, copy = row_copy()](const Scratch& done) {
                                       if (!sends) slice->put(done.pieces.front(), whole, copy);
                                     });
}

std::unique_ptr<Operation> Communicator::send(std::size_t index) {
  const Instruction& what = program_.instructions[index];
  const ValueId value = program_.reads[index][0];
  if (moves_slice(what, program_.values[value])) return move_slice(index, value);
  const Bytespan bytes = execution_.memory(value);
  return std::make_unique<Plain>(
      on_transport([&] { return transport_.send(rank_of(what.peer), tag_of(what), bytes); }));
}

std::unique_ptr<Operation> Communicator::receive(std::size_t index) {
  const Instruction& what = program_.instructions[index];
  const ValueId value = program_.writes[index][0];
  if (moves_slice(what, program_.values[value])) return move_slice(index, value);
  const Bytespan bytes = execution_.memory(value);
  return std::make_unique<Plain>(
      on_transport([&] { return transport_.receive(rank_of(what.peer), tag_of(what), bytes); }));
}

std::unique_ptr<Operation> Communicator::all_reduce(std::size_t index) {
  const auto reads = program_.reads[index], writes = program_.writes[index];
  std::vector<Bytespan> values;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const bool in_place = writes.empty() || writes[i] == reads[i];
    values.push_back(execution_.memory(in_place ? reads[i] : writes[i]));
    if (!in_place) copy(reads[i], values.back());
  }
  return std::make_unique<Plain>(on_transport([&] {
    const Instruction& what = program_.instructions[index];
    return transport_.all_reduce(Members(ranks_of(program_.members[index]), what.stream),
                                 tag_of(what), type_of(reads[0]), std::move(values));
  }));
}

std::unique_ptr<Operation> Communicator::copy_with_host(std::size_t index) {
  const ValueId from = program_.reads[index][0];
  const Bytespan to = execution_.memory(program_.writes[index][0]);
  return std::make_unique<Copied>([this, from, to] { copy(from, to); });
}

std::size_t Communicator::own_place(std::size_t index) const {
  const auto members = program_.members[index];
  return static_cast<std::size_t>(std::find(members.begin(), members.end(), program_.device) -
                                  members.begin());
}

std::unique_ptr<Operation> Communicator::all_gather(std::size_t index) {
  const ValueId read = program_.reads[index][0], write = program_.writes[index][0];
  const auto members = program_.members[index];
  const std::size_t self = own_place(index);
  const Bytespan whole = execution_.memory(write);
  const auto gather = [&](std::vector<Bytespan> pieces) {
    const Instruction& what = program_.instructions[index];
    return on_transport([&] {
      return transport_.all_gather(Members(ranks_of(members), what.stream), tag_of(what),
                                   std::move(pieces));
    });
  };
  const Value& value = program_.values[read];
  const CutLayout layout =
      value.encoding != Encoding::None
          ? CutLayout(program_.cuts[index], whole.size())
          : CutLayout(graph_, value, program_.values[write], program_.cuts[index], whole.size());
  if (layout.contiguous()) {
    std::vector<Bytespan> pieces;
    for (std::size_t i = 0; i < layout.count(); ++i) pieces.push_back(layout.part(whole, i));
    copy(read, pieces[self]);
    return std::make_unique<Plain>(gather(std::move(pieces)));
  }
  auto scratch = std::make_unique<Scratch>(layout, memory_);
  copy(read, scratch->pieces[self]);
  auto pending = gather(scratch->pieces);
  return std::make_unique<Scratched>(std::move(scratch), std::move(pending),
                                     [layout, whole, copy = row_copy()](const Scratch& filled) {
                                       for (std::size_t i = 0; i < layout.count(); ++i)
                                         layout.put(filled.pieces[i], i, whole, copy);
                                     });
}

// The terms are copied: a transport adds in place, and others may read the value still.
std::unique_ptr<Operation> Communicator::reduce_scatter(std::size_t index) {
  const ValueId read = program_.reads[index][0], write = program_.writes[index][0];
  const auto members = program_.members[index];
  const std::size_t self = own_place(index);
  const Bytespan whole = execution_.memory(read), sum = execution_.memory(write);
  const CutLayout layout(graph_, program_.values[write], program_.values[read],
                         program_.cuts[index], whole.size());
  auto scratch = std::make_unique<Scratch>(layout, memory_);
  for (std::size_t i = 0; i < layout.count(); ++i) {
    layout.take(whole, i, scratch->pieces[i], row_copy());
  }
  auto pending = on_transport([&] {
    const Instruction& what = program_.instructions[index];
    return transport_.reduce_scatter(Members(ranks_of(members), what.stream), tag_of(what),
                                     type_of(read), scratch->pieces);
  });
  return std::make_unique<Scratched>(
      std::move(scratch), std::move(pending), [self, sum, copy = row_copy()](const Scratch& done) {
        const Bytespan piece = done.pieces[self];
        CHECK(piece.size() == sum.size(), "a piece has another size than its value");
        copy({sum.data(), sum.size(), piece.data(), piece.size(), piece.size()});
      });
}

// Each member's part of what is here, cut along the axis of the parts that come to be, and for each
// its place in what is made, cut along the axis of the parts that there were.
std::unique_ptr<Operation> Communicator::all_to_all(std::size_t index) {
  const ValueId read = program_.reads[index][0], write = program_.writes[index][0];
  const auto members = program_.members[index];
  const auto cuts = program_.cuts[index];
  const Value &from = program_.values[read], &to = program_.values[write];
  const auto common = common_part(from.part.summed_up(), to.part);  // it may have been, in place
  CHECK(common.has_value(), "a member keeps nothing of what it swaps");
  const Value kept{from.tensor, *common};
  const Bytespan whole = execution_.memory(read), made = execution_.memory(write);
  const CutLayout leaves(graph_, kept, from, cuts.last(members.size() + 1), whole.size());
  const CutLayout comes(graph_, kept, to, cuts.first(members.size() + 1), made.size());
  const std::size_t self = own_place(index);
  const auto sent = std::make_shared<Scratch>(leaves, memory_);
  auto received = std::make_unique<Scratch>(comes, memory_);
  for (std::size_t i = 0; i < leaves.count(); ++i)
    leaves.take(whole, i, i == self ? received->pieces[i] : sent->pieces[i], row_copy());
  auto pending = on_transport([&] {
    const Instruction& what = program_.instructions[index];
    return transport_.all_to_all(Members(ranks_of(members), what.stream), tag_of(what),
                                 sent->pieces, received->pieces);
  });
  return std::make_unique<Scratched>(std::move(received), std::move(pending),
                                     [sent, comes, made, copy = row_copy()](const Scratch& filled) {
                                       for (std::size_t i = 0; i < comes.count(); ++i)
                                         comes.put(filled.pieces[i], i, made, copy);
                                     });
}

}  // namespace strato::worker
