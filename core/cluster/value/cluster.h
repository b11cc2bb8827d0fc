// A GPU cluster as an immutable value: machines, devices, device groups, and the directed links
// between them.
//
// Model of the network: every device has a port into its machine's fabric (NVLink switch or PCIe),
// a path to the machine's NIC (host link), and machines meet in one switch, or in a dedicated link
// of a pair. Machines may stand in leaves: what goes from one leaf to another takes the uplinks of
// both, which their machines share. Where the NIC takes what all host links of its machine carry at
// once, each device has a NIC of its own (a rail). Every link is two resources, one a direction. A
// path is the list of directed links that a transfer occupies.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/base/ids.h"
#include "core/base/units.h"

namespace strato {

using GpuTypeId = Id<struct GpuTypeTag>;
using MachineId = Id<struct MachineTag>;
using DeviceId = Id<struct DeviceTag>;
using DeviceGroupId = Id<struct DeviceGroupTag>;
using LinkId = Id<struct LinkTag>;

enum class Precision : std::uint8_t { Fp64, Fp32, Tf32, Fp16, Bf16, Fp8, Int8 };
inline constexpr std::size_t kPrecisions = 7;
std::string_view name_of(Precision precision);

struct GpuType {
  std::string name;  // as in the catalogue: "V100-SXM2-32GB"
  std::vector<std::string> aliases;
  std::string architecture;
  int year = 0;
  Bytes memory;
  double memory_bandwidth = 0;                   // bytes per second
  std::array<double, kPrecisions> peak_flops{};  // dense, per second; 0: not supported
  std::string sources;                           // one text: where the figures are from
  // By which machines name it, in the catalogue only: CUDA's compute capability ("9.0") or AMD's
  // target ("gfx942"), and PCI devices ("10de:2330").
  std::string compute = {};
  std::vector<std::string> pci_devices = {};
};

struct Machine {
  std::string name;
  Bytes host_memory = {};  // of its processors, for what devices keep there; 0: none is told
};

struct Device {
  std::string name;  // "v100:0"; with two GPU types in a machine the index goes on
  GpuTypeId type;
  MachineId machine;
  DeviceGroupId group;
};

// Equal GPUs with equal bandwidth between each pair: one entry of a machine's gpus.
struct DeviceGroup {
  std::string name;  // the machine's name, or machine/type where a machine has several types
  GpuTypeId type;
  MachineId machine;
  std::vector<DeviceId> devices;  // ascending
};

struct Link {
  std::string name;      // "v100:0>fabric", "v100>net"
  double bandwidth = 0;  // bytes per second, this direction
  Nanos latency;
  DeviceId device;  // on whose paths alone it is; invalid: several devices share it
};

// The links of a path, in its order: at most as many as there are between two machines.
class PathLinks {
 public:
  using value_type = LinkId;
  using const_iterator = const LinkId*;
  void push_back(LinkId link) { links_[size_++] = link; }
  const LinkId* begin() const { return links_.data(); }
  const LinkId* end() const { return links_.data() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  LinkId operator[](std::size_t i) const { return links_[i]; }
  friend bool operator==(const PathLinks& a, const PathLinks& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<LinkId, 7> links_;
  std::size_t size_ = 0;
};

struct Path {
  PathLinks links;       // empty from a device to itself
  double bandwidth = 0;  // smallest of the links; infinite where there is none
  Nanos latency;         // sum over the links
  DeviceId from, to;
};

class Cluster {
 public:
  const std::string& name() const { return name_; }
  const IdVector<GpuTypeId, GpuType>& gpu_types() const { return gpu_types_; }
  const IdVector<MachineId, Machine>& machines() const { return machines_; }
  const IdVector<DeviceId, Device>& devices() const { return devices_; }
  const IdVector<DeviceGroupId, DeviceGroup>& groups() const { return groups_; }
  const IdVector<LinkId, Link>& links() const { return links_; }

  std::size_t device_count() const { return devices_.size(); }
  const Device& device(DeviceId id) const { return devices_[id]; }
  const GpuType& gpu(DeviceId id) const { return gpu_types_[devices_[id].type]; }
  // Made when it is asked for, from what lies at both ends.
  Path path(DeviceId from, DeviceId to) const;
  // From the device to its machine's host memory and back: over its host link, or the PCIe fabric
  // of a machine that has no other way. Both ends are the device. No links: there is no way, or no
  // host memory.
  Path path_to_host(DeviceId device) const { return host_path(device, &Way::up); }
  Path path_from_host(DeviceId device) const { return host_path(device, &Way::down); }
  // The links that no other device uses, in the same order for each device of a kind of machine.
  const std::vector<LinkId>& ports(DeviceId device) const { return ports_[device]; }
  // Smallest bandwidth between two different devices of the groups (a == b: inside the group; for a
  // group of one device, that device's memory bandwidth).
  double bandwidth(DeviceGroupId a, DeviceGroupId b) const;
  DeviceId find_device(std::string_view name) const;      // invalid id when there is none
  DeviceGroupId find_group(std::string_view name) const;  // invalid id when there is none
  // Those of the device group of this name, the device, or, for "all", every one; else none.
  std::vector<DeviceId> devices_named(std::string_view name) const;

  // The description it was read from, normalised, with the GPU types in use written out: it can be
  // parsed again without a catalogue and gives an equal cluster.
  const std::string& json() const { return json_; }
  const Digest& digest() const { return digest_; }  // of the content: not of notes or formatting

 private:
  friend class ClusterReader;
  std::string name_, json_;
  IdVector<GpuTypeId, GpuType> gpu_types_;  // only those in use
  IdVector<MachineId, Machine> machines_;
  IdVector<DeviceId, Device> devices_;
  IdVector<DeviceGroupId, DeviceGroup> groups_;
  IdVector<LinkId, Link> links_;
  IdVector<DeviceId, std::vector<LinkId>> ports_;
  struct Way {  // invalid: there is none
    LinkId up, down;
  };
  struct Ways {
    Way fabric, host, nic;  // to the fabric; to what leaves the machine; from there to the network
    Way memory;             // of the host
  };
  Path host_path(DeviceId device, LinkId Way::*direction) const;
  LinkId direct(MachineId from, MachineId to) const;
  IdVector<DeviceId, Ways> ways_;
  IdVector<MachineId, Way> uplinks_;  // of their leaves; equal: in one leaf; invalid: in none
  std::vector<DeviceId> by_name_;     // ascending by name
  LinkId switch_;                     // invalid: none that could be busy
  std::map<std::pair<MachineId, MachineId>, LinkId> direct_;  // between two machines alone
  Digest digest_;
};

// More devices than this in one cluster are refused: an error more likely than a cluster.
inline constexpr std::int64_t kMaxDevices = 16'384;

}  // namespace strato
