#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "core/io/json.h"
#include "core/strategy/file/named_strategy.h"
#include "core/strategy/file/roles_json.h"
#include "core/strategy/file/schedule_json.h"
#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

constexpr std::int64_t kMaxWeight = 1'000'000;
constexpr std::int64_t kMaxAxis = 63;
constexpr std::int64_t kMostMicroBatches = 1 << 20;

// The value that the word names, one of those up to `last`.
template <class Value>
Value read_word(const JsonView& view, Value last, const char* problem, const char* remedy) {
  const std::string word = view.string();
  for (auto value = Value(); value <= last; value = Value(static_cast<int>(value) + 1))
    if (name_of(value) == word) return value;
  view.fail(fmt::format("\"{}\" {}", word.substr(0, 64), problem), remedy);
}

using Names = std::unordered_set<std::string>;

std::string read_once(const JsonView& view, Names& seen, const char* remedy) {
  std::string name = view.string();
  if (!seen.insert(name).second) view.fail(fmt::format("\"{}\" is there twice", name), remedy);
  return name;
}

std::vector<std::string> read_names(const JsonView& view, const char* remedy) {
  Names seen;
  std::vector<std::string> names;
  for (const JsonView& item : view.items()) names.push_back(read_once(item, seen, remedy));
  return names;
}

NamedShares read_devices(const JsonView& view) {
  NamedShares devices;
  for (const auto& [name, weight] : view.members())
    devices.emplace_back(name, static_cast<std::int32_t>(weight.integer(1, kMaxWeight)));
  if (devices.empty()) view.fail("names no device", "give at least one: {\"v100:0\": 1}");
  return devices;
}

Json devices_to_json(const NamedShares& devices) {
  Json json = Json::object();
  for (const auto& [name, weight] : devices) json[name] = weight;
  return json;
}

NamedGroup read_group(const JsonView& view) {
  view.allow_only({"name", "renamed", "mode", "devices", "tensor", "expert", "context", "pieces",
                   "sequence", "zero", "zero_rows", "zero_smallest_bytes", "ops", "note"});
  NamedGroup group;
  group.name = view.at("name").string();
  if (const auto renamed = view.find("renamed")) group.renamed = renamed->boolean();
  if (const auto mode = view.find("mode"))
    group.mode = read_word(*mode, Mode::ModelParallel, "is not a mode",
                           "modes: replicate-allreduce, replicate-ps, duplicate, model-parallel");
  if (const auto devices = view.find("devices")) group.devices = read_devices(*devices);
  group.roles = read_roles(view);
  if (!group.mode && group.roles != MeshRoles())
    view.fail("has roles of its devices and no \"mode\"", "add it");
  if (group.mode && group.devices.empty()) view.fail("has a mode and no \"devices\"", "add them");
  if (!group.mode && !group.devices.empty()) view.fail("has devices and no \"mode\"", "add it");
  return group;
}

void read_groups(const JsonView& groups, NamedStrategy& strategy) {
  Names names, ops;
  for (const JsonView& view : groups.items()) {
    NamedGroup& group = strategy.groups.emplace_back(read_group(view));
    if (!names.insert(group.name).second)
      view.at("name").fail(fmt::format("repeats \"{}\"", group.name), "name each group once");
    if (const auto list = view.find("ops"))
      for (const JsonView& op : list->items())
        group.ops.push_back(read_once(op, ops, "put each op in one group"));
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
  for (const auto& [name, priority] : order.ops)
    if (list)
      json.push_back(name);
    else
      json[name] = priority;
  return json;
}

bool reads_each_pass(const JsonView& view) {
  const std::string word = view.string();
  if (word != "once-a-step" && word != "each-pass")
    view.fail(fmt::format("\"{}\" is no way to gather parameters", word.substr(0, 64)),
              "ways: once-a-step, each-pass");
  return word == "each-pass";
}

std::vector<NamedSplit> read_splits(const JsonView& view) {
  std::vector<NamedSplit> splits;
  Names seen;
  for (const JsonView& item : view.items()) {
    item.allow_only({"op", "axis", "devices", "note"});
    NamedSplit& split = splits.emplace_back();
    split.axis = static_cast<int>(item.at("axis").integer(0, kMaxAxis));
    split.devices = read_devices(item.at("devices"));
    split.op = read_once(item.at("op"), seen, "split each op once");
  }
  return splits;
}

NamedOrder read_order(const JsonView& view) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  NamedOrder order;
  if (view.is_array()) {
    for (std::string& name : read_names(view, "name each op once"))
      order.ops.emplace_back(std::move(name), static_cast<std::int32_t>(order.ops.size()));
    order.others = static_cast<std::int32_t>(order.ops.size());
  } else if (view.is_object()) {
    for (const auto& [name, priority] : view.members())
      order.ops.emplace_back(name, static_cast<std::int32_t>(priority.integer(-kMost, kMost)));
  } else {
    view.fail("is neither a list nor an object",
              "give op names in the order in which they run, or a priority for each: {\"op\": 1}");
  }
  return order;
}

// --- how variables are synchronised ---

constexpr const char* kOneDevice = "name each device once";

void read_ps(const JsonView& view, NamedPart& part) {
  view.allow_only({"sync", "encoding", "server", "stations", "note"});
  part.server = view.at("server").string();
  if (part.server.empty()) view.at("server").fail("is empty", "name a device: \"v100:0\"");
  if (const auto stations = view.find("stations"))
    part.stations = read_names(*stations, kOneDevice);
}

void read_reduction(const JsonView& view, NamedPart& part) {
  constexpr std::int64_t kMost = 1'000'000'000;
  view.allow_only({"sync", "encoding", "merge_group", "sequence", "note"});
  if (const auto group = view.find("merge_group"))
    part.merge_group = static_cast<std::int32_t>(group->integer(0, kMost));
  if (const auto sequence = view.find("sequence"))
    part.sequence = read_names(*sequence, kOneDevice);
}

NamedPart read_part(const JsonView& view) {
  NamedPart part;
  part.synchroniser = read_word(view.at("sync"), Synchroniser::Ps, "is no way to synchronise",
                                "take \"allreduce\" or \"ps\"");
  if (const auto encoding = view.find("encoding"))
    part.encoding =
        read_word(*encoding, Encoding::LowRank, "is not an encoding",
                  "encodings: none, sparse-rows, half, top-k, sufficient-factors, low-rank");
  part.synchroniser == Synchroniser::Ps ? read_ps(view, part) : read_reduction(view, part);
  return part;
}

void read_partition(const JsonView& view, NamedVariable& variable) {
  constexpr std::int64_t kMostParts = 1 << 20;
  constexpr std::size_t kMostAxes = 64;
  for (const JsonView& item : view.items())
    variable.partition.push_back(static_cast<std::int32_t>(item.integer(1, kMostParts)));
  if (variable.partition.empty() || variable.partition.size() > kMostAxes)
    view.fail(fmt::format("has {} axes", variable.partition.size()),
              "give a number of parts for each axis of the variable");
}

// One along a single axis is what it would be with "axis".
void check_partition(const JsonView& item, NamedVariable& variable) {
  if (item.find("axis"))
    item.at("partition").fail("is there beside \"axis\"", "leave one of them out");
  const auto there = static_cast<std::int64_t>(variable.parts.size());
  if (const std::int64_t parts = part_count(variable.partition); parts != there)
    item.at("parts").fail(fmt::format("are {}, the partition is into {}", there, parts),
                          "give as many parts as the partition makes, row by row");
  VariableSync divided{OpId(), 0, std::vector<SyncPart>(variable.parts.size())};
  divide(divided, std::move(variable.partition));
  variable.axis = divided.axis;
  variable.partition = std::move(divided.partition);
}

std::vector<NamedVariable> read_variables(const JsonView& view) {
  constexpr std::int64_t kMostSteps = 1'000'000'000;
  std::vector<NamedVariable> variables;
  Names seen;
  for (const JsonView& item : view.items()) {
    item.allow_only({"variable", "axis", "partition", "parts", "staleness", "note"});
    NamedVariable& variable = variables.emplace_back();
    variable.variable = item.at("variable").string();
    if (const auto axis = item.find("axis"))
      variable.axis = static_cast<int>(axis->integer(0, kMaxAxis));
    if (const auto partition = item.find("partition")) read_partition(*partition, variable);
    if (const auto staleness = item.find("staleness"))
      variable.staleness = static_cast<int>(staleness->integer(0, kMostSteps));
    for (const JsonView& part : item.at("parts").items()) variable.parts.push_back(read_part(part));
    if (variable.parts.empty())
      item.at("parts").fail("is empty", "give at least one part, or leave the variable out");
    if (item.find("partition")) check_partition(item, variable);
    read_once(item.at("variable"), seen, "give each variable one entry");
  }
  return variables;
}

}  // namespace

// The library's writers of lists find these by their name.
static void to_json(Json& json, const NamedGroup& group) {
  json = {{"name", group.name}};
  if (group.renamed) json["renamed"] = true;
  if (group.mode) {
    json["mode"] = name_of(*group.mode);
    json["devices"] = devices_to_json(group.devices);
    add_roles(json, group.roles);
  }
  if (!group.ops.empty()) json["ops"] = group.ops;
}

static void to_json(Json& json, const NamedSplit& split) {
  json = {{"op", split.op}, {"axis", split.axis}, {"devices", devices_to_json(split.devices)}};
}

static void to_json(Json& json, const NamedPart& part) {
  json = {{"sync", name_of(part.synchroniser)}};
  if (!part.server.empty()) json["server"] = part.server;
  if (!part.stations.empty()) json["stations"] = part.stations;
  if (part.encoding != Encoding::None) json["encoding"] = name_of(part.encoding);
  if (part.merge_group >= 0) json["merge_group"] = part.merge_group;
  if (!part.sequence.empty()) json["sequence"] = part.sequence;
}

static void to_json(Json& json, const NamedVariable& variable) {
  json = {{"variable", variable.variable}};
  if (variable.axis != 0) json["axis"] = variable.axis;
  if (!variable.partition.empty()) json["partition"] = variable.partition;
  if (variable.staleness != 0) json["staleness"] = variable.staleness;
  json["parts"] = variable.parts;
}

void add_strategy(Json& root, const NamedStrategy& strategy) {
  if (strategy.bucket > Bytes(0)) root["bucket_bytes"] = strategy.bucket.value;
  root["groups"] = strategy.groups;
  if (!strategy.duplicated.empty()) root["duplicated"] = strategy.duplicated;
  if (!strategy.recomputed.empty()) root["recomputed"] = strategy.recomputed;
  if (!strategy.offloaded.empty()) root["offloaded"] = strategy.offloaded;
  if (!strategy.splits.empty()) root["splits"] = strategy.splits;
  if (strategy.gathers_each_pass) root["gather"] = "each-pass";
  if (!strategy.variables.empty()) root["variables"] = strategy.variables;
  if (strategy.order) root["order"] = order_to_json(*strategy.order);
  if (strategy.micro_batches.count == 1) return;
  root["micro_batches"] = strategy.micro_batches.count;
  root["schedule"] = schedule_to_json(strategy.micro_batches);
}

NamedStrategy strategy_from_json(const JsonView& root) {
  NamedStrategy strategy;
  if (const auto bucket = root.find("bucket_bytes")) strategy.bucket = Bytes(bucket->integer(0));
  read_groups(root.at("groups"), strategy);
  if (const auto ops = root.find("duplicated"))
    strategy.duplicated = read_names(*ops, "name each op once");
  if (const auto ops = root.find("recomputed"))
    strategy.recomputed = read_names(*ops, "name each op once");
  if (const auto ops = root.find("offloaded")) {
    strategy.offloaded = read_names(*ops, "name each op once");
    for (const JsonView& op : ops->items())
      if (std::ranges::find(strategy.recomputed, op.string()) != strategy.recomputed.end())
        op.fail("is recomputed, too", "name it in one of both lists");
  }
  if (const auto splits = root.find("splits")) strategy.splits = read_splits(*splits);
  if (const auto gather = root.find("gather"))
    strategy.gathers_each_pass = reads_each_pass(*gather);
  if (const auto list = root.find("variables")) strategy.variables = read_variables(*list);
  if (const auto order = root.find("order")) strategy.order = read_order(*order);
  if (const auto count = root.find("micro_batches"))
    strategy.micro_batches.count = static_cast<std::int32_t>(count->integer(1, kMostMicroBatches));
  if (const auto schedule = root.find("schedule")) read_schedule(*schedule, strategy.micro_batches);
  return strategy;
}

std::string strategy_json(const NamedStrategy& strategy) {
  Json json = {{"format", "stratoscope-strategy"}, {"version", 1}};
  add_strategy(json, strategy);
  return json_text(json, 2) + "\n";
}

NamedStrategy parse_strategy(std::string_view json, const std::string& file) {
  const JsonView root = JsonView::parse(json, file);
  root.expect_format("stratoscope-strategy", 1);
  root.allow_only({"format", "version", "note", "bucket_bytes", "groups", "duplicated",
                   "recomputed", "offloaded", "splits", "gather", "variables", "order",
                   "micro_batches", "schedule"});
  return strategy_from_json(root);
}

}  // namespace strato
