// The plugins that there are: shared libraries, found by a manifest and loaded on first use.
//
// A plugin is a folder <plugin path>/<kind>s/<name>/ with plugin.so and plugin.json:
//   {"format": "stratoscope-plugin", "version": 2, "kind": "planner",
//    "names": [{"name": "heft", "summary": "List scheduling by upward rank", "effort": "quick"}]}
// Importers and exporters have "extensions": [".onnx"] for all of their names. Version 1 has plain
// names, and one "summary" and "effort" for all of them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plugin/api/plugin.h"

namespace strato {

// The effort of a planner, from its manifest (without one: Quick). A planner that runs
// others (plugins/planners/search/portfolio) goes by it, so that it need not know them by name.
enum class Effort {
  Quick,     // "quick": one answer, soon, whatever the iterations and the budget
  Slow,      // "slow": one answer, some time later
  Search,    // "search": spends its iterations or its budget, and starts from PlannerOptions::seeds
  Learning,  // "learning": a search that trains a network on the problem; slow for what it finds
  Portfolio,  // "portfolio": runs other planners, but none that learn
  Given,  // "given": makes what its options say, and refuses without them; nobody tries it unasked
};
std::string_view name_of(Effort effort);

enum class PluginKind { Importer, Planner, Refiner, Exporter, Launcher, Engine, Transport };
std::string_view name_of(PluginKind kind);  // "importer", ...

struct PluginInfo {
  PluginKind kind;
  std::string name;
  std::string summary;
  std::vector<std::string> extensions;  // of importers and exporters: ".onnx"
  std::filesystem::path library;
  Effort effort = Effort::Quick;  // of planners
};

// The address of a C function in a plugin's library, which is loaded on first use and stays until
// the program ends. Throws InputError when either is not there; the second returns null for a
// library without the function. Thread-safe.
void* function_in(const std::filesystem::path& library, const char* name);
void* find_function_in(const std::filesystem::path& library, const char* name);

// Scans manifests only; a library is loaded when an object of it is made, and stays loaded.
// Thread-safe.
class PluginRegistry {
 public:
  // Folders to search, first wins; default: $STRATOSCOPE_PLUGIN_PATH, then
  // home_directory()/plugins.
  explicit PluginRegistry(const std::vector<std::filesystem::path>& folders = default_folders());
  PluginRegistry(const PluginRegistry&) = delete;
  PluginRegistry& operator=(const PluginRegistry&) = delete;
  static std::vector<std::filesystem::path> default_folders();

  std::vector<PluginInfo> list(PluginKind kind) const;                    // ascending by name
  const std::vector<std::string>& warnings() const { return warnings_; }  // unreadable manifests

  // Unknown name: InputError that lists what there is. A planner's name may carry refiners:
  // "dp-allreduce+sfb" plans as dp-allreduce does, and the refiner "sfb" goes over the result. A
  // planner that runs others refers to this registry, which has to outlive it.
  std::unique_ptr<Planner> planner(std::string_view name) const;
  std::unique_ptr<Importer> importer_for(const std::filesystem::path& file) const;  // by extension
  PluginInfo importer_info_for(const std::filesystem::path& file) const;
  std::unique_ptr<Exporter> exporter(std::string_view name) const;
  std::unique_ptr<Engine> engine(std::string_view name) const;
  std::unique_ptr<RankEngine> rank_engine(std::string_view name) const;  // of kind Engine, too
  std::unique_ptr<Transport> transport(std::string_view name, const Meeting& meeting) const;
  std::unique_ptr<Launcher> launcher(std::string_view name) const;

 private:
  void scan(const std::filesystem::path& folder, PluginKind kind);
  const PluginInfo& find(PluginKind kind, std::string_view name) const;
  template <class T, class... Further>
  static std::unique_ptr<T> make(const PluginInfo& plugin, const char* function,
                                 Further... further);

  std::map<std::pair<PluginKind, std::string>, PluginInfo> plugins_;
  std::vector<std::string> warnings_;
};

}  // namespace strato
