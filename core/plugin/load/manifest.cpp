#include "core/plugin/load/manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace strato {
namespace {

void check_format(const JsonView& manifest, PluginKind kind) {
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
  for (const Effort effort :
       {Effort::Quick, Effort::Slow, Effort::Search, Effort::Learning, Effort::Portfolio}) {
    plugin.effort = effort;
    if (given->string() == name_of(effort)) return;
  }
  given->fail("is not an effort",
              "write \"quick\", \"slow\", \"search\", \"learning\" or \"portfolio\"");
}

// A manifest's, or an entry's of its "names".
void read_description(const JsonView& entry, PluginInfo& plugin) {
  if (const auto summary = entry.find("summary")) plugin.summary = summary->string();
  read_effort(entry, plugin);
}

std::string name_in(const JsonView& name) {
  if (name.string().empty()) name.fail("is empty", "give a name");
  return name.string();
}

// Version 1: a name, described as all are. Version 2: a name with a description of its own.
PluginInfo described(const JsonView& entry, std::int64_t version, PluginInfo plugin) {
  if (version == 1) {
    plugin.name = name_in(entry);
    return plugin;
  }
  entry.allow_only({"name", "summary", "effort"});
  plugin.name = name_in(entry.at("name"));
  read_description(entry, plugin);
  return plugin;
}

}  // namespace

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

std::vector<PluginInfo> read_manifest(const std::filesystem::path& folder, PluginKind kind) {
  const std::filesystem::path file = folder / "plugin.json";
  const JsonView manifest = JsonView::parse(read_file(file), file.string());
  check_format(manifest, kind);
  const std::int64_t version = manifest.at("version").integer();
  PluginInfo common{kind, "", "", extensions_of(manifest), folder / "plugin.so"};
  if (version == 1) {
    manifest.allow_only({"format", "version", "kind", "names", "summary", "extensions", "effort"});
    read_description(manifest, common);
  } else {
    manifest.allow_only({"format", "version", "kind", "names", "extensions"});
  }
  std::vector<PluginInfo> plugins;
  for (const JsonView& entry : manifest.at("names").items())
    plugins.push_back(described(entry, version, common));
  if (plugins.empty()) manifest.at("names").fail("is empty", "name what the plugin serves");
  return plugins;
}

}  // namespace strato
