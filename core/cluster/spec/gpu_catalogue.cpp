#include "core/cluster/spec/gpu_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "core/cluster/spec/gpu_json.h"
#include "core/cluster/spec/gpu_key.h"
#include "core/io/file.h"

namespace strato {
namespace {

// Lower case, letters and digits only: people differ in hyphens and spaces.
std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte)) result += static_cast<char>(std::tolower(byte));
  }
  return result;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::size_t distance(const std::string& wanted, std::string_view candidate) {
  const std::string name = plain(candidate);
  if (!wanted.empty() && name.find(wanted) != std::string::npos) return 0;
  return edit_distance(wanted, name);
}

}  // namespace

GpuCatalogue GpuCatalogue::read(const std::filesystem::path& file) {
  const JsonView root = JsonView::parse(read_file(file), file.string());
  root.expect_format("stratoscope-gpus", 1);
  root.allow_only({"format", "version", "note", "gpus"});
  GpuCatalogue catalogue;
  for (const JsonView& entry : root.at("gpus").items()) {
    GpuType gpu = gpu_from_json(entry);
    std::vector<std::string> names = gpu.aliases;
    names.push_back(gpu.name);
    for (const std::string& name : names) {
      if (find_as_written(catalogue.gpus(), name) == nullptr) continue;
      entry.fail(fmt::format("repeats the name \"{}\"", name), "give every GPU names of its own");
    }
    catalogue.add(std::move(gpu));
  }
  return catalogue;
}

const GpuCatalogue& GpuCatalogue::bundled() {
  static const GpuCatalogue catalogue = read(home_directory() / "resources" / "gpus.json");
  return catalogue;
}

const GpuType* GpuCatalogue::find(std::string_view name) const {
  if (const GpuType* gpu = find_as_written(gpus_, name)) return gpu;
  const std::string key = gpu_key(name);
  if (key.empty()) return nullptr;
  for (const GpuType& gpu : gpus_) {
    if (gpu_key(gpu.name) == key) return &gpu;
    for (const std::string& alias : gpu.aliases)
      if (gpu_key(alias) == key) return &gpu;
  }
  return nullptr;
}

std::vector<std::string> GpuCatalogue::nearest(std::string_view name) const {
  const std::string wanted = plain(name.substr(0, 64));
  std::vector<std::pair<std::size_t, std::size_t>> ranked;  // (distance, index)
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    std::size_t best = distance(wanted, gpus_[i].name);
    for (const std::string& alias : gpus_[i].aliases)
      best = std::min(best, distance(wanted, alias));
    ranked.emplace_back(best, i);
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.resize(std::min<std::size_t>(ranked.size(), 3));
  std::vector<std::string> names;
  for (const auto& [rank, index] : ranked) names.push_back(gpus_[index].name);
  return names;
}

}  // namespace strato
