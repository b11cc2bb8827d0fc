#include "core/program/rank/rank_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/digest.h"
#include "core/base/error.h"

namespace strato {
namespace {

class Lister {
 public:
  Lister(const Graph& graph, const RankProgram& program, std::span<const DeviceId> device_of_rank)
      : graph_(graph), program_(program) {
    for (std::size_t rank = 0; rank < device_of_rank.size(); ++rank)
      rank_of_[device_of_rank[rank]] = static_cast<int>(rank);
  }

  RankShares list() && {
    for (std::size_t i = 0; i < program_.instructions.size(); ++i)
      if (const Instruction& what = program_.instructions[i];
          what.stream != Stream::Compute && !is_host_copy(what.kind))
        add(i);
    std::map<std::string, std::int64_t> index;
    for (auto& [name, share] : shares_.by_name) {
      index[name] = static_cast<std::int64_t>(index.size());
      share.content = content_[name].finish().hex();
    }
    for (const auto& [name, count] : order_) shares_.order.push_back({index[name], count});
    return std::move(shares_);
  }

 private:
  std::string rank_of(DeviceId device) const {
    const auto found = rank_of_.find(device);
    CHECK(found != rank_of_.end(), "a rank program talks to a device that has no rank");
    return fmt::format("rank {}", found->second);
  }

  std::string name_of_set(std::span<const DeviceId> members) const {
    Hasher hasher;
    for (const DeviceId member : members) hasher.number(member.value());
    return fmt::format("collectives of {} ranks from {} to {}, set {:.8}", members.size(),
                       rank_of(members.front()), rank_of(members.back()), hasher.finish().hex());
  }

  void add(std::size_t i) {
    const Instruction& what = program_.instructions[i];
    const auto members = program_.members[i];
    const bool sends = what.kind == InstructionKind::Send;
    const DeviceId from = sends ? program_.device : what.peer;
    const DeviceId to = sends ? what.peer : program_.device;
    const std::string name =
        what.peer.valid() ? fmt::format("transfers from {} to {}", rank_of(from), rank_of(to))
                          : name_of_set(members);
    if (order_.empty() || order_.back().first != name) order_.emplace_back(name, 0);
    ++order_.back().second;
    RankShare& share = shares_.by_name[name];
    share.ranks = what.peer.valid() ? 2 : std::ssize(members);
    ++share.count;
    Hasher& content = content_[name];
    content.number(what.peer.valid() ? InstructionKind::Send : what.kind)
        .number(what.stream)
        .number(what.task.value())
        .numbers(program_.cuts[i]);
    for (const auto& [tensor, bytes] : moved_by(graph_, program_, i))
      content.number(tensor.value()).number(bytes.value);
  }

  const Graph& graph_;
  const RankProgram& program_;
  std::map<DeviceId, int> rank_of_;
  RankShares shares_;
  std::map<std::string, Hasher> content_;
  std::vector<std::pair<std::string, std::int64_t>> order_;
};

std::string words(const RankShare& share) {
  return fmt::format("{}, digest {:.8}", share.count, share.content);
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
      return Disagreement{static_cast<int>(rank),
                          fmt::format("has other {} ({}) than rank {} ({})", name, words(share),
                                      first.rank, words(first.share))};
    }
  }
  for (const auto& [name, first] : known) {
    if (first.seen == first.share.ranks) continue;
    return Disagreement{first.rank, fmt::format("has {}, of which only {} of {} ranks know", name,
                                                first.seen, first.share.ranks)};
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
    return {static_cast<int>(rank),
            fmt::format("comes to {} before {}, at which rank {} waits for it",
                        share_at(rank)->name, share_at(before)->name, before)};
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
