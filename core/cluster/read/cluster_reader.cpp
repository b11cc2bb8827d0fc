// Makes the cluster from a checked description: multiplies machines, lays links.
#include "core/cluster/read/cluster_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/cluster/read/equal_machines.h"
#include "core/cluster/read/machine_text.h"
#include "core/cluster/spec/cluster_spec.h"
#include "core/io/file.h"

namespace strato {

class ClusterReader {
 public:
  explicit ClusterReader(const ClusterSpec& spec) : spec_(spec) {}

  Cluster build() {
    cluster_.name_ = spec_.name;
    for (const GpuType& gpu : spec_.gpus) cluster_.gpu_types_.push_back(gpu);
    for (const MachineSpec& machine : spec_.machines)
      for (const std::string& name : machine.names()) add_machine(machine, name);
    add_network();
    for (const DeviceId device : cluster_.devices_.ids()) cluster_.by_name_.push_back(device);
    std::ranges::stable_sort(cluster_.by_name_, {}, [this](DeviceId id) -> std::string_view {
      return cluster_.devices_[id].name;
    });
    cluster_.ports_.resize(cluster_.devices_.size());
    for (const LinkId link : cluster_.links_.ids())
      if (const DeviceId device = cluster_.links_[link].device; device.valid())
        cluster_.ports_[device].push_back(link);
    cluster_.json_ = spec_to_json(spec_).dump(2);
    cluster_.digest_ = digest();
    return std::move(cluster_);
  }

 private:
  using Way = Cluster::Way;

  LinkId add_link(Link link) {
    cluster_.links_.push_back(std::move(link));
    return LinkId(cluster_.links_.size() - 1);
  }

  Way add_port(const std::string& from, const std::string& to, const LinkSpec& link,
               DeviceId device = {}) {
    return {add_link({from + ">" + to, link.bandwidth(), link.latency(), device}),
            add_link({to + ">" + from, link.bandwidth(), link.latency(), device})};
  }

  // The index of what has this name, which the spec's reader has checked to be there.
  template <class Values>
  static std::size_t index_of(const Values& values, const std::string& name) {
    const auto found = std::ranges::find(values, name, &Values::value_type::name);
    CHECK(found != values.end(), name + " was not checked");
    return static_cast<std::size_t>(found - values.begin());
  }

  void add_machine(const MachineSpec& machine, const std::string& name) {
    const MachineId id(cluster_.machines_.size());
    cluster_.machines_.push_back({name, machine.host_memory.value_or(Bytes())});
    specs_.push_back(&machine);
    devices_.emplace_back();
    std::int64_t index = 0;
    for (const GpuCount& gpu : machine.gpus) {
      const DeviceGroupId group(cluster_.groups_.size());
      const GpuTypeId type(index_of(spec_.gpus, gpu.type));
      const bool alone = machine.gpus.size() == 1;
      cluster_.groups_.push_back({alone ? name : name + "/" + gpu.type, type, id, {}});
      for (std::int64_t i = 0; i < gpu.count; ++i) {
        const DeviceId device(cluster_.devices_.size());
        cluster_.groups_[group].devices.push_back(device);
        devices_.back().push_back(device);
        cluster_.devices_.push_back({fmt::format("{}:{}", name, index++), type, id, group});
      }
    }
  }

  bool has_several_machines() const { return cluster_.machines_.size() > 1; }

  // A fabric is a way to the host where it is PCIe by its kind: NVLink ends at GPUs.
  static bool reaches_host(const LinkSpec& fabric) {
    return same_ignoring_case(std::string_view(fabric.kind).substr(0, 4), "pcie");
  }

  // Adds only links that a path can use: a lone machine needs not its NIC, and the links to it only
  // where they lead to host memory.
  void add_network() {
    cluster_.ways_.resize(cluster_.devices_.size());
    for (const DeviceId id : cluster_.devices_.ids()) {
      const Device& device = cluster_.devices_[id];
      const MachineSpec& machine = *specs_[device.machine.index()];
      Cluster::Ways& ways = cluster_.ways_[id];
      if (machine.fabric) ways.fabric = add_port(device.name, "fabric", *machine.fabric, id);
      const bool host = machine.host_link && (has_several_machines() || machine.host_memory);
      ways.host = host ? add_port(device.name, "host", *machine.host_link, id) : ways.fabric;
      if (machine.host_memory && (host || (machine.fabric && reaches_host(*machine.fabric))))
        ways.memory = ways.host;
    }
    cluster_.uplinks_.resize(cluster_.machines_.size());
    if (!has_several_machines()) return;
    const bool switched = spec_.network && spec_.network->bandwidth_gbps;
    const Nanos latency(spec_.network ? std::llround(spec_.network->latency_us * 1e3) : 0);
    for (const MachineId machine : cluster_.machines_.ids())
      if (specs_[machine.index()]->nic) add_nics(machine, switched ? Nanos() : latency);
    if (switched)
      cluster_.switch_ = add_link({"network", *spec_.network->bandwidth_gbps * 1e9, latency, {}});
    if (spec_.network) add_uplinks();
    for (const PairSpec& pair : spec_.links) {
      const MachineId from(index_of(cluster_.machines_, pair.from));
      const MachineId to(index_of(cluster_.machines_, pair.to));
      const Way port = add_port(pair.from, pair.to, pair.link);
      cluster_.direct_[{from, to}] = port.up;
      cluster_.direct_[{to, from}] = port.down;
    }
  }

  void add_uplinks() {
    std::map<std::string_view, MachineId> named;
    for (const MachineId id : cluster_.machines_.ids()) named[cluster_.machines_[id].name] = id;
    for (const LeafSpec& leaf : spec_.network->leaves) {
      const Way way = add_port(leaf.name, "network", leaf.uplink);
      for (const std::string& machine : leaf.machines) cluster_.uplinks_[named.at(machine)] = way;
    }
  }

  // One for each device, where the machine's is as wide as all their ways to it, else one for all.
  // The switch's latency is on the link out of the machine where no link stands for the switch.
  void add_nics(MachineId machine, Nanos switching) {
    const MachineSpec& spec = *specs_[machine.index()];
    const std::vector<DeviceId>& devices = devices_[machine.index()];
    LinkSpec nic = *spec.nic;
    const double share = nic.bandwidth_gbps / static_cast<double>(devices.size());
    const auto& way = spec.host_link ? spec.host_link : spec.fabric;
    const bool rails = devices.size() > 1 && way && share >= way->bandwidth_gbps;
    const std::string& name = cluster_.machines_[machine].name;
    const auto add = [&](const std::string& from, DeviceId of) {
      const Way port = add_port(from, "net", nic, of);
      cluster_.links_[port.up].latency += switching;
      return port;
    };
    if (!rails) {
      const Way port = add(name, devices.size() == 1 ? devices.front() : DeviceId());
      for (const DeviceId device : devices) cluster_.ways_[device].nic = port;
      return;
    }
    rails_.push_back({cluster_.links_.next_id(), 2 * devices.size(), machine, switching});
    nic.bandwidth_gbps = share;
    for (const DeviceId device : devices)
      cluster_.ways_[device].nic = add(cluster_.devices_[device].name, device);
  }

  // Paths follow from what is hashed here. Rails are hashed as the one NIC that the file has.
  Digest digest() const {
    Hasher hasher;
    hasher.text("cluster 1").text(cluster_.name_);
    for (const GpuType& gpu : cluster_.gpu_types_) {
      hasher.text(gpu.name).number(gpu.memory.value).number(gpu.memory_bandwidth);
      hasher.numbers(std::span<const double>(gpu.peak_flops));
    }
    for (const Device& device : cluster_.devices_) {
      hasher.text(device.name).number(device.type.value()).number(device.machine.value());
      hasher.number(device.group.value());
    }
    const auto add = [&](const std::string& link, double bandwidth, Nanos latency) {
      hasher.text(link).number(bandwidth).number(latency.value);
    };
    auto rails = rails_.begin();
    for (std::size_t i = 0; i < cluster_.links_.size();) {
      if (rails != rails_.end() && rails->first.index() == i) {
        const LinkSpec& nic = *specs_[rails->machine.index()]->nic;
        const std::string& name = cluster_.machines_[rails->machine].name;
        add(name + ">net", nic.bandwidth(), nic.latency() + rails->switching);
        add("net>" + name, nic.bandwidth(), nic.latency());
        i += (rails++)->links;
        continue;
      }
      const Link& link = cluster_.links_[LinkId(i++)];
      add(link.name, link.bandwidth, link.latency);
    }
    // Nothing is added for machines without host memory: their digests stay what they were.
    for (const MachineId id : cluster_.machines_.ids())
      if (const Bytes memory = cluster_.machines_[id].host_memory; memory > Bytes(0)) {
        const bool has_way = cluster_.ways_[devices_[id.index()].front()].memory.up.valid();
        hasher.text("host memory").number(id.value()).number(memory.value).number(has_way);
      }
    for (const MachineId id : cluster_.machines_.ids())
      if (const LinkId up = cluster_.uplinks_[id].up; up.valid())
        hasher.text("leaf").number(id.value()).number(up.value());
    return hasher.finish();
  }

  const ClusterSpec& spec_;
  Cluster cluster_;
  std::vector<const MachineSpec*> specs_;       // one per machine
  std::vector<std::vector<DeviceId>> devices_;  // of each machine
  struct Rails {                                // the NICs of a machine's devices
    LinkId first;
    std::size_t links;
    MachineId machine;
    Nanos switching;
  };
  std::vector<Rails> rails_;
};

Cluster read_cluster(const std::filesystem::path& file, const GpuCatalogue& catalogue) {
  constexpr std::uintmax_t kMost = 64 << 20;
  const std::string name = file.string();
  if (names_equal_machines(file))
    return parse_cluster(equal_machines_cluster(*equal_machines_from(name), name, catalogue), name,
                         catalogue);
  const std::string text = read_file(file, kMost);
  return parse_cluster(described_cluster(text, name, catalogue).value_or(text), name, catalogue);
}

Cluster parse_cluster(std::string_view json, const std::string& file,
                      const GpuCatalogue& catalogue) {
  const ClusterSpec spec = read_spec(JsonView::parse(json, file), catalogue);
  return ClusterReader(spec).build();
}

std::optional<ClusterPrice> price_of(const Cluster& cluster) {
  ClusterPrice price;
  for (const MachineSpec& machine : spec_of(cluster).machines) {
    if (!machine.price_per_hour) return std::nullopt;
    price.per_hour.insert(price.per_hour.end(), static_cast<std::size_t>(machine.count),
                          *machine.price_per_hour);
  }
  return price;
}

}  // namespace strato
