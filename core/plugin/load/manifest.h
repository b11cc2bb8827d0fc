// Private to core/plugin: reads plugin.json files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/plugin/load/plugin_registry.h"

namespace strato {

inline constexpr PluginKind kPluginKinds[] = {
    PluginKind::Importer, PluginKind::Planner, PluginKind::Refiner,  PluginKind::Exporter,
    PluginKind::Launcher, PluginKind::Engine,  PluginKind::Transport};

// One entry for every name that the manifest `folder`/plugin.json serves. Throws InputError.
std::vector<PluginInfo> read_manifest(const std::filesystem::path& folder, PluginKind kind);

// `text` in lower case (ASCII).
std::string lower_case(std::string text);

}  // namespace strato
