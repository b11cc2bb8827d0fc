// The types of a cluster file for the GPUs and CPUs that machines report. Private to this folder.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/read/machine_report.h"
#include "core/cluster/spec/gpu_catalogue.h"

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

}  // namespace strato
