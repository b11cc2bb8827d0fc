// From a site and a strategy to its integer program.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "core/base/at.h"
#include "core/io/byte_io.h"
#include "core/program/sfb/sites.h"

namespace strato {
namespace {

using Sync = SiteState::Sync;
using Need = SiteState::Need;

// The gradient has to be whole on all devices that make its partial sums, and nowhere else.
Sync sync_of(OpId update, const Replicas::Group& makers, const Replicas& replicas) {
  const Replicas::Group& homes = replicas.group(update);
  if (homes.mode == Mode::ModelParallel || homes.devices != makers.devices) return Sync::None;
  if (homes.mode == Mode::ReplicatePs) return Sync::Ps;
  const bool reduce =
      makers.mode == Mode::ReplicateAllReduce || homes.mode == Mode::ReplicateAllReduce;
  return reduce ? Sync::AllReduce : Sync::Ps;
}

class Weights {
 public:
  Weights(const Tables& tables, const Replicas::Group& group, bool fused, SfbCosts costs,
          double tau)
      : tables_(tables),
        group_(group),
        fused_(fused),
        printed_(costs == SfbCosts::Printed),
        tau_(tau),
        devices_(static_cast<double>(group.devices.size())) {
    for (std::size_t i = 0; i < group.devices.size(); ++i)
      kinds_.emplace(tables.cluster->device(group.devices[i]).type, group.samples[i]);
  }

  double time(OpId op) const {
    if (tables_.ops[op].alias) return 0;
    double most = 0;
    for (const auto& [gpu, samples] : kinds_) {
      const Nanos shard = tables_.cost->compute(op, gpu, samples);
      most = std::max(
          most, printed_ ? (devices_ - 1) * number(shard)
                         : number(tables_.cost->compute(op, gpu, tables_.batch)) - number(shard));
    }
    return most;
  }

  // Servers take turns: each runs 1/D of the updates.
  double update_time(OpId update, Sync sync) const {
    if (sync != Sync::Ps) return 0;
    double most = 0;
    for (const auto& [gpu, samples] : kinds_)
      most = std::max(most, number(tables_.cost->compute(update, gpu, tables_.batch)));
    return most * (devices_ - 1) / devices_;
  }

  double gather(TensorId tensor) const {  // the D parts are the tensor
    const Bytes bytes = tables_.tensors[tensor].bytes;
    if (printed_) return (devices_ - 1) * static_cast<double>(bytes.value) / tau_;
    return number(tables_.cost->collective(Collective::AllGather, group_.devices, bytes).duration);
  }

  double synchronise(TensorId tensor, Sync sync) const {
    const Bytes bytes = tables_.tensors[tensor].bytes;
    if (printed_) {
      const double share = sync == Sync::AllReduce ? (devices_ - 1) / devices_ : devices_ - 1;
      return 2 * share * static_cast<double>(bytes.value) / tau_;
    }
    if (sync == Sync::Ps) return 2 * (devices_ - 1) * slowest_transfer(bytes);
    const CollectiveCost cost =
        tables_.cost->collective(Collective::AllReduce, group_.devices, bytes);
    return number(fused_ ? cost.duration - cost.latency : cost.duration);
  }

 private:
  static double number(Nanos time) { return static_cast<double>(time.value); }

  double slowest_transfer(Bytes bytes) const {
    double most = 0;
    for (const DeviceId from : group_.devices)
      for (const DeviceId to : group_.devices)
        if (from != to)
          most = std::max(most,
                          number(tables_.cost->transfer(tables_.cluster->path(from, to), bytes)));
    return most;
  }

  const Tables& tables_;
  const Replicas::Group& group_;
  const bool fused_, printed_;
  const double tau_, devices_;
  std::set<std::pair<GpuTypeId, std::int64_t>> kinds_;  // of shards
};

Need need_of(const SfbSite& site, const SfbSite::Edge& edge, const SiteState& state,
             const Tables& tables, const Replicas& replicas) {
  const TensorFacts& facts = tables.tensors[edge.tensor];
  const std::vector<DeviceId>& devices = replicas.group(site.producer).devices;
  if (facts.kind == BatchKind::Whole || replicas.is_whole_on(facts.op, devices)) return Need::Free;
  if (facts.kind == BatchKind::Partial && replicas.is_sharded(facts.op)) return Need::Sum;
  const bool gathered = std::ranges::any_of(tables.graph->consumers(edge.tensor), [&](OpId reader) {
    return replicas.is_whole_on(reader, devices);
  });
  return gathered || (edge.maker >= 0 && !state.sharded[at(edge.maker)]) ? Need::Free
                                                                         : Need::Gather;
}

}  // namespace

bool SiteState::synchronises() const {
  return std::ranges::any_of(sync, [](Sync each) { return each != Sync::None; });
}

SiteState state_of(const SfbSite& site, const Tables& tables, const Strategy& complete,
                   const Replicas& replicas) {
  SiteState state;
  const Replicas::Group& group = replicas.group(site.producer);
  if (!splits_batch(group.mode) || !replicas.is_sharded(site.producer)) return state;
  state.fused = complete.bucket > Bytes(0);
  state.sync.reserve(site.updates.size());
  for (const OpId update : site.updates) state.sync.push_back(sync_of(update, group, replicas));
  if (!state.synchronises()) return state;
  state.sharded.reserve(site.ops.size());
  state.needs.reserve(site.edges.size());
  for (const OpId op : site.ops) state.sharded.push_back(replicas.is_sharded(op) ? 1 : 0);
  for (const SfbSite::Edge& edge : site.edges)
    state.needs.push_back(need_of(site, edge, state, tables, replicas));
  return state;
}

std::string key_of(const SiteState& state, const Replicas::Group& group) {
  ByteWriter key;
  key.number(state.fused).number(group.shape.high).number(group.shape.low);
  for (const Sync sync : state.sync) key.number(sync);
  key.text({state.sharded.data(), state.sharded.size()});
  for (const Need need : state.needs) key.number(need);
  return std::move(key).take();
}

double bottleneck_bandwidth(const Tables& tables, const std::vector<DeviceId>& devices) {
  constexpr Bytes kOnce(std::int64_t{1} << 28), kTwice(kOnce * 2);
  double least = std::numeric_limits<double>::infinity();
  for (const DeviceId from : devices)
    for (const DeviceId to : devices) {
      if (from == to) continue;
      const Path& path = tables.cluster->path(from, to);
      const Nanos more = tables.cost->transfer(path, kTwice) - tables.cost->transfer(path, kOnce);
      const double bandwidth =
          more > Nanos(0) ? static_cast<double>(kOnce.value) / static_cast<double>(more.value)
                          : path.bandwidth * 1e-9;
      least = std::min(least, bandwidth);
    }
  return least;
}

SfbProblem sfb_problem_of(const SfbSite& site, const SiteState& state, const Tables& tables,
                          const Replicas::Group& group, SfbCosts costs, double tau) {
  const Weights weights(tables, group, state.fused, costs, tau);
  // Op 1 is the update, so what comes after g moves up by one.
  const auto shifted = [](int op) { return op <= 0 ? op : op + 1; };
  SfbProblem program;
  program.time.assign(site.ops.size() + 1, 0);
  for (std::size_t i = 0; i < site.ops.size(); ++i)
    if (state.sharded[i])
      program.time[at(shifted(static_cast<int>(i)))] = weights.time(site.ops[i]);
  for (std::size_t i = 0; i < site.gradients.size(); ++i) {
    if (state.sync[i] == Sync::None) continue;
    program.time[SfbProblem::kUpdate] += weights.update_time(site.updates[i], state.sync[i]);
    program.gain += weights.synchronise(site.gradients[i], state.sync[i]);
  }
  const Sync sums = group.mode == Mode::ReplicateAllReduce ? Sync::AllReduce : Sync::Ps;
  for (std::size_t e = 0; e < site.edges.size(); ++e) {
    if (state.needs[e] == Need::Free) continue;
    SfbTensor tensor;
    tensor.maker = shifted(site.edges[e].maker);
    tensor.cost = state.needs[e] == Need::Gather ? weights.gather(site.edges[e].tensor)
                                                 : weights.synchronise(site.edges[e].tensor, sums);
    for (const int reader : site.edges[e].readers) tensor.readers.push_back(shifted(reader));
    program.tensors.push_back(std::move(tensor));
  }
  return program;
}

}  // namespace strato
