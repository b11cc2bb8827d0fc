#include "core/plugin/load/plugin_registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/plugin/load/library.h"
#include "core/plugin/load/manifest.h"
#include "core/plugin/load/refined_planner.h"

namespace strato {
namespace fs = std::filesystem;

std::string_view name_of(PluginKind kind) {
  switch (kind) {
    case PluginKind::Importer:
      return "importer";
    case PluginKind::Planner:
      return "planner";
    case PluginKind::Refiner:
      return "refiner";
    case PluginKind::Exporter:
      return "exporter";
    case PluginKind::Launcher:
      return "launcher";
    case PluginKind::Engine:
      return "engine";
    case PluginKind::Transport:
      return "transport";
  }
  return "plugin";
}

std::string_view name_of(Effort effort) {
  switch (effort) {
    case Effort::Quick:
      return "quick";
    case Effort::Slow:
      return "slow";
    case Effort::Search:
      return "search";
    case Effort::Learning:
      return "learning";
    case Effort::Portfolio:
      return "portfolio";
  }
  return "quick";
}

struct PluginRegistry::State {
  std::map<std::pair<PluginKind, std::string>, PluginInfo> plugins;
  std::vector<std::string> warnings;
  Libraries libraries;

  void scan(const fs::path& folder);
  void scan_kind(const fs::path& folder, PluginKind kind);
  void read(const fs::path& folder, PluginKind kind);
  std::vector<std::string> names(PluginKind kind) const;
  const PluginInfo& find(PluginKind kind, std::string_view name) const;

  template <class T, class... Further>
  std::unique_ptr<T> make(const PluginInfo& plugin, const char* function, Further... further) {
    using Make = T* (*)(const char*, Further...);
    const auto make_object = reinterpret_cast<Make>(libraries.symbol(plugin.library, function));
    std::unique_ptr<T> object(make_object(plugin.name.c_str(), further...));
    if (object == nullptr) {
      throw InputError(plugin.library.string(), "",
                       fmt::format("does not make \"{}\"", plugin.name),
                       "mend the names in its plugin.json");
    }
    return object;
  }
};

void PluginRegistry::State::scan(const fs::path& folder) {
  for (const PluginKind kind : kPluginKinds)
    scan_kind(folder / fmt::format("{}s", name_of(kind)), kind);
}

// Sorted: which of two manifests wins does not depend on the file system.
void PluginRegistry::State::scan_kind(const fs::path& folder, PluginKind kind) {
  std::error_code error;
  std::set<fs::path> folders;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    folders.insert(entry->path());
  }
  for (const fs::path& plugin : folders) {
    if (fs::exists(plugin / "plugin.json", error)) read(plugin, kind);
  }
}

void PluginRegistry::State::read(const fs::path& folder, PluginKind kind) {
  try {
    for (PluginInfo& plugin : read_manifest(folder, kind)) {
      plugins.try_emplace({kind, plugin.name}, std::move(plugin));
    }
  } catch (const InputError& error) {
    warnings.emplace_back(error.what());
  }
}

std::vector<std::string> PluginRegistry::State::names(PluginKind kind) const {
  std::vector<std::string> result;
  for (const auto& [key, plugin] : plugins) {
    if (key.first == kind) result.push_back(plugin.name);
  }
  return result;
}

const PluginInfo& PluginRegistry::State::find(PluginKind kind, std::string_view name) const {
  const auto found = plugins.find({kind, std::string(name)});
  if (found != plugins.end()) return found->second;
  const std::vector<std::string> known = names(kind);
  throw InputError("", "", fmt::format("there is no {} \"{}\"", name_of(kind), name),
                   known.empty() ? "no such plugin was found: set STRATOSCOPE_PLUGIN_PATH"
                                 : fmt::format("choose one of: {}", fmt::join(known, ", ")));
}

PluginRegistry::PluginRegistry(std::vector<fs::path> folders) : state_(std::make_unique<State>()) {
  for (const fs::path& folder : folders) state_->scan(folder);
}
PluginRegistry::~PluginRegistry() = default;

std::vector<fs::path> PluginRegistry::default_folders() {
  std::vector<fs::path> folders;
  if (const char* variable = std::getenv("STRATOSCOPE_PLUGIN_PATH"); variable != nullptr) {
    std::string_view rest = variable;
    while (!rest.empty()) {
      const std::size_t colon = std::min(rest.find(':'), rest.size());
      if (colon > 0) folders.emplace_back(rest.substr(0, colon));
      rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
  }
  folders.push_back(home_directory() / "plugins");
  return folders;
}

std::vector<PluginInfo> PluginRegistry::list(PluginKind kind) const {
  std::vector<PluginInfo> result;
  for (const auto& [key, plugin] : state_->plugins) {
    if (key.first == kind) result.push_back(plugin);
  }
  return result;
}

const std::vector<std::string>& PluginRegistry::warnings() const { return state_->warnings; }

std::unique_ptr<Planner> PluginRegistry::planner(std::string_view name) const {
  const std::size_t plus = name.rfind('+');
  if (plus == std::string_view::npos) {
    return state_->make<Planner>(state_->find(PluginKind::Planner, name),
                                 "stratoscope_make_planner", this);
  }
  return refined(planner(name.substr(0, plus)),
                 state_->make<Refiner>(state_->find(PluginKind::Refiner, name.substr(plus + 1)),
                                       "stratoscope_make_refiner"));
}

std::unique_ptr<Exporter> PluginRegistry::exporter(std::string_view name) const {
  return state_->make<Exporter>(state_->find(PluginKind::Exporter, name),
                                "stratoscope_make_exporter");
}

std::unique_ptr<Engine> PluginRegistry::engine(std::string_view name) const {
  return state_->make<Engine>(state_->find(PluginKind::Engine, name), "stratoscope_make_engine");
}

std::unique_ptr<RankEngine> PluginRegistry::rank_engine(std::string_view name) const {
  return state_->make<RankEngine>(state_->find(PluginKind::Engine, name),
                                  "stratoscope_make_rank_engine");
}

std::unique_ptr<Transport> PluginRegistry::transport(std::string_view name,
                                                     const Meeting& meeting) const {
  return state_->make<Transport>(state_->find(PluginKind::Transport, name),
                                 "stratoscope_make_transport", &meeting);
}

std::unique_ptr<Launcher> PluginRegistry::launcher(std::string_view name) const {
  return state_->make<Launcher>(state_->find(PluginKind::Launcher, name),
                                "stratoscope_make_launcher");
}

std::unique_ptr<Importer> PluginRegistry::importer_for(const fs::path& file) const {
  return state_->make<Importer>(importer_info_for(file), "stratoscope_make_importer");
}

PluginInfo PluginRegistry::importer_info_for(const fs::path& file) const {
  const std::string extension = lower_case(file.extension().string());
  std::set<std::string> known;
  for (const PluginInfo& plugin : list(PluginKind::Importer)) {
    for (const std::string& each : plugin.extensions) {
      if (each == extension) return plugin;
      known.insert(each);
    }
  }
  throw InputError(file.string(), "",
                   extension.empty() ? "has no extension that tells its format"
                                     : fmt::format("no importer reads {} files", extension),
                   known.empty()
                       ? "no importer was found: set STRATOSCOPE_PLUGIN_PATH"
                       : fmt::format("give a file of one of: {}", fmt::join(known, ", ")));
}

}  // namespace strato
