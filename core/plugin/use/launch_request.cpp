#include "core/plugin/use/launch_request.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/error.h"

namespace strato {

void check_request(const LaunchRequest& request, const std::string& launcher,
                   const std::vector<std::pair<std::string, std::string>>& known) {
  std::string names;
  for (const auto& [name, meaning] : known) names += (names.empty() ? "" : ", ") + name;
  for (const auto& [name, value] : request.settings) {
    const bool found = std::any_of(known.begin(), known.end(),
                                   [&](const auto& setting) { return setting.first == name; });
    if (!found) {
      throw InputError("", "--set " + name, "is no setting of the launcher " + launcher,
                       "give one of " + names);
    }
    if (value.empty() || value.front() == '-' || value.find('\0') != std::string::npos)
      throw InputError("", "--set " + name, "has no value", "write " + name + "=value");
  }
  std::error_code ignored;
  if (!std::filesystem::exists(request.worker, ignored)) {
    throw InputError(request.worker.string(), "", "is not there",
                     "build or install stratoscope-worker beside this program");
  }
}

std::string setting_of(const LaunchRequest& request, const std::string& name) {
  const auto found = request.settings.find(name);
  return found == request.settings.end() ? "" : found->second;
}

std::vector<int> nodes_of(const LaunchRequest& request, int most) {
  std::map<int, int> seen;
  std::vector<int> nodes;
  for (int rank = 0; rank < request.ranks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    const int machine = at < request.machines.size() ? request.machines[at] : 0;
    const int node = seen.emplace(machine, static_cast<int>(seen.size())).first->second;
    nodes.push_back(most > 0 ? node % most : node);
  }
  return nodes;
}

}  // namespace strato
