#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "core/base/error.h"
#include "core/program/rank/rank_program.h"

namespace strato {
namespace {

struct Place {
  std::size_t rank = 0, instruction = 0;
};

// Instructions that must meet (a send and its receive, a collective on its members) are one event;
// events follow each other along what is computed, along all communication, and along waits. All
// end exactly when no event comes before itself.
class TerminationCheck {
 public:
  TerminationCheck(const RankPrograms& programs, const std::string& name)
      : programs_(programs), name_(name) {}

  void run() {
    for (std::size_t r = 0; r < programs_.ranks.size(); ++r) {
      first_.push_back(event_of_.size());
      event_of_.resize(event_of_.size() + program(r).instructions.size());
    }
    std::iota(event_of_.begin(), event_of_.end(), std::size_t{0});
    meet();
    follow();
    find_cycle();
  }

 private:
  const RankProgram& program(std::size_t rank) const { return programs_.ranks[rank]; }
  const Instruction& at(const Place& place) const {
    return program(place.rank).instructions[place.instruction];
  }
  std::size_t node(const Place& place) const { return first_[place.rank] + place.instruction; }
  Place place_of(std::size_t node) const {
    const auto after = std::upper_bound(first_.begin(), first_.end(), node);
    const auto rank = static_cast<std::size_t>(after - first_.begin()) - 1;
    return {rank, node - first_[rank]};
  }
  std::string words(const Place& place) const {
    return describe_instruction(programs_, place.rank, place.instruction, [&](DeviceId device) {
      const int rank = programs_.rank_of(device);
      return rank < 0 ? fmt::format("device {}", device.value()) : fmt::format("rank {}", rank);
    });
  }
  [[noreturn]] void refuse(const Place& place, const std::string& problem) const {
    throw InputError(name_, words(place), problem, "plan again, and stage the job anew");
  }

  // ---- what meets

  // The instructions of each rank, in their order, that meet those of the others.
  using Shares = std::map<std::size_t, std::vector<Place>>;
  struct Transfers {  // from one device to another
    std::vector<Place> sends, receives;
  };

  void meet() {
    std::map<std::pair<DeviceId, DeviceId>, Transfers> transfers;
    std::map<std::vector<DeviceId>, Shares> collectives;
    for (std::size_t r = 0; r < programs_.ranks.size(); ++r)
      for (std::size_t i = 0; i < program(r).instructions.size(); ++i) {
        const Place place{r, i};
        const Instruction& what = at(place);
        const DeviceId here = program(r).device;
        const auto members = program(r).members[i];
        if (what.kind == InstructionKind::Send)
          transfers[{here, what.peer}].sends.push_back(place);
        else if (what.kind == InstructionKind::Receive)
          transfers[{what.peer, here}].receives.push_back(place);
        else if (!members.empty())
          collectives[{members.begin(), members.end()}][r].push_back(place);
      }
    for (const auto& [devices, between] : transfers) join(between.sends, between.receives);
    for (const auto& [members, shares] : collectives) meet(members, shares);
  }

  void meet(const std::vector<DeviceId>& members, const Shares& shares) {
    const std::vector<Place>& first = shares.begin()->second;
    for (const DeviceId member : members) {
      const int rank = programs_.rank_of(member);
      const auto share = shares.find(static_cast<std::size_t>(rank));
      if (rank < 0 || share == shares.end())
        refuse(first.front(), fmt::format("device {} takes no part in it", member.value()));
      if (&share->second != &first) join(first, share->second);
    }
  }

  void join(const std::vector<Place>& some, const std::vector<Place>& others) {
    const std::size_t pairs = std::min(some.size(), others.size());
    for (std::size_t i = 0; i < pairs; ++i) {
      if (!match(some[i], others[i]))
        refuse(some[i], "meets " + words(others[i]) + ", which is not its counterpart");
      event_of_[node(others[i])] = event_of_[node(some[i])];
    }
    if (some.size() > pairs) refuse(some[pairs], "has no counterpart");
    if (others.size() > pairs) refuse(others[pairs], "has no counterpart");
  }

  std::vector<std::pair<TensorId, Bytes>> moved(const Place& place) const {
    return moved_by(*programs_.graph, program(place.rank), place.instruction);
  }
  bool match(const Place& a, const Place& b) const {
    const bool transfer = at(a).kind == InstructionKind::Send;
    return (transfer || at(a).kind == at(b).kind) && at(a).task == at(b).task &&
           at(a).stream == at(b).stream && moved(a) == moved(b) &&
           std::ranges::equal(program(a.rank).cuts[a.instruction],
                              program(b.rank).cuts[b.instruction]);
  }

  // ---- what follows what

  void follow() {
    next_.resize(event_of_.size());
    for (std::size_t r = 0; r < programs_.ranks.size(); ++r) {
      std::optional<std::size_t> last[2];  // computed, and communicated
      for (std::size_t i = 0; i < program(r).instructions.size(); ++i) {
        const Place place{r, i};
        std::optional<std::size_t>& before = last[at(place).stream == Stream::Compute ? 0 : 1];
        if (before) link({r, *before}, place);
        for (const std::uint32_t earlier : program(r).waits[i]) link({r, earlier}, place);
        before = i;
      }
    }
  }
  void link(const Place& before, const Place& after) {
    next_[event_of_[node(before)]].push_back({node(before), node(after)});
  }

  // An event is left over when one before it is; walking back from there comes round.
  void find_cycle() const {
    std::vector<std::size_t> missing(event_of_.size());
    for (const auto& links : next_)
      for (const Link& link : links) ++missing[event_of_[link.after]];
    std::vector<std::size_t> ready;
    for (std::size_t e = 0; e < missing.size(); ++e)
      if (event_of_[e] == e && missing[e] == 0) ready.push_back(e);
    while (!ready.empty()) {
      const std::size_t event = ready.back();
      ready.pop_back();
      for (const Link& link : next_[event])
        if (--missing[event_of_[link.after]] == 0) ready.push_back(event_of_[link.after]);
    }
    for (std::size_t e = 0; e < missing.size(); ++e)
      if (missing[e] > 0) name_cycle(missing, e);
  }

  struct Link {
    std::size_t before, after;  // instructions
  };

  [[noreturn]] void name_cycle(const std::vector<std::size_t>& missing, std::size_t event) const {
    std::vector<const Link*> back(missing.size());  // to an event before it that is left over, too
    for (std::size_t e = 0; e < next_.size(); ++e)
      for (const Link& link : next_[e])
        if (missing[e] > 0) back[event_of_[link.after]] = &link;
    std::vector<bool> seen(missing.size());
    while (!seen[event]) {
      seen[event] = true;
      event = event_of_[back[event]->before];
    }
    std::vector<std::string> steps;  // last first
    const std::size_t start = event;
    do {
      const Link& link = *back[event];
      steps.push_back(fmt::format("{} after #{}", words(place_of(link.after)),
                                  place_of(link.before).instruction));
      event = event_of_[link.before];
    } while (event != start);
    std::ranges::reverse(steps);
    refuse(place_of(back[start]->after),
           fmt::format("waits for itself: {}", fmt::join(steps, "; ")));
  }

  const RankPrograms& programs_;
  const std::string& name_;
  std::vector<std::size_t> first_;     // by rank: its first node
  std::vector<std::size_t> event_of_;  // by node: the first node of its event
  std::vector<std::vector<Link>> next_;
};

}  // namespace

void check_termination(const RankPrograms& programs, const std::string& name) {
  TerminationCheck(programs, name).run();
}

}  // namespace strato
