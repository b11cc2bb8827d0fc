// The GPU types that are known by name (resources/gpus.json), as JSON, and quantities with units.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/value/cluster.h"

namespace strato {

class JsonView;

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

// An entry of the catalogue, or of a cluster's gpu_types.
GpuType gpu_from_json(const JsonView& view);
nlohmann::ordered_json gpu_to_json(const GpuType& gpu);

// Quantities that people write with a unit where a file has a number: "100Gbps", "25 GB/s", "5us",
// "80GB". The reader does not take them, but tells the number: of 10^9 bytes per second, of
// microseconds, and of bytes ("80GB" of a GPU are 80 x 2^30).
enum class Written : std::uint8_t { Bandwidth, Latency, Memory };
// Throws InputError that tells the number to write, when `view` is a text with such a unit.
void refuse_written(Written quantity, const JsonView& view);

// A number from `low` to `high`, above zero.
double positive_between(const JsonView& view, double low, double high);

}  // namespace strato
