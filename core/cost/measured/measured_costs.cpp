#include "core/cost/measured/measured_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "core/base/quantity_text.h"
#include "core/cluster/spec/gpu_catalogue.h"

namespace strato {
namespace {

using Points = std::vector<SizedMeasurement>;

constexpr std::string_view kSame = "/same machine";
constexpr std::string_view kOther = "/other machine";

PairKind kind_of(const Cluster& cluster, DeviceId from, DeviceId to) {
  const Device &a = cluster.device(from), &b = cluster.device(to);
  return {a.type, b.type, a.machine == b.machine};
}

GpuTypeId gpu_called(const Cluster& cluster, std::string_view name) {
  const GpuType* gpu = find_as_written(cluster.gpu_types(), name);
  if (gpu == nullptr) return {};
  return GpuTypeId(static_cast<std::size_t>(gpu - cluster.gpu_types().data()));
}

// from: "V100"; to: "P100/other machine", "V100/same machine". Nothing where that is not the form,
// or the cluster has no such GPU.
std::optional<PairKind> parse_pair_kind(const Cluster& cluster, std::string_view from,
                                        std::string_view to) {
  const bool same = to.ends_with(kSame);
  if (!same && !to.ends_with(kOther)) return std::nullopt;
  to.remove_suffix(same ? kSame.size() : kOther.size());
  const PairKind kind{gpu_called(cluster, from), gpu_called(cluster, to), same};
  return kind.from.valid() && kind.to.valid() ? std::optional(kind) : std::nullopt;
}

// "V100-SXM2-32GB to P100-PCIe-16GB in another machine"
std::string text_of(const Cluster& cluster, const PairKind& kind) {
  return fmt::format("{} to {} in {} machine", cluster.gpu_types()[kind.from].name,
                     cluster.gpu_types()[kind.to].name, kind.same_machine ? "the same" : "another");
}

// Pools what several entries measured.
Points pooled(const std::vector<const Points*>& all) {
  Profile profile;
  for (const Points* points : all) profile.transfers.push_back({"", "", *points});
  return normalised(std::move(profile)).transfers.front().measurements;
}

std::string fit_text(const SizeCurve& curve, const std::string& what, Bytes bytes) {
  std::string result =
      fmt::format("fit from {} to {}, {}: {} {}", bytes_text(curve.from()), bytes_text(curve.to()),
                  what, curve.pieces(), curve.pieces() == 1 ? "piece" : "pieces");
  if (bytes > curve.to() || bytes < curve.from()) result += "; beyond the measurements";
  return result;
}

double error_of(const SizeCurve& curve, Bytes bytes) {
  const std::int64_t greatest = std::max<std::int64_t>(curve.to().value, 1);
  const std::int64_t size = std::max<std::int64_t>(bytes.value, 1);
  const double doublings = doublings_outside(curve.from().value, greatest, size);
  return std::min(1.0, std::max(curve.error(), 0.01) * (1 + doublings));
}

// Beyond the measurements nothing is faster than the path's bandwidth.
Nanos time_on(const SizeCurve& curve, const Path& path, Bytes bytes) {
  if (bytes <= curve.to()) return curve.at(bytes);
  const auto more = static_cast<double>((bytes - curve.to()).value);
  return std::max(curve.at(bytes),
                  curve.at(curve.to()) + nanos_from_seconds(more / path.bandwidth));
}

}  // namespace

MeasuredCosts::MeasuredCosts(const Profile& profile, const Graph& graph, const Cluster& cluster,
                             std::shared_ptr<const CostModel> analytic,
                             std::vector<std::string>& warnings)
    : cluster_(cluster),
      analytic_(std::move(analytic)),
      compute_(profile, graph, cluster, analytic_, warnings),
      digest_(Hasher()
                  .text("measured cost 1")
                  .digest(analytic_->digest())  // of graph, cluster and calibration
                  .digest(profile.digest())
                  .finish()) {
  if (!profile.transfers.empty()) add_transfers(profile, warnings);
  if (!profile.collectives.empty()) add_collectives(profile, warnings);
}

std::int32_t MeasuredCosts::add_pair(std::span<const SizedMeasurement> points, std::string what) {
  pairs_.push_back({SizeCurve(points), std::move(what)});
  return static_cast<std::int32_t>(pairs_.size() - 1);
}

void MeasuredCosts::add_transfers(const Profile& profile, std::vector<std::string>& warnings) {
  std::map<PairKind, std::vector<const Points*>> by_kind, named;  // of its devices; as such
  for (const TransferProfile& entry : profile.transfers) {
    const DeviceId from = cluster_.find_device(entry.from), to = cluster_.find_device(entry.to);
    if (from.valid() && to.valid() && from != to) {
      pair_of_[{from, to}] =
          add_pair(entry.measurements, fmt::format("{} to {}", entry.from, entry.to));
      by_kind[kind_of(cluster_, from, to)].push_back(&entry.measurements);
    } else if (const auto kind = parse_pair_kind(cluster_, entry.from, entry.to)) {
      named[*kind].push_back(&entry.measurements);
    } else {
      warnings.push_back(fmt::format(
          "the profile's transfers from {} to {} are not used: the cluster {} has no such pair",
          entry.from, entry.to, cluster_.name()));
    }
  }
  for (const auto& [kind, entries] : by_kind)
    pair_of_kind_[kind] =
        add_pair(pooled(entries),
                 fmt::format("{} measured pairs of {}", entries.size(), text_of(cluster_, kind)));
  for (const auto& [kind, entries] : named)
    pair_of_kind_[kind] = add_pair(pooled(entries), text_of(cluster_, kind));
}

void MeasuredCosts::add_collectives(const Profile& profile, std::vector<std::string>& warnings) {
  for (const CollectiveProfile& entry : profile.collectives) {
    const std::string what =
        fmt::format("{} over {}", name_of(entry.kind), fmt::join(entry.devices, ", "));
    std::vector<DeviceId> devices;
    for (const std::string& name : entry.devices) devices.push_back(cluster_.find_device(name));
    std::ranges::sort(devices);
    if (!devices.front().valid())  // one that is unknown is the least
      warnings.push_back(fmt::format("the profile's {} is not used: the cluster {} lacks a member",
                                     what, cluster_.name()));
    else
      groups_.push_back({entry.kind, std::move(devices), {SizeCurve(entry.measurements), what}});
  }
  std::ranges::stable_sort(groups_, {},
                           [](const Group& group) { return std::tie(group.kind, group.devices); });
}

// The measurements of the pair; of the way back; of the kind.
const MeasuredCosts::Measured* MeasuredCosts::find(const Path& path) const {
  if (pairs_.empty() || path.links.empty()) return nullptr;
  const auto take = [this](const auto& indices, const auto& key) -> const Measured* {
    const auto found = indices.find(key);
    return found == indices.end() ? nullptr : &pairs_[static_cast<std::size_t>(found->second)];
  };
  if (const Measured* there = take(pair_of_, std::pair(path.from, path.to))) return there;
  if (const Measured* back = take(pair_of_, std::pair(path.to, path.from))) return back;
  return take(pair_of_kind_, kind_of(cluster_, path.from, path.to));
}

const MeasuredCosts::Measured* MeasuredCosts::find(Collective kind,
                                                   std::span<const DeviceId> devices) const {
  const auto before = [&](const Group& group, std::span<const DeviceId> members) {
    return group.kind != kind ? group.kind < kind
                              : std::ranges::lexicographical_compare(group.devices, members);
  };
  const auto at = std::lower_bound(groups_.begin(), groups_.end(), devices, before);
  const bool found =
      at != groups_.end() && at->kind == kind && std::ranges::equal(devices, at->devices);
  return found ? &at->measured : nullptr;
}

Nanos MeasuredCosts::transfer(const Path& path, Bytes bytes) const {
  const Measured* measured = find(path);
  return measured != nullptr ? time_on(measured->curve, path, bytes)
                             : analytic_->transfer(path, bytes);
}

CollectiveCost MeasuredCosts::collective(Collective kind, std::span<const DeviceId> devices,
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

Estimate MeasuredCosts::explain_transfer(const Path& path, Bytes bytes) const {
  const Measured* measured = find(path);
  if (measured == nullptr) return analytic_->explain_transfer(path, bytes);
  return {transfer(path, bytes), CostSource::Fit, error_of(measured->curve, bytes),
          fit_text(measured->curve, measured->what, bytes)};
}

Estimate MeasuredCosts::explain_collective(Collective kind, std::span<const DeviceId> devices,
                                           Bytes bytes) const {
  const Measured* measured = groups_.empty() ? nullptr : find(kind, devices);
  if (measured == nullptr) return analytic_->explain_collective(kind, devices, bytes);
  return {collective(kind, devices, bytes).duration, CostSource::Fit,
          error_of(measured->curve, bytes), fit_text(measured->curve, measured->what, bytes)};
}

}  // namespace strato
