// The GPU types that are known by name: resources/gpus.json.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/value/cluster.h"

namespace strato {

// The GPU catalogue (resources/gpus.json). find() matches names and aliases, ignoring case. A
// default constructed one is empty.
class GpuCatalogue {
 public:
  static GpuCatalogue read(const std::filesystem::path& file);
  static const GpuCatalogue& bundled();  // home_directory()/resources/gpus.json, read once
  const std::vector<GpuType>& gpus() const { return gpus_; }
  const GpuType* find(std::string_view name) const;               // null when there is none
  std::vector<std::string> nearest(std::string_view name) const;  // up to three names, best first

  void add(GpuType gpu) { gpus_.push_back(std::move(gpu)); }

 private:
  std::vector<GpuType> gpus_;
};

}  // namespace strato
