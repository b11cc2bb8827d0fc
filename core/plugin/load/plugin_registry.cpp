#include "core/plugin/load/plugin_registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/plugin/load/library.h"
#include "core/plugin/load/manifest.h"
#include "core/search/tree/search_tree.h"

namespace strato {
namespace fs = std::filesystem;

namespace {

// "PLANNER+REFINER" is one planner.
class RefinedPlanner final : public Planner {
 public:
  RefinedPlanner(std::unique_ptr<Planner> planner, std::unique_ptr<Refiner> refiner)
      : planner_(std::move(planner)), refiner_(std::move(refiner)) {}

  std::string name() const override { return planner_->name() + "+" + refiner_->name(); }
  bool is_baseline() const override { return planner_->is_baseline(); }
  bool wants_feedback() const override { return planner_->wants_feedback(); }

  // The planner's and the refiner's; an option that both have is given to both.
  std::vector<OptionHelp> options() const override {
    std::vector<OptionHelp> all = planner_->options();
    for (OptionHelp& option : refiner_->options()) {
      const auto same = [&](const OptionHelp& other) { return other.name == option.name; };
      if (std::ranges::none_of(all, same)) all.push_back(std::move(option));
    }
    return all;
  }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree> resume) override {
    PlanResult planned =
        planner_->plan(problem, evaluator, options, observer, stop, std::move(resume));
    return refiner_->refine(problem, evaluator, std::move(planned), options, observer, stop);
  }

 private:
  std::unique_ptr<Planner> planner_;
  std::unique_ptr<Refiner> refiner_;
};

}  // namespace

std::string_view name_of(PluginKind kind) {
  constexpr std::array<std::string_view, 7> kNames = {"importer", "planner", "refiner",  "exporter",
                                                      "launcher", "engine",  "transport"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Effort effort) {
  constexpr std::array<std::string_view, 5> kNames = {"quick", "slow", "search", "learning",
                                                      "portfolio"};
  return kNames[static_cast<std::size_t>(effort)];
}

struct PluginRegistry::State {
  std::map<std::pair<PluginKind, std::string>, PluginInfo> plugins;
  std::vector<std::string> warnings;

  void scan(const fs::path& folder, PluginKind kind);
  std::vector<PluginInfo> list(PluginKind kind) const;
  const PluginInfo& find(PluginKind kind, std::string_view name) const;

  template <class T, class... Further>
  std::unique_ptr<T> make(const PluginInfo& plugin, const char* function, Further... further) {
    using Make = T* (*)(const char*, Further...);
    const auto make_object = reinterpret_cast<Make>(function_in(plugin.library, function));
    std::unique_ptr<T> object(make_object(plugin.name.c_str(), further...));
    if (object == nullptr)
      throw InputError(plugin.library.string(), "",
                       fmt::format("does not make \"{}\"", plugin.name),
                       "mend the names in its plugin.json");
    return object;
  }
  template <class T, class... Further>
  std::unique_ptr<T> make(PluginKind kind, std::string_view name, const char* function,
                          Further... further) {
    return make<T>(find(kind, name), function, further...);
  }
};

// Sorted: which of two manifests wins does not depend on the file system.
void PluginRegistry::State::scan(const fs::path& folder, PluginKind kind) {
  std::error_code error;
  std::set<fs::path> folders;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    folders.insert(entry->path());
  for (const fs::path& each : folders) {
    if (!fs::exists(each / "plugin.json", error)) continue;
    try {
      for (PluginInfo& plugin : read_manifest(each, kind))
        plugins.try_emplace({kind, plugin.name}, std::move(plugin));
    } catch (const InputError& problem) {
      warnings.emplace_back(problem.what());
    }
  }
}

std::vector<PluginInfo> PluginRegistry::State::list(PluginKind kind) const {
  std::vector<PluginInfo> result;
  for (const auto& [key, plugin] : plugins)
    if (key.first == kind) result.push_back(plugin);
  return result;
}

const PluginInfo& PluginRegistry::State::find(PluginKind kind, std::string_view name) const {
  const auto found = plugins.find({kind, std::string(name)});
  if (found != plugins.end()) return found->second;
  std::vector<std::string> known;
  for (const PluginInfo& plugin : list(kind)) known.push_back(plugin.name);
  throw InputError("", "", fmt::format("there is no {} \"{}\"", name_of(kind), name),
                   known.empty() ? "no such plugin was found: set STRATOSCOPE_PLUGIN_PATH"
                                 : fmt::format("choose one of: {}", fmt::join(known, ", ")));
}

PluginRegistry::PluginRegistry(std::vector<fs::path> folders) : state_(std::make_unique<State>()) {
  for (const fs::path& folder : folders)
    for (const PluginKind kind : kPluginKinds)
      state_->scan(folder / fmt::format("{}s", name_of(kind)), kind);
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

std::vector<PluginInfo> PluginRegistry::list(PluginKind kind) const { return state_->list(kind); }

const std::vector<std::string>& PluginRegistry::warnings() const { return state_->warnings; }

std::unique_ptr<Planner> PluginRegistry::planner(std::string_view name) const {
  const std::size_t plus = name.rfind('+');
  if (plus == std::string_view::npos)
    return state_->make<Planner>(PluginKind::Planner, name, "stratoscope_make_planner", this);
  auto planned = planner(name.substr(0, plus));
  return std::make_unique<RefinedPlanner>(
      std::move(planned), state_->make<Refiner>(PluginKind::Refiner, name.substr(plus + 1),
                                                "stratoscope_make_refiner"));
}

std::unique_ptr<Exporter> PluginRegistry::exporter(std::string_view name) const {
  return state_->make<Exporter>(PluginKind::Exporter, name, "stratoscope_make_exporter");
}

std::unique_ptr<Engine> PluginRegistry::engine(std::string_view name) const {
  return state_->make<Engine>(PluginKind::Engine, name, "stratoscope_make_engine");
}

std::unique_ptr<RankEngine> PluginRegistry::rank_engine(std::string_view name) const {
  return state_->make<RankEngine>(PluginKind::Engine, name, "stratoscope_make_rank_engine");
}

std::unique_ptr<Transport> PluginRegistry::transport(std::string_view name,
                                                     const Meeting& meeting) const {
  return state_->make<Transport>(PluginKind::Transport, name, "stratoscope_make_transport",
                                 &meeting);
}

std::unique_ptr<Launcher> PluginRegistry::launcher(std::string_view name) const {
  return state_->make<Launcher>(PluginKind::Launcher, name, "stratoscope_make_launcher");
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
