#include "core/strategy/file/strategy_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "core/strategy/file/variable_json.h"

namespace strato {
namespace {

constexpr std::int64_t kMaxWeight = 1'000'000;
constexpr std::int64_t kMaxAxis = 63;

using NamedShares = std::vector<std::pair<std::string, std::int32_t>>;

Mode read_mode(const JsonView& view) {
  const std::string name = view.string();
  if (const auto mode = mode_from(name)) return *mode;
  view.fail(fmt::format("\"{}\" is not a mode", name.substr(0, 64)),
            "modes: replicate-allreduce, replicate-ps, duplicate, model-parallel");
}

NamedShares read_devices(const JsonView& view) {
  NamedShares devices;
  for (const auto& [name, weight] : view.members()) {
    devices.emplace_back(name, static_cast<std::int32_t>(weight.integer(1, kMaxWeight)));
  }
  if (devices.empty()) view.fail("names no device", "give at least one: {\"v100:0\": 1}");
  return devices;
}

Json devices_to_json(const NamedShares& devices) {
  Json json = Json::object();
  for (const auto& [name, weight] : devices) json[name] = weight;
  return json;
}

NamedGroup read_group(const JsonView& view) {
  view.allow_only({"name", "renamed", "mode", "devices", "ops", "note"});
  NamedGroup group;
  group.name = view.at("name").string();
  if (const auto renamed = view.find("renamed")) group.renamed = renamed->boolean();
  if (const auto mode = view.find("mode")) group.mode = read_mode(*mode);
  if (const auto devices = view.find("devices")) group.devices = read_devices(*devices);
  if (group.mode && group.devices.empty()) view.fail("has a mode and no \"devices\"", "add them");
  if (!group.mode && !group.devices.empty()) view.fail("has devices and no \"mode\"", "add it");
  return group;
}

Json groups_to_json(const NamedStrategy& strategy) {
  Json groups = Json::array();
  for (const NamedGroup& group : strategy.groups) {
    Json json = {{"name", group.name}};
    if (group.renamed) json["renamed"] = true;
    if (group.mode) {
      json["mode"] = name_of(*group.mode);
      json["devices"] = devices_to_json(group.devices);
    }
    if (!group.ops.empty()) json["ops"] = group.ops;
    groups.push_back(std::move(json));
  }
  return groups;
}

void read_groups(const JsonView& groups, NamedStrategy& strategy) {
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
}

// Is it as a list has it: first to last from 0, and the others after them?
bool is_list(const NamedOrder& order) {
  for (std::size_t i = 0; i < order.ops.size(); ++i)
    if (order.ops[i].second != static_cast<std::int64_t>(i)) return false;
  return !order.ops.empty() && order.others == static_cast<std::int64_t>(order.ops.size());
}

Json order_to_json(const NamedOrder& order) {
  const bool list = is_list(order);
  Json json = list ? Json::array() : Json::object();
  for (const auto& [name, priority] : order.ops) {
    if (list) {
      json.push_back(name);
    } else {
      json[name] = priority;
    }
  }
  return json;
}

std::vector<std::string> read_ops(const JsonView& view) {
  std::vector<std::string> ops;
  std::unordered_set<std::string> seen;
  for (const JsonView& item : view.items()) {
    ops.push_back(item.string());
    if (!seen.insert(ops.back()).second)
      item.fail(fmt::format("\"{}\" is there twice", ops.back()), "name each op once");
  }
  return ops;
}

Json splits_to_json(std::span<const NamedSplit> splits) {
  Json json = Json::array();
  for (const NamedSplit& split : splits) {
    json.push_back(
        {{"op", split.op}, {"axis", split.axis}, {"devices", devices_to_json(split.devices)}});
  }
  return json;
}

std::vector<NamedSplit> read_splits(const JsonView& view) {
  std::vector<NamedSplit> splits;
  std::unordered_set<std::string> seen;
  for (const JsonView& item : view.items()) {
    item.allow_only({"op", "axis", "devices", "note"});
    NamedSplit split;
    split.op = item.at("op").string();
    split.axis = static_cast<int>(item.at("axis").integer(0, kMaxAxis));
    split.devices = read_devices(item.at("devices"));
    if (!seen.insert(split.op).second)
      item.at("op").fail(fmt::format("\"{}\" is there twice", split.op), "split each op once");
    splits.push_back(std::move(split));
  }
  return splits;
}

void read_order_list(const JsonView& view, NamedOrder& order) {
  for (std::string& name : read_ops(view))
    order.ops.emplace_back(std::move(name), static_cast<std::int32_t>(order.ops.size()));
  order.others = static_cast<std::int32_t>(order.ops.size());
}

NamedOrder read_order(const JsonView& view) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  NamedOrder order;
  if (view.is_array()) {
    read_order_list(view, order);
  } else if (view.is_object()) {
    for (const auto& [name, priority] : view.members())
      order.ops.emplace_back(name, static_cast<std::int32_t>(priority.integer(-kMost, kMost)));
  } else {
    view.fail("is neither a list nor an object",
              "give op names in the order in which they run, or a priority for each: {\"op\": 1}");
  }
  return order;
}

}  // namespace

void add_strategy(Json& root, const NamedStrategy& strategy) {
  if (strategy.bucket > Bytes(0)) root["bucket_bytes"] = strategy.bucket.value;
  root["groups"] = groups_to_json(strategy);
  if (!strategy.duplicated.empty()) root["duplicated"] = strategy.duplicated;
  if (!strategy.splits.empty()) root["splits"] = splits_to_json(strategy.splits);
  if (!strategy.variables.empty()) root["variables"] = variables_to_json(strategy.variables);
  if (strategy.order) root["order"] = order_to_json(*strategy.order);
}

NamedStrategy strategy_from_json(const JsonView& root) {
  NamedStrategy strategy;
  if (const auto bucket = root.find("bucket_bytes")) strategy.bucket = Bytes(bucket->integer(0));
  read_groups(root.at("groups"), strategy);
  if (const auto ops = root.find("duplicated")) strategy.duplicated = read_ops(*ops);
  if (const auto splits = root.find("splits")) strategy.splits = read_splits(*splits);
  if (const auto list = root.find("variables")) strategy.variables = read_variables(*list);
  if (const auto order = root.find("order")) strategy.order = read_order(*order);
  return strategy;
}

}  // namespace strato
