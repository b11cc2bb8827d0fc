#include "core/launch/measure/measure_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace strato {
namespace {

// The table of pairs grows with the square of the devices; cost models pool pairs of one kind.
constexpr std::size_t kMostPairs = 4096;

using Pair = std::pair<int, int>;
using Members = std::vector<int>;

// Every device talks to the next, then every one to the next but one, ...: whatever part of them is
// measured has seen every device.
std::vector<Pair> pairs_of(int ranks) {
  std::vector<Pair> pairs;
  for (int step = 1; step < ranks; ++step) {
    for (int from = 0; from < ranks && pairs.size() < kMostPairs; ++from)
      pairs.emplace_back(from, (from + step) % ranks);
  }
  return pairs;
}

auto kind_of_pair(const Cluster& cluster, Pair pair) {
  const auto& from = cluster.devices()[DeviceId(static_cast<std::size_t>(pair.first))];
  const auto& to = cluster.devices()[DeviceId(static_cast<std::size_t>(pair.second))];
  return std::tuple(from.type, to.type, from.machine == to.machine);
}

// One pair of each kind, of all pairs there are.
std::vector<Pair> first_of_kinds(const Cluster& cluster, int ranks) {
  std::set<decltype(kind_of_pair(cluster, {}))> seen;
  std::vector<Pair> firsts;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (from != to && seen.insert(kind_of_pair(cluster, {from, to})).second)
        firsts.emplace_back(from, to);
    }
  }
  return firsts;
}

// All devices, those of each machine and of each GPU type, and one of every machine.
std::vector<Members> sets_of(const Cluster& cluster) {
  Members all, one_a_machine;
  std::map<MachineId, Members> machines;
  std::map<GpuTypeId, Members> types;
  for (std::size_t i = 0; i < cluster.device_count(); ++i) {
    const Device& device = cluster.device(DeviceId(i));
    const int rank = static_cast<int>(i);
    all.push_back(rank);
    if (machines[device.machine].empty()) one_a_machine.push_back(rank);
    machines[device.machine].push_back(rank);
    types[device.type].push_back(rank);
  }
  std::vector<Members> sets = {all, one_a_machine};
  for (const auto& [machine, members] : machines) sets.push_back(members);
  for (const auto& [type, members] : types) sets.push_back(members);
  std::vector<Members> distinct;
  for (const Members& set : sets) {
    const bool known = std::find(distinct.begin(), distinct.end(), set) != distinct.end();
    if (set.size() >= 2 && !known) distinct.push_back(set);
  }
  return distinct;
}

}  // namespace

MeasureJob make_measure_job(const Cluster& cluster, const std::string& name,
                            std::vector<std::shared_ptr<const Graph>> graphs,
                            const MeasureJobOptions& options) {
  MeasureJob job;
  job.name = name;
  job.options = options;
  job.graphs = std::move(graphs);
  for (const Device& device : cluster.devices()) {
    job.ranks.push_back({device.name, cluster.gpu_types()[device.type].name,
                         static_cast<int>(device.machine.index())});
  }
  const int ranks = static_cast<int>(job.ranks.size());
  std::set<Pair> taken;
  const auto add_pair = [&](Pair pair) {
    if (taken.insert(pair).second) job.probes.push_back({{}, {pair.first, pair.second}});
  };
  for (const Pair& pair : first_of_kinds(cluster, ranks)) add_pair(pair);
  for (const Members& set : sets_of(cluster)) {
    for (const Collective kind :
         {Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter})
      job.probes.push_back({kind, set});
  }
  for (const Pair& pair : pairs_of(ranks)) add_pair(pair);
  return job;
}

}  // namespace strato
