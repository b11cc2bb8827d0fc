#include "core/cost/measured/measured_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "core/base/quantity_text.h"
#include "core/cost/measured/pair_kind.h"

namespace strato {
namespace {

using Points = std::vector<SizedMeasurement>;

// Pools what several entries measured.
Points pooled(const std::vector<const Points*>& all) {
  Profile profile;
  for (const Points* points : all) profile.transfers.push_back({"", "", *points});
  return normalised(std::move(profile)).transfers.front().measurements;
}

// The measurements of pairs of devices and of kinds of pairs, by who they are for.
struct Transfers {
  std::map<std::pair<DeviceId, DeviceId>, const Points*> devices;
  std::map<PairKind, std::vector<const Points*>> named;    // for a kind as such
  std::map<PairKind, std::vector<const Points*>> by_kind;  // of devices of the kind
};

Transfers sorted(const Profile& profile, const Cluster& cluster,
                 std::vector<std::string>& warnings) {
  Transfers result;
  for (const TransferProfile& entry : profile.transfers) {
    const DeviceId from = cluster.find_device(entry.from), to = cluster.find_device(entry.to);
    if (from.valid() && to.valid() && from != to) {
      result.devices[{from, to}] = &entry.measurements;
      result.by_kind[kind_of(cluster, from, to)].push_back(&entry.measurements);
    } else if (const auto kind = parse_pair_kind(cluster, entry.from, entry.to)) {
      result.named[*kind].push_back(&entry.measurements);
    } else {
      warnings.push_back(fmt::format(
          "the profile's transfers from {} to {} are not used: the cluster {} has no such "
          "pair",
          entry.from, entry.to, cluster.name()));
    }
  }
  return result;
}

std::string fit_text(const SizeCurve& curve, const std::string& what, Bytes bytes) {
  std::string result =
      fmt::format("fit from {} to {}, {}: {} {}", bytes_text(curve.from()), bytes_text(curve.to()),
                  what, curve.pieces(), curve.pieces() == 1 ? "piece" : "pieces");
  if (bytes > curve.to() || bytes < curve.from()) result += "; beyond the measurements";
  return result;
}

double error_of(const SizeCurve& curve, Bytes bytes) {
  const double size = std::max(static_cast<double>(bytes.value), 1.0);
  const double doublings = std::max(
      {0.0, std::log2(size / static_cast<double>(std::max<std::int64_t>(curve.to().value, 1))),
       std::log2(static_cast<double>(curve.from().value) / size)});
  return std::min(1.0, std::max(curve.error(), 0.01) * (1 + doublings));
}

}  // namespace

MeasuredNetwork::MeasuredNetwork(const Profile& profile, const Cluster& cluster,
                                 std::shared_ptr<const CostModel> analytic,
                                 std::vector<std::string>& warnings)
    : cluster_(cluster), analytic_(std::move(analytic)) {
  if (!profile.transfers.empty()) add_transfers(profile, warnings);
  if (!profile.collectives.empty()) add_collectives(profile, warnings);
}

void MeasuredNetwork::add_transfers(const Profile& profile, std::vector<std::string>& warnings) {
  const Transfers transfers = sorted(profile, cluster_, warnings);
  std::map<PairKind, std::int32_t> kinds;
  const auto index_of = [this](Points points, std::string what) {
    pairs_.push_back({SizeCurve(points), std::move(what)});
    return static_cast<std::int32_t>(pairs_.size() - 1);
  };
  for (const auto& [kind, entries] : transfers.by_kind) {
    const std::string what =
        fmt::format("{} measured pairs of {}", entries.size(), text_of(cluster_, kind));
    kinds[kind] = index_of(pooled(entries), what);
  }
  for (const auto& [kind, entries] : transfers.named) {
    kinds[kind] = index_of(pooled(entries), text_of(cluster_, kind));
  }
  std::map<std::pair<DeviceId, DeviceId>, std::int32_t> pairs;
  for (const auto& [pair, points] : transfers.devices) {
    const auto& [from, to] = pair;
    pairs[pair] = index_of(*points, cluster_.device(from).name + " to " + cluster_.device(to).name);
  }
  const std::size_t count = cluster_.device_count();
  pair_of_.assign(count * count, -1);
  for (std::size_t i = 0; i < count * count; ++i) {
    const DeviceId from(i / count), to(i % count);
    if (from == to) continue;
    const auto own = pairs.find({from, to}), back = pairs.find({to, from});
    const auto kind = kinds.find(kind_of(cluster_, from, to));
    if (own != pairs.end()) {
      pair_of_[i] = own->second;
    } else if (back != pairs.end()) {
      pair_of_[i] = back->second;
    } else if (kind != kinds.end()) {
      pair_of_[i] = kind->second;
    }
  }
}

void MeasuredNetwork::add_collectives(const Profile& profile, std::vector<std::string>& warnings) {
  for (const CollectiveProfile& entry : profile.collectives) {
    std::vector<DeviceId> devices;
    std::string names;
    bool known = true;
    for (const std::string& name : entry.devices) {
      devices.push_back(cluster_.find_device(name));
      known = known && devices.back().valid();
      names += (names.empty() ? "" : ", ") + name;
    }
    if (!known) {
      warnings.push_back(
          fmt::format("the profile's {} over {} is not used: the cluster {} lacks a member",
                      name_of(entry.kind), names, cluster_.name()));
      continue;
    }
    std::sort(devices.begin(), devices.end());
    groups_.push_back(
        {entry.kind,
         std::move(devices),
         {SizeCurve(entry.measurements), fmt::format("{} over {}", name_of(entry.kind), names)}});
  }
  std::stable_sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
    return std::tie(a.kind, a.devices) < std::tie(b.kind, b.devices);
  });
}

// A path of the cluster is told by where it lies; a copy of one by its links.
const MeasuredNetwork::Measured* MeasuredNetwork::find(const Path& path) const {
  if (pair_of_.empty() || path.links.empty()) return nullptr;
  const Path* first = &cluster_.path(DeviceId(0), DeviceId(0));
  const std::size_t count = pair_of_.size();
  const std::less<const Path*> before;
  std::size_t index = 0;
  if (!before(&path, first) && before(&path, first + count)) {
    index = static_cast<std::size_t>(&path - first);
  } else {
    while (index < count && first[index].links != path.links) ++index;
  }
  if (index == count || pair_of_[index] < 0) return nullptr;
  return &pairs_[static_cast<std::size_t>(pair_of_[index])];
}

const MeasuredNetwork::Measured* MeasuredNetwork::find(Collective kind,
                                                       std::span<const DeviceId> devices) const {
  const auto before = [&](const Group& group, std::span<const DeviceId> members) {
    if (group.kind != kind) return group.kind < kind;
    return std::lexicographical_compare(group.devices.begin(), group.devices.end(), members.begin(),
                                        members.end());
  };
  const auto at = std::lower_bound(groups_.begin(), groups_.end(), devices, before);
  if (at == groups_.end() || at->kind != kind ||
      !std::equal(devices.begin(), devices.end(), at->devices.begin(), at->devices.end())) {
    return nullptr;
  }
  return &at->measured;
}

Nanos MeasuredNetwork::time_on(const Measured& measured, const Path& path, Bytes bytes) {
  const Nanos told = measured.curve.at(bytes);
  if (bytes <= measured.curve.to()) return told;
  const auto more = static_cast<double>((bytes - measured.curve.to()).value);
  return std::max(
      told, measured.curve.at(measured.curve.to()) + nanos_from_seconds(more / path.bandwidth));
}

Nanos MeasuredNetwork::transfer(const Path& path, Bytes bytes) const {
  const Measured* measured = find(path);
  return measured != nullptr ? time_on(*measured, path, bytes) : analytic_->transfer(path, bytes);
}

CollectiveCost MeasuredNetwork::collective(Collective kind, std::span<const DeviceId> devices,
                                           Bytes bytes) const {
  CollectiveCost cost = analytic_->collective(kind, devices, bytes);
  const Measured* measured = groups_.empty() ? nullptr : find(kind, devices);
  if (measured == nullptr) return cost;
  const SizeCurve& curve = measured->curve;
  Nanos told = curve.at(bytes);
  if (bytes > curve.to()) {
    const Nanos at_end = analytic_->collective(kind, devices, curve.to()).duration;
    told = std::max(told, curve.at(curve.to()) + (cost.duration - at_end));
  }
  cost.duration = told;
  cost.latency = std::min(curve.latency(), told);
  return cost;
}

Estimate MeasuredNetwork::explain_transfer(const Path& path, Bytes bytes) const {
  const Measured* measured = find(path);
  if (measured == nullptr) return analytic_->explain_transfer(path, bytes);
  return {time_on(*measured, path, bytes), CostSource::Fit, error_of(measured->curve, bytes),
          fit_text(measured->curve, measured->what, bytes)};
}

Estimate MeasuredNetwork::explain_collective(Collective kind, std::span<const DeviceId> devices,
                                             Bytes bytes) const {
  const Measured* measured = groups_.empty() ? nullptr : find(kind, devices);
  if (measured == nullptr) return analytic_->explain_collective(kind, devices, bytes);
  return {collective(kind, devices, bytes).duration, CostSource::Fit,
          error_of(measured->curve, bytes), fit_text(measured->curve, measured->what, bytes)};
}

}  // namespace strato
