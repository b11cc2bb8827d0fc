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
  if (manifest.at("version").integer() != 1) {
    manifest.at("version").fail("is a version that this Stratoscope does not read", "write 1");
  }
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

Effort effort_of(const JsonView& manifest, PluginKind kind) {
  const auto given = manifest.find("effort");
  if (!given) return Effort::Quick;
  if (kind != PluginKind::Planner) given->fail("is only for planners", "leave it out");
  for (const Effort effort :
       {Effort::Quick, Effort::Slow, Effort::Search, Effort::Learning, Effort::Portfolio})
    if (given->string() == name_of(effort)) return effort;
  given->fail("is not an effort",
              "write \"quick\", \"slow\", \"search\", \"learning\" or \"portfolio\"");
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
  manifest.allow_only({"format", "version", "kind", "names", "summary", "extensions", "effort"});
  const auto summary = manifest.find("summary");
  const Effort effort = effort_of(manifest, kind);
  std::vector<PluginInfo> plugins;
  for (const JsonView& name : manifest.at("names").items()) {
    if (name.string().empty()) name.fail("is empty", "give a name");
    plugins.push_back({kind, name.string(), summary ? summary->string() : "",
                       extensions_of(manifest), folder / "plugin.so", effort});
  }
  if (plugins.empty()) manifest.at("names").fail("is empty", "name what the plugin serves");
  return plugins;
}

}  // namespace strato
