#include "core/program/exchange/mesh_twins.h"

#include <algorithm>

#include "core/base/at.h"
#include "core/program/place/symmetry.h"

namespace strato {

void MeshTwins::start() {
  constexpr std::size_t kMostChecked = 50'000;
  const std::uint32_t generation = placement_.layouts().generation();
  if (fold() == nullptr) return;
  if (generation_ == generation && representative_ == fold()->representative &&
      collectives_.size() + transfers_.size() <= kMostChecked)
    return;
  collectives_.clear();
  transfers_.clear();
  shares_.clear();
  generation_ = generation;
  representative_ = fold()->representative;
}

MeshTwins::Ports MeshTwins::ports_of(std::span<const Shard> members,
                                     std::span<const LinkId> links) const {
  Ports ports;
  ports.used.reserve(links.size());
  for (const LinkId link : links) {
    const DeviceId device = tables_.cluster->links()[link].device;
    const auto member = std::ranges::lower_bound(members, device, {}, &Shard::device);
    if (!device.valid() || member == members.end() || member->device != device) {
      ports.shares_links = true;
      continue;
    }
    const std::vector<LinkId>& own = tables_.cluster->ports(device);
    ports.used.emplace_back(member - members.begin(), std::ranges::find(own, link) - own.begin());
  }
  if (!std::ranges::is_sorted(ports.used)) std::ranges::sort(ports.used);
  return ports;
}

// Each member has its representative in the group, which uses the same of its links. A group that
// stands for others uses no links but its members'.
void MeshTwins::check_members(LayoutId group, std::span<const LinkId> links) const {
  const std::vector<Shard>& members = members_of(group);
  const Ports ports = ports_of(members, links);
  std::vector<std::vector<std::size_t>> of_member(members.size());
  for (const auto& [member, place] : ports.used) of_member[member].push_back(place);
  std::size_t represented = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const DeviceId representative = fold()->representative[members[i].device];
    const auto at = std::ranges::lower_bound(members, representative, {}, &Shard::device);
    if (at == members.end() || at->device != representative) throw TwinsDiffer();
    if (of_member[i] != of_member[static_cast<std::size_t>(at - members.begin())])
      throw TwinsDiffer();
    if (representative == members[i].device) represented += fold()->stands_for[representative];
  }
  if (ports.shares_links && represented != members.size()) throw TwinsDiffer();
}

void MeshTwins::check_collective(TaskKind kind, LayoutId mesh, MeshLine line, LayoutId group,
                                 Bytes bytes) {
  if (!is_folded(mesh) || collectives_.contains({mesh, line, group, kind, bytes})) return;
  const Layouts& layouts = placement_.layouts();
  const CollectiveCost cost = tasks_.collective_cost(kind, group, bytes);  // more are looked up
  check_members(group, cost.links);
  const Ports ports = ports_of(members_of(group), cost.links);
  const DeviceId first = layouts[group].shards.front().device;
  for (const LineOfMesh& twins : layouts.lines(layouts.unfolded(mesh), line)) {
    const LayoutId other = twins.group;
    const DeviceId twin = layouts[other].shards.front().device;
    if (fold()->representative[twin] != first || other == layouts.unfolded(group)) continue;
    const CollectiveCost& like = tasks_.collective_cost(kind, other, bytes);
    if (cost.duration != like.duration || cost.latency != like.latency ||
        ports.used != ports_of(members_of(other), like.links).used)
      throw TwinsDiffer();
  }
  collectives_.emplace(mesh, line, group, kind, bytes);
}

// As MeshTransfers::holders() chooses it.
std::size_t MeshTwins::holder_for(const Layout& made, const Layout& read, std::size_t reader,
                                  Holders holders) const {
  const DeviceId to = read.shards[reader].device;
  std::vector<std::size_t> nearest;
  int least = 4;
  const auto consider = [&](std::size_t i) {
    const int far = distance(*tables_.cluster, made.shards[i].device, to);
    if (far < least) nearest.clear();
    least = std::min(least, far);
    if (far == least) nearest.push_back(i);
  };
  // Both have the same grid.
  const std::size_t row = read.row(reader), column = read.column(reader);
  for (std::size_t r = holders.of_row ? row : 0; r < made.row_count(); ++r) {
    if (holders.of_row && r != row) break;
    for (std::size_t c = 0; c < made.columns; ++c)
      if (!holders.of_column || c == column) consider(r * made.columns + c);
  }
  if (nearest.empty()) throw TwinsDiffer();
  return nearest[to.index() % nearest.size()];
}

void MeshTwins::check_path(DeviceId from, DeviceId to, const Path& like) const {
  const Path& path = tables_.cluster->path(from, to);
  if (path.bandwidth != like.bandwidth || path.latency != like.latency ||
      path.links.size() != like.links.size())
    throw TwinsDiffer();
  for (const LinkId link : path.links) {
    const DeviceId device = tables_.cluster->links()[link].device;
    if (device != from && device != to) throw TwinsDiffer();
  }
}

void MeshTwins::check_transfer(LayoutId made_id, LayoutId read_id, Holders holders, Ends ends) {
  if (transfers_.contains({made_id, read_id, holders, ends})) return;
  const Layouts& layouts = placement_.layouts();
  const Layout& made = layouts[layouts.unfolded(made_id)];
  const Layout& read = layouts[layouts.unfolded(read_id)];
  if (!have_same_grid(made, read)) throw TwinsDiffer();
  const IdVector<DeviceId, DeviceId>& representative = fold()->representative;
  std::vector<char> used(made.shards.size(), false);
  for (std::size_t i = 0; i < read.shards.size(); ++i) {
    const std::size_t holder = holder_for(made, read, i, holders);
    if (std::exchange(used[holder], true)) throw TwinsDiffer();
    const DeviceId to = read.shards[i].device, from = made.shards[holder].device;
    const std::size_t kept = at(read.position(representative[to]));
    const DeviceId sender = made.shards[holder_for(made, read, kept, holders)].device;
    if (!fold()->keeps(sender) || representative[from] != sender) throw TwinsDiffer();
    if (to == ends.to && from != ends.from) throw TwinsDiffer();
    check_path(from, to, tables_.cluster->path(sender, representative[to]));
  }
  transfers_.emplace(made_id, read_id, holders, ends);
}

void MeshTwins::check_shares(LayoutId id, std::int64_t elements) {
  if (!is_folded(id) || shares_.contains({id, elements})) return;
  const Layouts& layouts = placement_.layouts();
  const Layout& mesh = layouts[layouts.unfolded(id)];
  const auto share_on = [&](DeviceId device) {
    const std::size_t share = mesh.share(at(mesh.position(device)));
    return mesh.share_begin(elements, share + 1) - mesh.share_begin(elements, share);
  };
  for (const Shard& shard : mesh.shards)
    if (share_on(shard.device) != share_on(fold()->representative[shard.device]))
      throw TwinsDiffer();
  shares_.emplace(id, elements);
}

}  // namespace strato
