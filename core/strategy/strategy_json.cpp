#include "core/strategy/strategy_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "core/base/file.h"

namespace strato {
namespace {

constexpr std::int64_t kMaxWeight = 1'000'000;

Mode read_mode(const JsonView& view) {
  const std::string name = view.string();
  if (const auto mode = mode_from(name)) return *mode;
  view.fail(fmt::format("\"{}\" is not a mode", name.substr(0, 64)),
            "modes: replicate-allreduce, replicate-ps, duplicate, model-parallel");
}

void read_devices(const JsonView& view, NamedGroup& group) {
  for (const auto& [name, weight] : view.members()) {
    group.devices.emplace_back(name, static_cast<std::int32_t>(weight.integer(1, kMaxWeight)));
  }
  if (group.devices.empty()) view.fail("names no device", "give at least one: {\"v100:0\": 1}");
}

NamedGroup read_group(const JsonView& view) {
  view.allow_only({"name", "mode", "devices", "ops", "note"});
  NamedGroup group;
  group.name = view.at("name").string();
  if (const auto mode = view.find("mode")) group.mode = read_mode(*mode);
  if (const auto devices = view.find("devices")) read_devices(*devices, group);
  if (group.mode && group.devices.empty()) view.fail("has a mode and no \"devices\"", "add them");
  if (!group.mode && !group.devices.empty()) view.fail("has devices and no \"mode\"", "add it");
  return group;
}

}  // namespace

Json groups_to_json(const NamedStrategy& strategy) {
  Json groups = Json::array();
  for (const NamedGroup& group : strategy.groups) {
    Json json = {{"name", group.name}};
    if (group.mode) {
      json["mode"] = name_of(*group.mode);
      Json& devices = json["devices"] = Json::object();
      for (const auto& [name, weight] : group.devices) devices[name] = weight;
    }
    if (!group.ops.empty()) json["ops"] = group.ops;
    groups.push_back(std::move(json));
  }
  return groups;
}

NamedStrategy groups_from_json(const JsonView& groups) {
  NamedStrategy strategy;
  std::unordered_set<std::string> names, ops;
  for (const JsonView& view : groups.items()) {
    NamedGroup group = read_group(view);
    if (!names.insert(group.name).second) {
      view.at("name").fail(fmt::format("repeats \"{}\"", group.name), "name each group once");
    }
    if (const auto list = view.find("ops")) {
      for (const JsonView& op : list->items()) {
        group.ops.push_back(op.string());
        if (ops.insert(group.ops.back()).second) continue;
        op.fail(fmt::format("\"{}\" is there twice", group.ops.back()), "put each op in one group");
      }
    }
    strategy.groups.push_back(std::move(group));
  }
  return strategy;
}

std::string strategy_json(const NamedStrategy& strategy) {
  const Json json = {
      {"format", "stratoscope-strategy"}, {"version", 1}, {"groups", groups_to_json(strategy)}};
  return json.dump(2) + "\n";
}

void write_strategy(const std::filesystem::path& file, const NamedStrategy& strategy) {
  write_file(file, strategy_json(strategy));
}

NamedStrategy parse_strategy(std::string_view json, const std::string& file) {
  const JsonView root = JsonView::parse(json, file);
  root.expect_format("stratoscope-strategy", 1);
  root.allow_only({"format", "version", "note", "groups"});
  return groups_from_json(root.at("groups"));
}

NamedStrategy read_strategy(const std::filesystem::path& file) {
  return parse_strategy(read_file(file), file.string());
}

}  // namespace strato
