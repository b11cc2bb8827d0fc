// The GPU types that are known by name: resources/gpus.json.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/value/cluster.h"

namespace strato {

// find() matches names and aliases in any spelling. A default constructed one is empty.
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

bool same_ignoring_case(std::string_view a, std::string_view b);
// Finds a type by a name or alias as it is written, in any case; null when there is none.
const GpuType* find_as_written(const std::vector<GpuType>& gpus, std::string_view name);

}  // namespace strato
