#include "core/cluster/vary/changed_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/cluster_spec.h"

namespace strato {
namespace {

constexpr double kMostFactor = 1024;

std::shared_ptr<const Cluster> parsed(const ClusterSpec& spec, const std::string& file) {
  return std::make_shared<const Cluster>(
      parse_cluster(spec_to_json(spec).dump(), file, GpuCatalogue()));
}

// One entry a machine, named as in the cluster.
std::vector<MachineSpec> single_machines(const ClusterSpec& spec) {
  std::vector<MachineSpec> machines;
  for (const MachineSpec& machine : spec.machines) {
    for (const std::string& name : machine.names()) {
      machines.push_back(machine);
      machines.back().name = name;
      machines.back().count = 1;
    }
  }
  return machines;
}

bool same_link(const std::optional<LinkSpec>& a, const std::optional<LinkSpec>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->bandwidth_gbps == b->bandwidth_gbps && a->latency_us == b->latency_us;
}

bool alike(const MachineSpec& a, const MachineSpec& b) {
  return a.gpus == b.gpus && same_link(a.fabric, b.fabric) && same_link(a.host_link, b.host_link) &&
         same_link(a.nic, b.nic);
}

// "1080ti" of "1080ti-0" and "1080ti-1"; the first one's name where they have nothing in common.
std::string common_name(const std::vector<std::string>& names) {
  if (names.size() == 1) return names[0];
  std::string common = names[0];
  for (const std::string& name : names)
    common.erase(std::ranges::mismatch(common, name).in1, common.end());
  const auto is_inside = [&](std::size_t at) {  // of a character
    return at < names[0].size() && (static_cast<unsigned char>(names[0][at]) & 0xC0U) == 0x80U;
  };
  while (!common.empty() && is_inside(common.size())) common.pop_back();
  common.resize(common.find_last_not_of("-_.") + 1);
  return common.empty() ? names[0] : common;
}

// `next`: the number to begin with, which goes on.
std::string unused_name(const std::string& base, std::int64_t& next, std::set<std::string>& taken) {
  while (true) {
    std::string name = fmt::format("{}-{}", base, next++);
    if (taken.insert(name).second) return name;
  }
}

std::vector<MachineKind> kinds_of(const std::vector<MachineSpec>& machines) {
  std::vector<MachineKind> kinds;
  for (std::size_t m = 0; m < machines.size(); ++m) {
    const auto known = std::ranges::find_if(kinds, [&](const MachineKind& kind) {
      return alike(machines[kind.machines.front().index()], machines[m]);
    });
    if (known == kinds.end())
      kinds.push_back({{}, {MachineId(m)}});
    else
      known->machines.emplace_back(m);
  }
  std::set<std::string> taken;
  for (MachineKind& kind : kinds) {
    std::vector<std::string> names;
    for (const MachineId machine : kind.machines) names.push_back(machines[machine.index()].name);
    kind.name = common_name(names);
    if (!taken.insert(kind.name).second) taken.insert(kind.name = names[0]);
  }
  return kinds;
}

void check_factor(const Cluster& cluster, const char* what, double factor) {
  if (factor >= 1 / kMostFactor && factor <= kMostFactor) return;
  throw InputError(cluster.name(), what, fmt::format("{:g} times as much", factor),
                   fmt::format("give a factor of 1/{0:g} to {0:g}", kMostFactor));
}

class Changer {
 public:
  Changer(const Cluster& cluster, const ClusterChange& change)
      : cluster_(cluster), change_(change), times_(machines_.size(), 1) {}

  ChangedCluster make() {
    check();
    for (const MachineKind& kind : kinds_) resize(kind);
    replace_gpus();
    lay_out();
    forget_unused_gpus();
    scale();
    auto now = parsed(spec_, cluster_.name() + ", changed");
    return {now, instead(*now), like(*now)};
  }

 private:
  void check() const {
    check_factor(cluster_, "network bandwidth", change_.network_bandwidth);
    check_factor(cluster_, "machine bandwidth", change_.machine_bandwidth);
    check_factor(cluster_, "latency", change_.latency);
    check_factor(cluster_, "memory", change_.memory);
    for (const auto& [name, gpu] : change_.gpus) kind_named(name);
    for (const auto& [name, count] : change_.machines) {
      kind_named(name);
      if (count < 0 || count > kMaxDevices)
        throw InputError(cluster_.name(), "machines", fmt::format("{} of \"{}\"", count, name),
                         fmt::format("give 0 to {}", kMaxDevices));
    }
  }

  const MachineKind& kind_named(const std::string& name) const {
    const auto known = std::ranges::find(kinds_, name, &MachineKind::name);
    if (known != kinds_.end()) return *known;
    std::vector<std::string> names;
    for (const MachineKind& kind : kinds_) names.push_back(kind.name);
    throw InputError(cluster_.name(), "machines", fmt::format("\"{}\" is no kind of them", name),
                     fmt::format("kinds: {}", fmt::join(names, ", ")));
  }

  // The cluster's own first: a catalogue may know another GPU by that name.
  GpuType gpu_named(const std::string& name) const {
    const auto own = std::ranges::find(spec_.gpus, name, &GpuType::name);
    if (own != spec_.gpus.end()) return *own;
    if (const GpuType* gpu = GpuCatalogue::bundled().find(name)) return *gpu;
    throw InputError(
        cluster_.name(), "gpus", fmt::format("\"{}\" is not a known GPU", name.substr(0, 64)),
        fmt::format("nearest: {}", fmt::join(GpuCatalogue::bundled().nearest(name), ", ")));
  }

  void replace_gpus() {
    for (const auto& [name, wanted] : change_.gpus) {
      const GpuType gpu = gpu_named(wanted);
      if (std::ranges::find(spec_.gpus, gpu.name, &GpuType::name) == spec_.gpus.end())
        spec_.gpus.push_back(gpu);
      for (const MachineId id : kind_named(name).machines) {
        std::vector<GpuCount>& gpus = machines_[id.index()].gpus;
        if (gpus.size() == 1 && gpus[0].type == gpu.name) continue;
        std::int64_t count = 0;
        for (const GpuCount& each : gpus) count += each.count;
        gpus = {{gpu.name, count}};
        for (MachineSpec& machine : machines_) machine.price_per_hour.reset();
      }
    }
  }

  // The reader has those in use in the order of their first use.
  void forget_unused_gpus() {
    std::erase_if(spec_.gpus, [&](const GpuType& gpu) {
      return std::ranges::none_of(spec_.machines, [&](const MachineSpec& machine) {
        return std::ranges::find(machine.gpus, gpu.name, &GpuCount::type) != machine.gpus.end();
      });
    });
  }

  void resize(const MachineKind& kind) {
    const auto wanted = change_.machines.find(kind.name);
    if (wanted == change_.machines.end()) return;
    for (const MachineId machine : kind.machines) times_[machine.index()] = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(wanted->second); ++i)
      ++times_[kind.machines[i % kind.machines.size()].index()];
  }

  // The machines that stay in their order, then the copies. spec_.machines and from_ are parallel.
  void lay_out() {
    std::set<std::string> taken;
    for (const MachineSpec& machine : machines_) taken.insert(machine.name);
    spec_.machines.clear();
    for (std::size_t m = 0; m < machines_.size(); ++m) {
      if (times_[m] == 0) continue;
      spec_.machines.push_back(machines_[m]);
      from_.emplace_back(m);
    }
    for (const MachineKind& kind : kinds_) {
      std::int64_t next = 1;
      for (const MachineId machine : kind.machines)
        for (std::size_t i = 1; i < times_[machine.index()]; ++i) {
          spec_.machines.push_back(machines_[machine.index()]);
          spec_.machines.back().name = unused_name(kind.name, next, taken);
          from_.push_back(machine);
        }
    }
    if (spec_.machines.empty())
      throw InputError(cluster_.name(), "machines", "none is left", "leave at least one");
    const auto gone = [&](const std::string& name) {
      return std::ranges::find(spec_.machines, name, &MachineSpec::name) == spec_.machines.end();
    };
    std::erase_if(spec_.links,
                  [&](const PairSpec& pair) { return gone(pair.from) || gone(pair.to); });
    if (spec_.network) refill_leaves();
  }

  // Copies stand where what they are copies of stands.
  void refill_leaves() {
    std::map<std::string, LeafSpec*> leaf_of;
    for (LeafSpec& leaf : spec_.network->leaves) {
      for (const std::string& machine : leaf.machines) leaf_of[machine] = &leaf;
      leaf.machines.clear();
    }
    for (std::size_t m = 0; m < from_.size(); ++m)
      if (const auto leaf = leaf_of.find(machines_[from_[m].index()].name); leaf != leaf_of.end())
        leaf->second->machines.push_back(spec_.machines[m].name);
  }

  void scale(LinkSpec& link, double bandwidth) const {
    link.bandwidth_gbps *= bandwidth;
    link.latency_us *= change_.latency;
  }

  void scale() {
    for (MachineSpec& machine : spec_.machines) {
      if (machine.fabric) scale(*machine.fabric, change_.machine_bandwidth);
      if (machine.host_link) scale(*machine.host_link, change_.machine_bandwidth);
      if (machine.nic) scale(*machine.nic, change_.network_bandwidth);
    }
    if (spec_.network) {
      spec_.network->latency_us *= change_.latency;
      if (spec_.network->bandwidth_gbps)
        *spec_.network->bandwidth_gbps *= change_.network_bandwidth;
      for (LeafSpec& leaf : spec_.network->leaves) scale(leaf.uplink, change_.network_bandwidth);
    }
    for (PairSpec& pair : spec_.links) scale(pair.link, change_.network_bandwidth);
    for (GpuType& gpu : spec_.gpus)
      gpu.memory = Bytes(std::llround(static_cast<double>(gpu.memory.value) * change_.memory));
  }

  static std::vector<DeviceId> devices_of(const Cluster& cluster, MachineId machine) {
    std::vector<DeviceId> devices;
    for (std::size_t d = 0; d < cluster.device_count(); ++d)
      if (cluster.device(DeviceId(d)).machine == machine) devices.emplace_back(d);
    return devices;
  }

  // The work of a kind's machines as they were goes to those that are there now, in turn.
  IdVector<DeviceId, DeviceId> instead(const Cluster& now) const {
    IdVector<DeviceId, DeviceId> result(cluster_.device_count());
    for (const MachineKind& kind : kinds_) {
      std::vector<MachineId> left;
      for (std::size_t m = 0; m < from_.size(); ++m)
        if (std::ranges::find(kind.machines, from_[m]) != kind.machines.end()) left.emplace_back(m);
      for (std::size_t place = 0; place < kind.machines.size() && !left.empty(); ++place) {
        const std::vector<DeviceId> old = devices_of(cluster_, kind.machines[place]);
        const std::vector<DeviceId> fresh = devices_of(now, left[place % left.size()]);
        for (std::size_t i = 0; i < old.size(); ++i) result[old[i]] = fresh[i];
      }
    }
    return result;
  }

  IdVector<DeviceId, DeviceId> like(const Cluster& now) const {
    IdVector<DeviceId, DeviceId> result(now.device_count());
    for (std::size_t m = 0; m < from_.size(); ++m) {
      const std::vector<DeviceId> old = devices_of(cluster_, from_[m]);
      const std::vector<DeviceId> fresh = devices_of(now, MachineId(m));
      for (std::size_t i = 0; i < old.size(); ++i) result[fresh[i]] = old[i];
    }
    return result;
  }

  const Cluster& cluster_;
  const ClusterChange& change_;
  ClusterSpec spec_ = spec_of(cluster_);
  std::vector<MachineSpec> machines_ = single_machines(spec_);  // as it was, by MachineId
  std::vector<MachineKind> kinds_ = kinds_of(machines_);
  std::vector<std::size_t> times_;  // by MachineId as it was: it is there so often, 0: it goes
  std::vector<MachineId> from_;     // by MachineId now
};

}  // namespace

std::vector<MachineKind> machine_kinds(const Cluster& cluster) {
  return kinds_of(single_machines(spec_of(cluster)));
}

bool ClusterChange::keeps_links() const {
  return network_bandwidth == 1 && machine_bandwidth == 1 && latency == 1;
}

ChangedCluster change_cluster(const std::shared_ptr<const Cluster>& cluster,
                              const ClusterChange& change) {
  if (change != ClusterChange()) return Changer(*cluster, change).make();
  ChangedCluster same{cluster, {}, {}};
  for (std::size_t d = 0; d < cluster->device_count(); ++d) same.instead.emplace_back(d);
  same.like = same.instead;
  return same;
}

std::shared_ptr<const Cluster> with_device_speed(const std::shared_ptr<const Cluster>& cluster,
                                                 double speed) {
  check_factor(*cluster, "device speed", speed);
  if (speed == 1) return cluster;
  ClusterSpec spec = spec_of(*cluster);
  const auto renamed = [&](const std::string& n) { return fmt::format("{} x{:.3g}", n, speed); };
  for (GpuType& gpu : spec.gpus) {
    gpu.name = renamed(gpu.name);
    gpu.aliases.clear();
    gpu.memory_bandwidth *= speed;
    for (double& rate : gpu.peak_flops) rate *= speed;
  }
  for (MachineSpec& machine : spec.machines)
    for (GpuCount& gpu : machine.gpus) gpu.type = renamed(gpu.type);
  return parsed(spec, spec.name);
}

std::shared_ptr<const Cluster> with_name(const std::shared_ptr<const Cluster>& cluster,
                                         const std::string& name) {
  ClusterSpec spec = spec_of(*cluster);
  spec.name = name;
  return parsed(spec, spec.name);
}

}  // namespace strato
