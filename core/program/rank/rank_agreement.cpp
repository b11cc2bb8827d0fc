#include "core/program/rank/rank_agreement.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"

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
    std::map<std::string, std::int64_t> index;
    for (const auto& [name, open] : open_) {
      index[name] = static_cast<std::int64_t>(index.size());
      shares.by_name[name] = {open.ranks, open.count, open.content.finish().hex()};
    }
    for (const auto& [name, count] : order_) shares.order.push_back({index[name], count});
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
    const std::string name = what.peer.valid()
                                 ? "transfers from " + rank_of(from) + " to " + rank_of(to)
                                 : name_of_set(members);
    if (order_.empty() || order_.back().first != name) order_.emplace_back(name, 0);
    ++order_.back().second;
    Open& open = open_[name];
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
  std::vector<std::pair<std::string, std::int64_t>> order_;
};

std::string words(const RankShare& share) {
  return std::to_string(share.count) + ", digest " + share.content.substr(0, 8);
}

std::optional<Disagreement> find_other_content(std::span<const RankShares> all) {
  struct First {
    int rank = 0;
    RankShare share;
    std::int64_t seen = 0;
  };
  std::map<std::string, First> known;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    for (const auto& [name, share] : all[rank].by_name) {
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

// Ranks of the same content go through their messages: what all that share it have come to is done.
class Walk {
 public:
  explicit Walk(std::span<const RankShares> all) : all_(all) {
    for (std::size_t rank = 0; rank < all.size(); ++rank) add(rank);
  }

  std::optional<Disagreement> find() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (!is_whole(rank))
        return Disagreement{static_cast<int>(rank), "tells another order than it has messages"};
      come(rank);
    }
    while (!met_.empty()) {
      Share& share = *met_.back();
      met_.pop_back();
      pass(share);
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      if (share_at(rank) != nullptr) return name_circle(rank);
    return std::nullopt;
  }

 private:
  struct Share {
    std::string name;
    std::vector<std::size_t> ranks;
    std::size_t waiting = 0;
  };
  struct Rank {
    std::vector<Share*> shares;
    std::size_t run = 0;
    std::int64_t done = 0;  // of the run
  };

  void add(std::size_t rank) {
    Rank& made = ranks_.emplace_back();
    for (const auto& [name, what] : all_[rank].by_name) {
      Share& share = shares_[name];
      share.name = name;
      share.ranks.push_back(rank);
      made.shares.push_back(&share);
    }
  }

  bool is_whole(std::size_t rank) const {
    std::vector<std::int64_t> missing;
    for (const auto& [name, share] : all_[rank].by_name) missing.push_back(share.count);
    for (const RankShares::Run& run : all_[rank].order) {
      if (run.share < 0 || run.share >= static_cast<std::int64_t>(missing.size())) return false;
      std::int64_t& left = missing[static_cast<std::size_t>(run.share)];
      if (run.count <= 0 || run.count > left) return false;
      left -= run.count;
    }
    return std::ranges::count(missing, 0) == std::ssize(missing);
  }

  Share* share_at(std::size_t rank) const {
    const std::vector<RankShares::Run>& order = all_[rank].order;
    const Rank& at = ranks_[rank];
    if (at.run == order.size()) return nullptr;
    return at.shares[static_cast<std::size_t>(order[at.run].share)];
  }
  void come(std::size_t rank) {
    Share* share = share_at(rank);
    if (share != nullptr && ++share->waiting == share->ranks.size()) met_.push_back(share);
  }
  std::int64_t left_at(std::size_t rank) const {
    return all_[rank].order[ranks_[rank].run].count - ranks_[rank].done;
  }
  // All of its ranks are there: as many messages are done as come next at each of them.
  void pass(Share& share) {
    std::int64_t count = left_at(share.ranks.front());
    for (const std::size_t rank : share.ranks) count = std::min(count, left_at(rank));
    share.waiting = 0;
    for (const std::size_t rank : share.ranks) {
      Rank& at = ranks_[rank];
      const bool ends = left_at(rank) == count;
      at.run += ends ? 1 : 0;
      at.done = ends ? 0 : at.done + count;
    }
    for (const std::size_t rank : share.ranks) come(rank);
  }

  // Whoever waits has another that waits for something else: that comes round.
  Disagreement name_circle(std::size_t rank) const {
    std::vector<bool> seen(ranks_.size());
    std::size_t before = rank;
    while (!seen[rank]) {
      seen[rank] = true;
      before = rank;
      const Share* wanted = share_at(rank);
      rank = *std::ranges::find_if(wanted->ranks,
                                   [&](std::size_t other) { return share_at(other) != wanted; });
    }
    return {static_cast<int>(rank), "comes to " + share_at(rank)->name + " before " +
                                        share_at(before)->name + ", at which rank " +
                                        std::to_string(before) + " waits for it"};
  }

  std::span<const RankShares> all_;
  std::map<std::string, Share> shares_;
  std::vector<Rank> ranks_;
  std::vector<Share*> met_;
};

}  // namespace

RankShares shares_of(const Graph& graph, const RankProgram& program,
                     std::span<const DeviceId> device_of_rank) {
  return Lister(graph, program, device_of_rank).list();
}

std::optional<Disagreement> find_disagreement(std::span<const RankShares> all) {
  if (auto found = find_other_content(all)) return found;
  return Walk(all).find();
}

}  // namespace strato
