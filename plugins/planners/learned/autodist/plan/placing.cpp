#include "plugins/planners/learned/autodist/plan/placing.h"

#include <algorithm>
#include <span>

#include "core/base/error.h"

namespace strato::autodist {
namespace {

struct Held {
  std::size_t variable, part;
  double weight;  // bytes, and some noise
  Bytes bytes;
};

std::vector<Held> held_parts(const SyncTask& task, const SyncPlan& plan, Random* random) {
  constexpr double kNoise = 0.3;
  std::vector<Held> held;
  for (std::size_t v = 0; v < plan.size(); ++v)
    for (std::size_t p = 0; p < plan[v].parts.size(); ++p) {
      if (plan[v].parts[p].synchroniser != Synchroniser::Ps) continue;
      const Bytes bytes = part_bytes(task.variables[v], plan[v], p);
      const double noise = random == nullptr ? 1 : random->uniform(1 - kNoise, 1 + kNoise);
      held.push_back({v, p, noise * static_cast<double>(bytes.value), bytes});
    }
  return held;
}

// The least of `candidates` by `load`; the first of equals, or any of them.
template <class Load>
std::size_t least(std::size_t count, const Load& load, Random* random) {
  std::vector<std::size_t> best;
  for (std::size_t i = 0; i < count; ++i) {
    if (!best.empty() && load(i) < load(best.front())) best.clear();
    if (best.empty() || load(i) == load(best.front())) best.push_back(i);
  }
  return random == nullptr ? best.front() : best[random->below(best.size())];
}

}  // namespace

NodeLoads::NodeLoads(const SyncTask& task)
    : task_(task), by_machine_(task.machines.size()), by_device_(task.machine_of.size()) {}

DeviceId NodeLoads::take(Bytes load, Random* random) {
  const std::size_t machine = least(
      by_machine_.size(), [&](std::size_t m) { return by_machine_[m]; }, random);
  const std::vector<DeviceId>& here = task_.machines[machine];
  const DeviceId device = here[least(
      here.size(), [&](std::size_t d) { return by_device_[here[d].index()]; }, random)];
  add(device, load);
  return device;
}

void NodeLoads::add(DeviceId device, Bytes load) {
  by_machine_[task_.machine_of[device.index()]] += load;
  by_device_[device.index()] += load;
}

NodeLoads loads_of(const SyncTask& task, const SyncPlan& plan) {
  NodeLoads loads(task);
  for (const Held& part : held_parts(task, plan, nullptr))
    loads.add(plan[part.variable].parts[part.part].server, part.bytes);
  return loads;
}

void place_balanced(const SyncTask& task, SyncPlan& plan, Random* random) {
  std::vector<Held> held = held_parts(task, plan, random);
  std::ranges::stable_sort(held, std::greater(), &Held::weight);
  NodeLoads loads(task);
  for (const Held& part : held) {
    SyncPart& sync = plan[part.variable].parts[part.part];
    sync.server = loads.take(part.bytes, random);
    if (!sync.stations.empty()) sync.stations = stations_for(task, sync.server);
  }
}

std::vector<DeviceId> stations_for(const SyncTask& task, DeviceId server) {
  const std::size_t home = task.machine_of[server.index()];
  std::vector<DeviceId> stations;
  for (std::size_t m = 0; m < task.machines.size(); ++m) {
    const std::vector<DeviceId>& here = task.machines[m];
    if (m != home && here.size() > 1) stations.push_back(here[server.index() % here.size()]);
  }
  std::ranges::sort(stations);
  return stations;
}

}  // namespace strato::autodist
