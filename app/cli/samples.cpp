#include "app/cli/samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/suggest.h"
#include "core/base/error.h"
#include "core/cluster/read/equal_machines.h"

namespace strato::cli {
namespace fs = std::filesystem;
namespace {

// Those that begin so, else the one with the fewest typing errors.
std::vector<std::string> near_names(const std::string& given, const SampleFolder& folder) {
  constexpr std::size_t kMost = 6;
  const std::vector<std::string> names = sample_names(folder);
  std::vector<std::string> near;
  for (const std::string& name : names)
    if (name.starts_with(given) && near.size() < kMost) near.push_back(name);
  if (near.empty()) near.push_back(nearest(given, names));
  std::erase(near, "");
  return near;
}

fs::path found(const std::string& given, const SampleFolder& folder) {
  fs::path path = sample_or_file(given, folder);
  std::error_code error;
  if (fs::is_directory(path, error)) throw InputError(given, "", "is a folder", "give a file");
  if (fs::exists(path, error)) return path;
  if (given.empty() || path.has_extension() || given.find('/') != std::string::npos)
    throw InputError(given, "", "is not there", "check the name");
  const std::vector<std::string> near = near_names(given, folder);
  throw InputError(given, "", "is not there, and no sample has this name",
                   near.empty() ? fmt::format("stratoscope-cli list {} names them", folder.name)
                                : fmt::format("did you mean {}?", fmt::join(near, " or ")));
}

}  // namespace

fs::path model_path(const std::string& given) { return sample_or_file(given, kModels); }
fs::path cluster_path(const std::string& given) { return sample_or_file(given, kClusters); }
fs::path found_model(const std::string& given) { return found(given, kModels); }
fs::path found_cluster(const std::string& given) {
  const fs::path path = cluster_path(given);
  return names_equal_machines(path) ? path : found(given, kClusters);
}

}  // namespace strato::cli
