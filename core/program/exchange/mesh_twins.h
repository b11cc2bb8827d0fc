// Watches, while a strategy with meshes is lowered without the twins that a fold has left out
// (symmetry.h), whether they are twins: what the kept devices exchange must be what the others do
// among themselves, in the same time, on links of their own.
//
// Which exchanges there are follows from the letters that columns divide, and from what was brought
// before; so it is known only when it comes to them. Whoever finds a difference throws TwinsDiffer,
// and the strategy is lowered again with other twins, or none. Not thread safe.
#pragma once

#include <cstdint>
#include <exception>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/program/copies/exchange_tasks.h"

namespace strato {

class TwinsDiffer : public std::exception {
 public:
  const char* what() const noexcept override { return "devices that were taken for twins differ"; }
};

class MeshTwins {
 public:
  MeshTwins(const Tables& tables, const Placement& placement, ExchangeTasks& tasks)
      : tables_(tables), placement_(placement), tasks_(tasks) {}
  // Of the strategy that is placed. What was checked of the same twins stays so.
  void start();

  // A collective of a line of the mesh, of which `group` are those that are kept. Lines that stand
  // for others must take as long as these; none may use a link that another one uses, and twins the
  // same ones of their ports.
  void check_collective(TaskKind kind, LayoutId mesh, MeshLine line, LayoutId group, Bytes bytes);
  // Are twins left out of one of the meshes?
  bool are_left_out(LayoutId made, LayoutId read) const {
    return is_folded(made) || is_folded(read);
  }
  // Then one device sends to another one what it holds: all that the devices of one of its rows
  // have of the tensor, or none but its own, and so for columns. Each reader must have its own from
  // another device, as each twin of the kept ones would choose it.
  struct Holders {
    bool of_row, of_column;
    friend auto operator<=>(const Holders&, const Holders&) = default;
  };
  struct Ends {
    DeviceId from, to;
    friend auto operator<=>(const Ends&, const Ends&) = default;
  };
  void check_transfer(LayoutId made, LayoutId read, Holders holders, Ends ends);
  // The rows of the mesh share so many elements: twins must have as many each.
  void check_shares(LayoutId id, std::int64_t elements);

 private:
  struct Ports {  // which of their own links the members use for a collective
    std::vector<std::pair<std::size_t, std::size_t>> used;  // member and place, ascending
    bool shares_links = false;                              // with other devices
  };
  const Fold* fold() const { return placement_.fold(); }
  const std::vector<Shard>& members_of(LayoutId group) const {
    const Layouts& layouts = placement_.layouts();
    return layouts[layouts.unfolded(group)].shards;
  }
  bool is_folded(LayoutId id) const { return placement_.layouts().unfolded(id) != id; }
  Ports ports_of(std::span<const Shard> members, std::span<const LinkId> links) const;
  void check_members(LayoutId group, std::span<const LinkId> links) const;
  std::size_t holder_for(const Layout& made, const Layout& read, std::size_t reader,
                         Holders holders) const;
  void check_path(DeviceId from, DeviceId to, const Path& like) const;

  const Tables& tables_;
  const Placement& placement_;
  ExchangeTasks& tasks_;
  // That were checked, of these layouts and representatives.
  std::set<std::tuple<LayoutId, MeshLine, LayoutId, TaskKind, Bytes>> collectives_;
  std::set<std::tuple<LayoutId, LayoutId, Holders, Ends>> transfers_;
  std::set<std::pair<LayoutId, std::int64_t>> shares_;
  std::uint32_t generation_ = 0;
  IdVector<DeviceId, DeviceId> representative_;
};

}  // namespace strato
