// Plugins: importers, planners, exporters, launchers and compute engines in shared libraries, found
// by a manifest and loaded on first use.
//
// A plugin is a folder <plugin path>/<kind>s/<name>/ with plugin.json and plugin.so:
//   {"format": "stratoscope-plugin", "version": 1, "kind": "planner", "names": ["mcts"],
//    "summary": "Monte-Carlo tree search (TAG 4.2.2)", "extensions": [".onnx"], "effort": "search"}
// The library exports one C function for its kind, which makes an object by name (see the macros
// below).
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/plugin/api/engine.h"
#include "core/plugin/api/launcher.h"
#include "core/plugin/api/rank_engine.h"
#include "core/search/api/planner.h"
#include "core/search/api/refiner.h"
#include "core/search/evaluate/outcome.h"

namespace strato {

struct ImportOptions {
  std::optional<std::int64_t> batch;               // binds the symbolic batch dimension
  std::map<std::string, std::int64_t> dimensions;  // binds other symbolic dimensions by name
  // The axis of the data inputs that carries the samples, where the file does not name it: 1 for a
  // model exported sequence first.
  std::size_t batch_axis = 0;
};

// Model file -> forward graph. Throws InputError.
class Importer {
 public:
  virtual ~Importer() = default;
  virtual Graph import(const std::filesystem::path& file, const ImportOptions& options) = 0;
};

struct ExportInput {
  const Problem& problem;
  const Strategy& strategy;
  const Outcome& outcome;
};

// One of the files of a folder: `name` is relative to it, with '/' between folders, never above it.
struct ExportedFile {
  std::string name, content;
};

// A result -> the content of one file, or a folder of files: an exporter has one of the two (see
// core/plugin/use/export.h, which writes either). Throws InputError for what it cannot serve.
class Exporter {
 public:
  virtual ~Exporter() = default;
  virtual bool makes_folder() const { return false; }
  virtual std::string write(const ExportInput& input);
  virtual std::vector<ExportedFile> write_folder(const ExportInput& input);
};

// Ranks planners by what they spend, from their manifests' "effort" (without one: Quick). A planner
// that runs others (plugins/planners/auto) goes by it, so that it need not know them by name.
enum class Effort {
  Quick,     // "quick": one answer, soon, whatever the iterations and the budget
  Slow,      // "slow": one answer, some time later
  Search,    // "search": spends its iterations or its budget, and starts from PlannerOptions::seeds
  Learning,  // "learning": a search that trains a network on the problem; slow for what it finds
  Portfolio,  // "portfolio": runs other planners, but none that learn
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

// Scans manifests only; a library is loaded when an object of it is made, and stays loaded.
// Thread-safe.
class PluginRegistry {
 public:
  // Folders to search, first wins; default: $STRATOSCOPE_PLUGIN_PATH, then
  // home_directory()/plugins.
  explicit PluginRegistry(std::vector<std::filesystem::path> folders = default_folders());
  ~PluginRegistry();
  static std::vector<std::filesystem::path> default_folders();

  std::vector<PluginInfo> list(PluginKind kind) const;  // ascending by name
  const std::vector<std::string>& warnings() const;     // manifests that could not be read

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
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strato

namespace strato {
// Calls make(name), or make(name, registry) for a planner that runs other planners.
template <class Make>
std::unique_ptr<Planner> make_planner_with(Make&& make, std::string_view name,
                                           const PluginRegistry& registry) {
  if constexpr (std::is_invocable_v<Make, std::string_view, const PluginRegistry&>)
    return make(name, registry);
  else
    return make(name);
}
}  // namespace strato

// In one .cpp file of the plugin; the function takes the name asked for (a library may serve
// several). That of a planner may take the registry behind the name (make_planner_with).
#define STRATOSCOPE_PLANNER(make)                                                                \
  extern "C" strato::Planner* stratoscope_make_planner(const char* name,                         \
                                                       const strato::PluginRegistry* registry) { \
    return strato::make_planner_with(make, std::string_view(name), *registry).release();         \
  }
#define STRATOSCOPE_REFINER(make)                                                    \
  extern "C" strato::Refiner* stratoscope_make_refiner(const char* name) {           \
    return std::unique_ptr<strato::Refiner>(make(std::string_view(name))).release(); \
  }
#define STRATOSCOPE_IMPORTER(make)                                                    \
  extern "C" strato::Importer* stratoscope_make_importer(const char* name) {          \
    return std::unique_ptr<strato::Importer>(make(std::string_view(name))).release(); \
  }
#define STRATOSCOPE_EXPORTER(make)                                                    \
  extern "C" strato::Exporter* stratoscope_make_exporter(const char* name) {          \
    return std::unique_ptr<strato::Exporter>(make(std::string_view(name))).release(); \
  }
#define STRATOSCOPE_ENGINE(make)                                                    \
  extern "C" strato::Engine* stratoscope_make_engine(const char* name) {            \
    return std::unique_ptr<strato::Engine>(make(std::string_view(name))).release(); \
  }
#define STRATOSCOPE_RANK_ENGINE(make)                                                   \
  extern "C" strato::RankEngine* stratoscope_make_rank_engine(const char* name) {       \
    return std::unique_ptr<strato::RankEngine>(make(std::string_view(name))).release(); \
  }
// make(const Meeting&); throws InputError when the ranks do not meet.
#define STRATOSCOPE_TRANSPORT(make)                                                       \
  extern "C" strato::Transport* stratoscope_make_transport(const char*,                   \
                                                           const strato::Meeting* meet) { \
    return std::unique_ptr<strato::Transport>(make(*meet)).release();                     \
  }
#define STRATOSCOPE_LAUNCHER(make)                                                    \
  extern "C" strato::Launcher* stratoscope_make_launcher(const char* name) {          \
    return std::unique_ptr<strato::Launcher>(make(std::string_view(name))).release(); \
  }
