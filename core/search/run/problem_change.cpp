#include "core/search/run/problem_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cost/value/profile.h"
#include "core/graph/build/copy_graph.h"
#include "core/search/evaluate/baselines.h"

namespace strato {
namespace {

constexpr std::size_t kKeptGraphs = 24;  // a curve over the batch and back

// All devices compute faster (or slower); the network stays.
class FasterDevices : public CostModel {
 public:
  FasterDevices(std::shared_ptr<const CostModel> inner, double speed)
      : inner_(std::move(inner)),
        speed_(speed),
        digest_(Hasher().text("faster").number(speed).digest(inner_->digest()).finish()) {}

  Nanos compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override {
    return faster(inner_->compute(op, gpu, samples));
  }
  Nanos local_move(GpuTypeId gpu, Bytes moved) const override {
    return faster(inner_->local_move(gpu, moved));
  }
  Nanos transfer(const Path& path, Bytes bytes) const override {
    return inner_->transfer(path, bytes);
  }
  CollectiveCost collective(Collective kind, std::span<const DeviceId> devices,
                            Bytes bytes) const override {
    return inner_->collective(kind, devices, bytes);
  }
  Nanos issue(OpId op) const override { return inner_->issue(op); }
  Nanos issue_collective() const override { return inner_->issue_collective(); }
  Nanos issue_local_move() const override { return inner_->issue_local_move(); }
  bool issue_after_transfers() const override { return inner_->issue_after_transfers(); }
  bool is_passed_on(TensorId tensor) const override { return inner_->is_passed_on(tensor); }
  bool adds_up(TensorId gradient) const override { return inner_->adds_up(gradient); }
  const Digest& digest() const override { return digest_; }

  Estimate explain_compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override {
    Estimate estimate = inner_->explain_compute(op, gpu, samples);
    estimate.time = faster(estimate.time);
    return estimate;
  }
  Estimate explain_transfer(const Path& path, Bytes bytes) const override {
    return inner_->explain_transfer(path, bytes);
  }
  Estimate explain_collective(Collective kind, std::span<const DeviceId> devices,
                              Bytes bytes) const override {
    return inner_->explain_collective(kind, devices, bytes);
  }

 private:
  Nanos faster(Nanos time) const { return nanos_from(static_cast<double>(time.value) / speed_); }

  std::shared_ptr<const CostModel> inner_;
  double speed_;
  Digest digest_;
};

// Measured times of a network say nothing about another one.
CostSources without_network(const CostSources& costs) {
  Profile profile = *costs.profile;
  profile.transfers.clear();
  profile.collectives.clear();
  return {costs.calibration, std::make_shared<const Profile>(std::move(profile))};
}

// Shares on the changed cluster; empty when all devices are of kinds that are gone.
std::vector<DeviceShare> carried(const std::vector<DeviceShare>& shares, const ChangedCluster& to,
                                 bool grows) {
  std::map<DeviceId, std::int32_t> stays, instead;
  for (const auto& [device, weight] : shares) {
    const DeviceId now = to.instead[device];
    if (!now.valid()) continue;
    instead.emplace(now, weight);
    if (to.like[now] == device) stays.emplace(now, weight);
  }
  if (stays.empty()) stays = std::move(instead);
  for (std::size_t d = 0; grows && d < to.like.size(); ++d) {
    const auto known = std::ranges::find(shares, to.like[DeviceId(d)], &DeviceShare::device);
    if (known != shares.end()) stays.emplace(DeviceId(d), known->weight);
  }
  std::vector<DeviceShare> result;
  for (const auto& [device, weight] : stays) result.push_back({device, weight});
  return result;
}

Decision carried(const Decision& decision, const ChangedCluster& to) {
  const bool grows = splits_batch(decision.mode) &&
                     (decision.devices.size() > 1 || decision.devices.size() == to.instead.size());
  Decision result{decision.mode, carried(decision.devices, to, grows), decision.roles};
  if (result.devices.empty())
    for (std::size_t d = 0; d < to.like.size(); ++d) result.devices.push_back({DeviceId(d), 1});
  drop_meaningless_roles(result);
  return result;
}

void carry_over(std::vector<OpSplit>& splits, const ChangedCluster& to) {
  for (OpSplit& split : splits) split.parts = carried(split.parts, to, false);
  std::erase_if(splits, [](const OpSplit& split) { return split.parts.size() < 2; });
}

void carry_over(SyncPart& part, const ChangedCluster& to) {
  if (part.server.valid()) {
    part.server = to.instead[part.server];
    if (!part.server.valid()) part.server = DeviceId(0);
  }
  part.sequence.clear();  // it names every replica
  std::map<MachineId, DeviceId> stations;
  for (const DeviceId station : part.stations)
    if (const DeviceId now = to.instead[station]; now.valid())
      stations.emplace(to.cluster->device(now).machine, now);
  part.stations.clear();
  for (const auto& [machine, station] : stations) part.stations.push_back(station);
  std::ranges::sort(part.stations);
}

}  // namespace

std::string describe(const ProblemChange& change) {
  std::vector<std::string> parts;
  if (change.batch) parts.push_back(fmt::format("batch {}", *change.batch));
  const auto factor = [&](const char* what, double value) {
    if (value != 1) parts.push_back(fmt::format("{} x{:.3g}", what, value));
  };
  if (change.precision) parts.emplace_back(name_of(*change.precision));
  factor("network", change.cluster.network_bandwidth);
  factor("links in machines", change.cluster.machine_bandwidth);
  factor("latency", change.cluster.latency);
  factor("device speed", change.speed);
  factor("memory", change.cluster.memory);
  for (const auto& [name, count] : change.cluster.machines)
    parts.push_back(fmt::format("{} {}", count, name));
  for (const auto& [name, gpu] : change.cluster.gpus)
    parts.push_back(fmt::format("{} with {}", name, gpu));
  return parts.empty() ? "as it is" : fmt::format("{}", fmt::join(parts, ", "));
}

ProblemChanger::ProblemChanger(Problem problem, CostSources costs)
    : problem_(std::move(problem)),
      costs_(std::move(costs)),
      precision_(precision_of(*problem_.graph)) {}

std::shared_ptr<const Graph> ProblemChanger::graph_with(const ProblemChange& change) {
  const GraphKey own{problem_.graph->batch(), precision_};
  const GraphKey key{change.batch.value_or(own.first), change.precision.value_or(own.second)};
  if (key == own) return problem_.graph;
  const auto known =
      std::ranges::find_if(graphs_, [&](const auto& graph) { return graph.first == key; });
  if (known != graphs_.end()) return known->second;
  graphs_.emplace_front(key, std::make_shared<const Graph>(changed_graph(*problem_.graph, change)));
  if (graphs_.size() > kKeptGraphs) graphs_.pop_back();
  return graphs_.front().second;
}

ChangedProblem ProblemChanger::apply(const ProblemChange& change) {
  constexpr double kMost = 1024;
  if (!(change.speed >= 1 / kMost && change.speed <= kMost))
    throw InputError(problem_.cluster->name(), "device speed",
                     fmt::format("{:g} times as fast", change.speed),
                     fmt::format("give a factor of 1/{0:g} to {0:g}", kMost));
  ChangedProblem result{problem_, change_cluster(problem_.cluster, change.cluster), {}};
  Problem& problem = result.problem;
  problem.cluster = result.cluster.cluster;
  problem.graph = graph_with(change);
  if (problem.graph != problem_.graph || problem.cluster != problem_.cluster) {
    const bool measured = costs_.profile != nullptr && !(costs_.profile->transfers.empty() &&
                                                         costs_.profile->collectives.empty());
    const bool drop = measured && !change.cluster.keeps_links();
    if (drop)
      result.remarks.emplace_back(
          "The network's measurements do not hold for another one: its times are computed.");
    if (costs_.profile && change.precision && *change.precision != precision_)
      result.remarks.emplace_back(
          "Measured times are of the model's own precision: those of another are computed.");
    if (!change.cluster.gpus.empty() && price_of(*problem_.cluster) && !price_of(*problem.cluster))
      result.remarks.emplace_back("What machines with other GPUs cost is not known.");
    problem.cost = make_cost_model(problem.graph, problem.cluster,
                                   drop ? without_network(costs_) : costs_, nullptr);
  }
  if (change.speed != 1) problem.cost = std::make_shared<FasterDevices>(problem.cost, change.speed);
  return result;
}

std::shared_ptr<const Cluster> cluster_to_keep(const std::shared_ptr<const Cluster>& cluster,
                                               const ProblemChange& change) {
  return with_device_speed(change_cluster(cluster, change.cluster).cluster, change.speed);
}

Graph changed_graph(const Graph& model, const ProblemChange& change) {
  const bool same_type = !change.precision || *change.precision == precision_of(model);
  const bool same_batch = !change.batch || *change.batch == model.batch();
  if (same_type) return with_batch(model, change.batch.value_or(model.batch()));
  return with_precision(same_batch ? model : with_batch(model, *change.batch), *change.precision);
}

Strategy carry_over(const Strategy& strategy, const ChangedProblem& changed) {
  const ChangedCluster& to = changed.cluster;
  if (to.like == to.instead) return strategy;
  Strategy result = strategy;
  for (std::optional<Decision>& decision : result.groups)
    if (decision) decision = carried(*decision, to);
  carry_over(result.splits, to);
  for (VariableSync& variable : result.variables)
    for (SyncPart& part : variable.parts) carry_over(part, to);
  return result;
}

DeviceId fullest_device(const Timeline& timeline) {
  DeviceId fullest;
  double most = 0;
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
    const DeviceUse& use = timeline.devices[DeviceId(d)];
    const double filled = use.peak / use.capacity;
    if (fullest.valid() && filled <= most) continue;
    fullest = DeviceId(d);
    most = filled;
  }
  return fullest;
}

StepFigures figures_of(const Problem& problem, const Outcome& outcome) {
  const Timeline& timeline = *outcome.timeline;
  StepFigures figures;
  figures.step_time = timeline.step_time;
  figures.feasible = timeline.feasible;
  const double seconds = to_seconds(timeline.step_time);
  if (seconds > 0)
    figures.samples_per_second = static_cast<double>(problem.graph->batch()) / seconds;
  if (const auto price = price_of(*problem.cluster); price && seconds > 0)
    figures.per_million_samples = price->total() / 3600 / figures.samples_per_second * 1e6;
  double batches_per_second = 0;
  const auto times = graph_times(problem);
  for (const Device& device : problem.cluster->devices())
    if (times[device.type].value > 0) batches_per_second += 1 / to_seconds(times[device.type]);
  if (seconds > 0 && batches_per_second > 0) figures.efficiency = 1 / batches_per_second / seconds;
  figures.fullest = fullest_device(timeline);
  if (figures.fullest.valid()) {
    figures.peak = timeline.devices[figures.fullest].peak;
    figures.capacity = timeline.devices[figures.fullest].capacity;
  }
  return figures;
}

}  // namespace strato
