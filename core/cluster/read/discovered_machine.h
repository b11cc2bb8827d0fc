// One machine's report as an entry of a cluster file, and the types that its GPUs and CPUs need.
// Private to this folder.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/cluster/read/discovered_cluster.h"
#include "core/cluster/spec/cluster_spec.h"

namespace strato {

// The types that a file needs, in the order in which its machines name them.
class DiscoveredTypes {
 public:
  explicit DiscoveredTypes(const GpuCatalogue& catalogue) : catalogue_(catalogue) {}
  std::string type_of(const GpuReport& gpu);  // its name in the file
  std::string type_of_cpu(const MachineReport& report, int devices);
  const std::vector<GpuType>& types() const { return types_; }

 private:
  std::string add(GpuType type);  // as one that is there, or under a name of its own

  const GpuCatalogue& catalogue_;
  std::vector<GpuType> types_;
};

// `name`: of the machine.
MachineSpec discovered_machine(const MachineReport& report, const std::string& name,
                               const DiscoveryText& text, DiscoveredTypes& types);

// A name that the file may have, and that is not in `taken`: adds it there.
std::string machine_name_of(const std::string& host, std::set<std::string>& taken);

}  // namespace strato
