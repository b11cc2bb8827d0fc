// The parts of plugins: the interfaces of importers and exporters, those of planners, refiners,
// launchers, engines and transports in the headers included here, and a macro for each kind.
//
// A plugin is a folder with a manifest (core/plugin/load/plugin_registry.h) and a library, which
// exports one C function for its kind that makes an object by name (see the macros below).
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

class PluginRegistry;  // core/plugin/load/plugin_registry.h

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
