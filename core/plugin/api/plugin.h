// The parts of plugins: the interfaces of importers and exporters, those of planners, refiners,
// launchers, engines and transports in the headers included here, and a macro for each kind.
//
// A plugin is a folder with a manifest (core/plugin/load/plugin_registry.h) and a library, which
// exports one C function for its kind that makes an object by name (see the macros below).
#pragma once

#include <concepts>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"
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
  // What is trained, and in which precision (core/graph/train/training_choice.h). Importers leave
  // these alone: import_model() changes what they made.
  std::optional<DataType> precision;           // nothing: as the file has it
  std::vector<std::string> trainable, frozen;  // patterns of parameters' names
  friend bool operator==(const ImportOptions&, const ImportOptions&) = default;
};

// Importers throw this where a model has dimensions without an extent and nobody said one: the
// first can be asked for. As an InputError it is one line like all others.
class UnboundDimension : public InputError {
 public:
  UnboundDimension(std::string file, std::string place, std::string input, int axis,
                   const std::string& symbol)
      : UnboundDimension(std::move(file), std::move(place), std::move(input), axis, symbol,
                         "the symbolic dimension \"" + symbol + "\" is not bound",
                         "give it with --set-dim " + symbol + "=N") {}
  // In words that tell others, too.
  UnboundDimension(std::string file, std::string place, std::string input, int axis,
                   const std::string& symbol, std::string problem, std::string remedy)
      : InputError(std::move(file), std::move(place), std::move(problem), std::move(remedy)),
        input_(std::move(input)),
        symbol_(symbol),
        axis_(axis) {}

  const std::string& input() const { return input_; }
  const std::string& symbol() const { return symbol_; }
  int axis() const { return axis_; }  // of the input, from 0; -1: its rank is asked for

 private:
  std::string input_, symbol_;
  int axis_;
};

// Model file -> forward graph. Throws InputError.
class Importer {
 public:
  virtual ~Importer() = default;
  virtual Graph import(const std::filesystem::path& file, const ImportOptions& options) = 0;
  // Of the last import: what of the file is not in the graph, one sentence each.
  virtual std::vector<std::string> remarks() const { return {}; }
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
  // False: an outline is all that it reads of a simulation (simulate_outline()).
  virtual bool needs_all_tasks() const { return true; }
  virtual std::string write(const ExportInput&) {
    CHECK(false, "an exporter that makes no file was asked for one");
  }
  virtual std::vector<ExportedFile> write_folder(const ExportInput&) {
    CHECK(false, "an exporter that makes no folder was asked for one");
  }
};

// An exporter that is one function of a result.
template <std::invocable<const ExportInput&> Write>
class ExporterFunction final : public Exporter {
 public:
  explicit ExporterFunction(Write write) : write_(std::move(write)) {}
  bool makes_folder() const override { return !kOneFile; }
  std::string write(const ExportInput& input) override {
    if constexpr (kOneFile) return write_(input);
    return Exporter::write(input);
  }
  std::vector<ExportedFile> write_folder(const ExportInput& input) override {
    if constexpr (!kOneFile) return write_(input);
    return Exporter::write_folder(input);
  }

 private:
  static constexpr bool kOneFile =
      std::same_as<std::invoke_result_t<Write, const ExportInput&>, std::string>;
  Write write_;
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
#define STRATOSCOPE_MAKE(Interface, function, make)                                    \
  extern "C" strato::Interface* function(const char* name) {                           \
    return std::unique_ptr<strato::Interface>(make(std::string_view(name))).release(); \
  }
#define STRATOSCOPE_PLANNER(make)                                                                \
  extern "C" strato::Planner* stratoscope_make_planner(const char* name,                         \
                                                       const strato::PluginRegistry* registry) { \
    return strato::make_planner_with(make, std::string_view(name), *registry).release();         \
  }
#define STRATOSCOPE_REFINER(make) STRATOSCOPE_MAKE(Refiner, stratoscope_make_refiner, make)
#define STRATOSCOPE_IMPORTER(make) STRATOSCOPE_MAKE(Importer, stratoscope_make_importer, make)
#define STRATOSCOPE_EXPORTER(make) STRATOSCOPE_MAKE(Exporter, stratoscope_make_exporter, make)
#define STRATOSCOPE_ENGINE(make) STRATOSCOPE_MAKE(Engine, stratoscope_make_engine, make)
#define STRATOSCOPE_RANK_ENGINE(make) \
  STRATOSCOPE_MAKE(RankEngine, stratoscope_make_rank_engine, make)
#define STRATOSCOPE_LAUNCHER(make) STRATOSCOPE_MAKE(Launcher, stratoscope_make_launcher, make)
// make(const Meeting&); throws InputError when the ranks do not meet.
#define STRATOSCOPE_TRANSPORT(make)                                                       \
  extern "C" strato::Transport* stratoscope_make_transport(const char*,                   \
                                                           const strato::Meeting* meet) { \
    return std::unique_ptr<strato::Transport>(make(*meet)).release();                     \
  }
// In place of STRATOSCOPE_EXPORTER, for a plugin of one exporter.
#define STRATOSCOPE_EXPORTER_FUNCTION(write)                                         \
  STRATOSCOPE_EXPORTER([](std::string_view) {                                        \
    return std::make_unique<strato::ExporterFunction<decltype(&(write))>>(&(write)); \
  })
