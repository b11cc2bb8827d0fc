#include "core/plugin/load/plugin_registry.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdlib>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/plugin/api/planner_function.h"

namespace strato {
namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 7> kKinds = {"importer", "planner", "refiner",  "exporter",
                                                    "launcher", "engine",  "transport"};

// `text` in lower case (ASCII).
std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// Returns the version. Version 1 has names, described as all are; version 2 names with descriptions
// of their own.
std::int64_t checked_version(const JsonView& manifest, PluginKind kind) {
  if (manifest.at("format").string() != "stratoscope-plugin") {
    manifest.at("format").fail("is not \"stratoscope-plugin\"", "write \"stratoscope-plugin\"");
  }
  const std::int64_t version = manifest.at("version").integer();
  if (version != 1 && version != 2)
    manifest.at("version").fail("is a version that this Stratoscope does not read", "write 2");
  if (manifest.at("kind").string() != name_of(kind)) {
    manifest.at("kind").fail(fmt::format("does not fit its folder {}s", name_of(kind)),
                             fmt::format("write \"{}\", or move the folder", name_of(kind)));
  }
  return version;
}

std::vector<std::string> extensions_of(const JsonView& manifest) {
  std::vector<std::string> extensions;
  const auto list = manifest.find("extensions");
  if (!list) return extensions;
  for (const JsonView& item : list->items()) {
    std::string extension = lower_case(item.string());
    if (extension.size() < 2 || extension[0] != '.')
      item.fail("is not an extension", "write \".onnx\"");
    extensions.push_back(std::move(extension));
  }
  return extensions;
}

void read_effort(const JsonView& entry, PluginInfo& plugin) {
  const auto given = entry.find("effort");
  if (!given) return;
  if (plugin.kind != PluginKind::Planner) given->fail("is only for planners", "leave it out");
  for (const Effort effort : {Effort::Quick, Effort::Slow, Effort::Search, Effort::Learning,
                              Effort::Portfolio, Effort::Given}) {
    plugin.effort = effort;
    if (given->string() == name_of(effort)) return;
  }
  given->fail("is not an effort",
              "write \"quick\", \"slow\", \"search\", \"learning\", \"portfolio\" or \"given\"");
}

// A manifest's, or an entry's of its "names".
void read_description(const JsonView& entry, PluginInfo& plugin) {
  if (const auto summary = entry.find("summary")) plugin.summary = summary->string();
  read_effort(entry, plugin);
}

// One entry for every name that the manifest `folder`/plugin.json serves. Throws InputError.
std::vector<PluginInfo> read_manifest(const std::filesystem::path& folder, PluginKind kind) {
  const std::filesystem::path file = folder / "plugin.json";
  const JsonView manifest = JsonView::parse(read_file(file), file.string());
  const std::int64_t version = checked_version(manifest, kind);
  PluginInfo common{kind, "", "", extensions_of(manifest), folder / "plugin.so"};
  if (version == 1) {
    manifest.allow_only({"format", "version", "kind", "names", "summary", "extensions", "effort"});
    read_description(manifest, common);
  } else {
    manifest.allow_only({"format", "version", "kind", "names", "extensions"});
  }
  std::vector<PluginInfo> plugins;
  for (const JsonView& entry : manifest.at("names").items()) {
    PluginInfo& plugin = plugins.emplace_back(common);
    if (version > 1) entry.allow_only({"name", "summary", "effort"});
    const JsonView name = version > 1 ? entry.at("name") : entry;
    plugin.name = name.string();
    if (plugin.name.empty()) name.fail("is empty", "give a name");
    if (version > 1) read_description(entry, plugin);
  }
  if (plugins.empty()) manifest.at("names").fail("is empty", "name what the plugin serves");
  return plugins;
}

}  // namespace

std::string_view name_of(PluginKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::string_view name_of(Effort effort) {
  constexpr std::array<std::string_view, 6> kNames = {"quick",    "slow",      "search",
                                                      "learning", "portfolio", "given"};
  return kNames[static_cast<std::size_t>(effort)];
}

// Never closed: objects and type information of the plugin may outlive any one user. What is loaded
// is not loaded again.
void* find_function_in(const std::filesystem::path& library, const char* name) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr && !std::filesystem::exists(library))
    throw InputError(library.string(), "", "is not there, though its plugin.json is",
                     "wait if it is still being built; else build or install the plugin again");
  if (handle == nullptr)
    throw InputError(library.string(), "", fmt::format("cannot be loaded: {}", ::dlerror()),
                     "build the plugin against this Stratoscope");
  return ::dlsym(handle, name);
}

void* function_in(const std::filesystem::path& library, const char* name) {
  void* address = find_function_in(library, name);
  if (address == nullptr)
    throw InputError(library.string(), "", fmt::format("has no function {}", name),
                     "build the plugin with the macro of its kind (core/plugin/api/plugin.h)");
  return address;
}

PluginRegistry::PluginRegistry(const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders)
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind)
      scan(folder / fmt::format("{}s", kKinds[kind]), static_cast<PluginKind>(kind));
}

// Sorted: which of two manifests wins does not depend on the file system.
void PluginRegistry::scan(const fs::path& folder, PluginKind kind) {
  std::error_code error;
  std::set<fs::path> folders;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    folders.insert(entry->path());
  for (const fs::path& each : folders) {
    if (!fs::exists(each / "plugin.json", error)) continue;
    try {
      for (PluginInfo& plugin : read_manifest(each, kind))
        plugins_.try_emplace({kind, plugin.name}, std::move(plugin));
    } catch (const InputError& problem) {
      warnings_.emplace_back(problem.what());
    }
  }
}

std::vector<PluginInfo> PluginRegistry::list(PluginKind kind) const {
  std::vector<PluginInfo> result;
  for (const auto& [key, plugin] : plugins_)
    if (key.first == kind) result.push_back(plugin);
  return result;
}

const PluginInfo& PluginRegistry::find(PluginKind kind, std::string_view name) const {
  const auto found = plugins_.find({kind, std::string(name)});
  if (found != plugins_.end()) return found->second;
  std::vector<std::string> known;
  for (const PluginInfo& plugin : list(kind)) known.push_back(plugin.name);
  throw InputError("", "", fmt::format("there is no {} \"{}\"", name_of(kind), name),
                   known.empty() ? "no such plugin was found: set STRATOSCOPE_PLUGIN_PATH"
                                 : fmt::format("choose one of: {}", fmt::join(known, ", ")));
}

template <class T, class... Further>
std::unique_ptr<T> PluginRegistry::make(const PluginInfo& plugin, const char* function,
                                        Further... further) {
  using Make = T* (*)(const char*, Further...);
  const auto make_object = reinterpret_cast<Make>(function_in(plugin.library, function));
  std::unique_ptr<T> object(make_object(plugin.name.c_str(), further...));
  if (object == nullptr)
    throw InputError(plugin.library.string(), "", fmt::format("does not make \"{}\"", plugin.name),
                     "mend the names in its plugin.json");
  return object;
}

std::vector<fs::path> PluginRegistry::default_folders() {
  std::vector<fs::path> folders;
  if (const char* variable = std::getenv("STRATOSCOPE_PLUGIN_PATH"); variable != nullptr) {
    std::istringstream listed(variable);
    for (std::string folder; std::getline(listed, folder, ':');)
      if (!folder.empty()) folders.emplace_back(folder);
  }
  folders.push_back(home_directory() / "plugins");
  return folders;
}

std::unique_ptr<Planner> PluginRegistry::planner(std::string_view name) const {
  const std::size_t plus = name.rfind('+');
  if (plus == std::string_view::npos)
    return make<Planner>(find(PluginKind::Planner, name), "stratoscope_make_planner", this);
  auto planned = planner(name.substr(0, plus));
  return refined_planner(
      std::move(planned),
      make<Refiner>(find(PluginKind::Refiner, name.substr(plus + 1)), "stratoscope_make_refiner"));
}

std::unique_ptr<Exporter> PluginRegistry::exporter(std::string_view name) const {
  return make<Exporter>(find(PluginKind::Exporter, name), "stratoscope_make_exporter");
}

std::unique_ptr<Engine> PluginRegistry::engine(std::string_view name) const {
  return make<Engine>(find(PluginKind::Engine, name), "stratoscope_make_engine");
}

std::unique_ptr<RankEngine> PluginRegistry::rank_engine(std::string_view name) const {
  return make<RankEngine>(find(PluginKind::Engine, name), "stratoscope_make_rank_engine");
}

std::unique_ptr<Transport> PluginRegistry::transport(std::string_view name,
                                                     const Meeting& meeting) const {
  return make<Transport>(find(PluginKind::Transport, name), "stratoscope_make_transport", &meeting);
}

std::unique_ptr<Launcher> PluginRegistry::launcher(std::string_view name) const {
  return make<Launcher>(find(PluginKind::Launcher, name), "stratoscope_make_launcher");
}

std::unique_ptr<Importer> PluginRegistry::importer_for(const fs::path& file) const {
  return make<Importer>(importer_info_for(file), "stratoscope_make_importer");
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
