#include "tests/property/rank_checker.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace strato {
namespace {

using Kind = InstructionKind;

class RaceFinder {
 public:
  RaceFinder(const Graph& graph, const RankProgram& program)
      : graph_(graph),
        program_(program),
        size_(program.instructions.size()),
        root_(program.values.size()),
        uses_(program.values.size()) {}

  std::string find() {
    find_ended();
    for (std::size_t v = 0; v < root_.size(); ++v) root_[v] = v;
    for (std::size_t i = 0; i < size_; ++i) note_uses(i);
    for (std::size_t v = 0; v < uses_.size() && problem_.empty(); ++v) check(v);
    return problem_;
  }

 private:
  struct Use {
    std::size_t instruction;
    bool changes;
  };
  struct Uses {
    std::vector<Use> all;
    std::vector<std::size_t> releases;
    bool updated = false;
  };

  const Instruction& at(std::size_t i) const { return program_.instructions[i]; }
  const Tensor& tensor(std::size_t value) const {
    return graph_.tensor(program_.values[ValueId(value)].tensor);
  }
  void complain(std::size_t value, std::size_t instruction, const std::string& what) {
    if (problem_.empty())
      problem_ = "rank " + std::to_string(program_.rank) + " #" + std::to_string(instruction) +
                 " (" + std::string(name_of(at(instruction).kind)) + "), value " +
                 std::to_string(value) + " (" + tensor(value).name + " " +
                 describe(program_.values[ValueId(value)].part) + "): " + what;
  }

  // ended_[i][j]: j is known to have ended when i starts.
  void find_ended() {
    ended_.assign(size_, std::vector<bool>(size_));
    std::array<std::size_t, kStreams> last;
    last.fill(size_);
    for (std::size_t i = 0; i < size_; ++i) {
      std::size_t& before = last[static_cast<std::size_t>(at(i).stream)];
      if (before < size_) learn(i, before, at(i).stream == Stream::Compute);
      for (const std::uint32_t wait : program_.waits[i]) learn(i, wait, true);
      before = i;
    }
  }
  void learn(std::size_t i, std::size_t from, bool ended) {
    for (std::size_t j = 0; j < size_; ++j)
      if (ended_[from][j]) ended_[i][j] = true;
    if (ended) ended_[i][from] = true;
  }

  void note_uses(std::size_t i) {
    const auto reads = program_.reads[i];
    const auto writes = program_.writes[i];
    for (const ValueId id : reads) {
      if (!id.valid()) continue;
      const TensorRole role = tensor(id.index()).role;
      const bool kept = role == TensorRole::Parameter || role == TensorRole::OptimizerState;
      const bool adds = at(i).kind == Kind::Sum && writes.empty() && id == reads.front();
      const bool changes = adds || (at(i).kind == Kind::AllReduce && writes.empty()) ||
                           (at(i).kind == Kind::Update && kept);
      uses_[root_[id.index()]].all.push_back({i, changes});
      if (at(i).kind == Kind::Update && kept) uses_[root_[id.index()]].updated = true;
    }
    for (const ValueId id : writes) {
      if (at(i).kind == Kind::View) root_[id.index()] = root_[reads.front().index()];
      uses_[root_[id.index()]].all.push_back({i, at(i).kind != Kind::View});
      if (at(i).kind == Kind::Receive) uses_[id.index()].updated = true;
    }
    for (const ValueId id : program_.releases[i]) uses_[id.index()].releases.push_back(i);
  }

  void check(std::size_t value) {
    const Uses& uses = uses_[value];
    const bool resident = program_.values[ValueId(value)].resident;
    for (const Use& a : uses.all)
      for (const Use& b : uses.all)
        if (a.changes && a.instruction != b.instruction && !(resident && are_apart(a, b)) &&
            !ended_[a.instruction][b.instruction] && !ended_[b.instruction][a.instruction])
          complain(value, a.instruction,
                   "changes it while #" + std::to_string(b.instruction) + " uses it");
    if (resident) {
      const bool trained = tensor(value).role == TensorRole::Parameter &&
                           graph_.update_of(program_.values[ValueId(value)].tensor).valid();
      if (trained && !uses.updated) complain(value, 0, "is not updated");
      if (!uses.releases.empty()) complain(value, uses.releases.front(), "is resident");
      return;
    }
    if (uses.releases.size() != 1) return complain(value, 0, "is not released once");
    const std::size_t release = uses.releases.front();
    for (const Use& use : uses_[root_[value]].all)
      if (own(value, use) && use.instruction != release && !ended_[release][use.instruction])
        complain(value, release, "is released before #" + std::to_string(use.instruction));
    if (root_[value] == value && (uses.all.empty() || !uses.all.front().changes))
      complain(value, release, "is not written before it is read");
  }
  // Other slices of a parameter.
  bool are_apart(const Use& a, const Use& b) const {
    const Part &one = at(a.instruction).part, &other = at(b.instruction).part;
    return one.is_slice() && other.is_slice() && !overlap(one, other);
  }
  // Views of what is resident go without each other.
  bool own(std::size_t value, const Use& use) const {
    if (!program_.values[ValueId(root_[value])].resident) return true;
    for (const auto* rows : {&program_.reads, &program_.writes})
      for (const ValueId id : (*rows)[use.instruction])
        if (id.valid() && id.index() == value) return true;
    return false;
  }

  const Graph& graph_;
  const RankProgram& program_;
  std::size_t size_;
  std::vector<std::vector<bool>> ended_;
  std::vector<std::size_t> root_;  // by value: whose memory it is in
  std::vector<Uses> uses_;         // by value: of its memory
  std::string problem_;
};

class BlockingRanks {
 public:
  BlockingRanks(const RankPrograms& programs, Behind behind)
      : programs_(programs), behind_(behind) {
    for (const RankProgram& program : programs.ranks) {
      Rank rank;
      rank.done.resize(program.instructions.size());
      for (std::size_t i = 0; i < program.instructions.size(); ++i)
        rank.lines[line_of(program.instructions[i].stream)].push_back(i);
      ranks_.push_back(std::move(rank));
    }
  }

  bool run() {
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t r = 0; r < ranks_.size(); ++r)
        for (std::size_t line = 0; line < kStreams; ++line) progress = advance(r, line) || progress;
    }
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) {
      return std::all_of(rank.done.begin(), rank.done.end(), [](bool done) { return done; });
    });
  }

 private:
  struct Rank {
    std::array<std::vector<std::size_t>, kStreams> lines;
    std::array<std::size_t, kStreams> next{};
    std::vector<bool> done;
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  // What blocks each other.
  std::size_t line_of(Stream stream) const {
    const bool others = behind_ == Behind::InOrder && stream != Stream::Compute;
    return static_cast<std::size_t>(others ? Stream::Communication : stream);
  }
  const Instruction& at(std::size_t rank, std::size_t i) const {
    return programs_.ranks[rank].instructions[i];
  }
  // The instruction that the line would do now.
  std::size_t head(std::size_t rank, std::size_t line) const {
    const Rank& of = ranks_[rank];
    if (of.next[line] == of.lines[line].size()) return kNone;
    const std::size_t i = of.lines[line][of.next[line]];
    for (const std::uint32_t wait : programs_.ranks[rank].waits[i])
      if (!of.done[wait]) return kNone;
    return i;
  }
  void finish(std::size_t rank, std::size_t line) {
    Rank& of = ranks_[rank];
    of.done[of.lines[line][of.next[line]++]] = true;
  }
  Bytes bytes(std::size_t rank, const Instruction& what, ValueId id) const {
    const Value& value = programs_.ranks[rank].values[id];
    return moved_bytes(*programs_.graph, what, value);
  }

  bool advance(std::size_t r, std::size_t line) {
    const std::size_t i = head(r, line);
    if (i == kNone) return false;
    const Instruction& what = at(r, i);
    if (what.stream == Stream::Compute || is_host_copy(what.kind)) return finish(r, line), true;
    if (what.kind == Kind::Receive) return false;  // its send does it
    if (what.kind == Kind::Send) return send(r, i, line);
    return meet(r, i, line);
  }

  bool send(std::size_t r, std::size_t i, std::size_t line) {
    const int peer = programs_.rank_of(at(r, i).peer);
    if (peer < 0) return false;
    const auto to = static_cast<std::size_t>(peer);
    const std::size_t j = head(to, line);
    if (j == kNone || at(to, j).kind != Kind::Receive || at(to, j).task != at(r, i).task ||
        at(to, j).peer != programs_.ranks[r].device ||
        bytes(r, at(r, i), programs_.ranks[r].reads[i][0]) !=
            bytes(to, at(to, j), programs_.ranks[to].writes[j][0]))
      return false;
    finish(r, line);
    finish(to, line);
    return true;
  }

  bool meet(std::size_t r, std::size_t i, std::size_t line) {
    const auto members = programs_.ranks[r].members[i];
    for (const DeviceId member : members) {
      const auto other = static_cast<std::size_t>(programs_.rank_of(member));
      const std::size_t j = head(other, line);
      if (j == kNone || at(other, j).kind != at(r, i).kind || at(other, j).task != at(r, i).task ||
          at(other, j).stream != at(r, i).stream ||
          !std::ranges::equal(members, programs_.ranks[other].members[j]))
        return false;
    }
    for (const DeviceId member : members)
      finish(static_cast<std::size_t>(programs_.rank_of(member)), line);
    return true;
  }

  const RankPrograms& programs_;
  const Behind behind_;
  std::vector<Rank> ranks_;
};

}  // namespace

std::string problem_of(const RankPrograms& programs, std::size_t rank) {
  return RaceFinder(*programs.graph, programs.ranks[rank]).find();
}

bool ends_when_blocking(const RankPrograms& programs, Behind behind) {
  return BlockingRanks(programs, behind).run();
}

RankProgram reordered(const RankProgram& program, const std::vector<std::size_t>& order) {
  RankProgram result;
  result.rank = program.rank;
  result.device = program.device;
  result.values = program.values;
  std::vector<std::int64_t> now(program.instructions.size(), -1);
  for (std::size_t i = 0; i < order.size(); ++i) now[order[i]] = static_cast<std::int64_t>(i);
  for (const std::size_t i : order) {
    result.instructions.push_back(program.instructions[i]);
    result.reads.push_row(program.reads[i]);
    result.writes.push_row(program.writes[i]);
    result.releases.push_row(program.releases[i]);
    result.members.push_row(program.members[i]);
    result.cuts.push_row(program.cuts[i]);
    std::vector<std::uint32_t> waits;
    for (const std::uint32_t wait : program.waits[i])
      if (now[wait] >= 0) waits.push_back(static_cast<std::uint32_t>(now[wait]));
    std::sort(waits.begin(), waits.end());
    result.waits.push_row(waits);
  }
  return result;
}

RankPrograms tampered(const RankPrograms& programs, Random& random) {
  RankPrograms result = programs;
  RankProgram& rank = result.ranks[random.below(result.ranks.size())];
  const std::size_t size = rank.instructions.size();
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t at = random.below(size), choice = random.below(8);
  if (choice == 0) {
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(at));
  } else if (choice == 1) {
    Instruction& what = rank.instructions[at];
    const RankProgram& other = result.ranks[random.below(result.ranks.size())];
    if (what.peer.valid() && other.device != rank.device) what.peer = other.device;
    if (!rank.members[at].empty())
      what.stream = what.stream == Stream::Communication ? Stream::TensorCommunication
                                                         : Stream::Communication;
  } else {
    std::swap(
        order[at],
        order[choice < 6 ? std::min(size - 1, at + 1 + random.below(4)) : random.below(size)]);
  }
  rank = reordered(rank, order);
  return result;
}

}  // namespace strato
