#include "core/program/rank_agreement.h"

#include <algorithm>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/program/rank_moves.h"

namespace strato {
namespace {

struct Open {
  std::int64_t ranks = 0, count = 0;
  Hasher content;
};

class Lister {
 public:
  Lister(const Graph& graph, const RankProgram& program, std::span<const DeviceId> device_of_rank)
      : graph_(graph), program_(program) {
    for (std::size_t rank = 0; rank < device_of_rank.size(); ++rank)
      rank_of_[device_of_rank[rank]] = static_cast<int>(rank);
  }

  RankShares list() && {
    for (std::size_t i = 0; i < program_.instructions.size(); ++i)
      if (program_.instructions[i].stream == Stream::Communication) add(i);
    RankShares shares;
    for (const auto& [name, open] : open_)
      shares[name] = {open.ranks, open.count, open.content.finish().hex()};
    return shares;
  }

 private:
  std::string rank_of(DeviceId device) const {
    const auto found = rank_of_.find(device);
    CHECK(found != rank_of_.end(), "a rank program talks to a device that has no rank");
    return "rank " + std::to_string(found->second);
  }

  std::string name_of_set(std::span<const DeviceId> members) const {
    Hasher hasher;
    for (const DeviceId member : members) hasher.number(member.value());
    return "collectives of " + std::to_string(members.size()) + " ranks from " +
           rank_of(members.front()) + " to " + rank_of(members.back()) + ", set " +
           hasher.finish().hex().substr(0, 8);
  }

  void add(std::size_t i) {
    const Instruction& what = program_.instructions[i];
    const auto members = program_.members[i];
    const bool sends = what.kind == InstructionKind::Send;
    const DeviceId from = sends ? program_.device : what.peer;
    const DeviceId to = sends ? what.peer : program_.device;
    Open& open = open_[what.peer.valid() ? "transfers from " + rank_of(from) + " to " + rank_of(to)
                                         : name_of_set(members)];
    open.ranks = what.peer.valid() ? 2 : static_cast<std::int64_t>(members.size());
    ++open.count;
    open.content.number(what.peer.valid() ? InstructionKind::Send : what.kind)
        .number(what.task.value())
        .numbers(program_.cuts[i]);
    for (const auto& [tensor, bytes] : moved_by(graph_, program_, i))
      open.content.number(tensor.value()).number(bytes.value);
  }

  const Graph& graph_;
  const RankProgram& program_;
  std::map<DeviceId, int> rank_of_;
  std::map<std::string, Open> open_;
};

std::string words(const RankShare& share) {
  return std::to_string(share.count) + ", digest " + share.content.substr(0, 8);
}

}  // namespace

RankShares shares_of(const Graph& graph, const RankProgram& program,
                     std::span<const DeviceId> device_of_rank) {
  return Lister(graph, program, device_of_rank).list();
}

std::optional<Disagreement> find_disagreement(std::span<const RankShares> all) {
  struct First {
    int rank = 0;
    RankShare share;
    std::int64_t seen = 0;
  };
  std::map<std::string, First> known;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    for (const auto& [name, share] : all[rank]) {
      First& first = known.try_emplace(name, First{static_cast<int>(rank), share, 0}).first->second;
      ++first.seen;
      if (share == first.share) continue;
      return Disagreement{static_cast<int>(rank), "has other " + name + " (" + words(share) +
                                                      ") than rank " + std::to_string(first.rank) +
                                                      " (" + words(first.share) + ")"};
    }
  }
  for (const auto& [name, first] : known) {
    if (first.seen == first.share.ranks) continue;
    return Disagreement{first.rank, "has " + name + ", of which only " +
                                        std::to_string(first.seen) + " of " +
                                        std::to_string(first.share.ranks) + " ranks know"};
  }
  return std::nullopt;
}

}  // namespace strato
