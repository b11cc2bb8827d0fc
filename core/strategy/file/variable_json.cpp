#include "core/strategy/file/variable_json.h"

#include <fmt/format.h>

#include <unordered_set>

#include "core/strategy/value/variable_check.h"

namespace strato {
namespace {

std::vector<std::string> read_names(const JsonView& view) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  for (const JsonView& item : view.items()) {
    names.push_back(item.string());
    if (!seen.insert(names.back()).second)
      item.fail(fmt::format("\"{}\" is there twice", names.back()), "name each device once");
  }
  return names;
}

Synchroniser read_synchroniser(const JsonView& view) {
  const std::string name = view.string();
  if (const auto known = synchroniser_from(name)) return *known;
  view.fail(fmt::format("\"{}\" is no way to synchronise", name.substr(0, 64)),
            "take \"allreduce\" or \"ps\"");
}

Encoding read_encoding(const JsonView& view) {
  const std::string name = view.string();
  if (const auto known = encoding_from(name)) return *known;
  view.fail(fmt::format("\"{}\" is not an encoding", name.substr(0, 64)),
            "encodings: none, sparse-rows, half, top-k, sufficient-factors, low-rank");
}

void read_ps(const JsonView& view, NamedPart& part) {
  view.allow_only({"sync", "encoding", "server", "stations", "note"});
  part.server = view.at("server").string();
  if (part.server.empty()) view.at("server").fail("is empty", "name a device: \"v100:0\"");
  if (const auto stations = view.find("stations")) part.stations = read_names(*stations);
}

void read_reduction(const JsonView& view, NamedPart& part) {
  constexpr std::int64_t kMost = 1'000'000'000;
  view.allow_only({"sync", "encoding", "merge_group", "sequence", "note"});
  if (const auto group = view.find("merge_group"))
    part.merge_group = static_cast<std::int32_t>(group->integer(0, kMost));
  if (const auto sequence = view.find("sequence")) part.sequence = read_names(*sequence);
}

NamedPart read_part(const JsonView& view) {
  NamedPart part;
  part.synchroniser = read_synchroniser(view.at("sync"));
  if (const auto encoding = view.find("encoding")) part.encoding = read_encoding(*encoding);
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

Json to_json(const NamedPart& part) {
  Json json = {{"sync", name_of(part.synchroniser)}};
  if (!part.server.empty()) json["server"] = part.server;
  if (!part.stations.empty()) json["stations"] = part.stations;
  if (part.encoding != Encoding::None) json["encoding"] = name_of(part.encoding);
  if (part.merge_group >= 0) json["merge_group"] = part.merge_group;
  if (!part.sequence.empty()) json["sequence"] = part.sequence;
  return json;
}

}  // namespace

Json variables_to_json(std::span<const NamedVariable> variables) {
  Json list = Json::array();
  for (const NamedVariable& variable : variables) {
    Json parts = Json::array();
    for (const NamedPart& part : variable.parts) parts.push_back(to_json(part));
    Json json = {{"variable", variable.variable}};
    if (variable.axis != 0) json["axis"] = variable.axis;
    if (!variable.partition.empty()) json["partition"] = variable.partition;
    if (variable.staleness != 0) json["staleness"] = variable.staleness;
    json["parts"] = std::move(parts);
    list.push_back(std::move(json));
  }
  return list;
}

std::vector<NamedVariable> read_variables(const JsonView& view) {
  constexpr std::int64_t kLastAxis = 63, kMostSteps = 1'000'000'000;
  std::vector<NamedVariable> variables;
  std::unordered_set<std::string> seen;
  for (const JsonView& item : view.items()) {
    item.allow_only({"variable", "axis", "partition", "parts", "staleness", "note"});
    NamedVariable& variable = variables.emplace_back();
    variable.variable = item.at("variable").string();
    if (const auto axis = item.find("axis"))
      variable.axis = static_cast<int>(axis->integer(0, kLastAxis));
    if (const auto partition = item.find("partition")) read_partition(*partition, variable);
    if (const auto staleness = item.find("staleness"))
      variable.staleness = static_cast<int>(staleness->integer(0, kMostSteps));
    for (const JsonView& part : item.at("parts").items()) variable.parts.push_back(read_part(part));
    if (variable.parts.empty())
      item.at("parts").fail("is empty", "give at least one part, or leave the variable out");
    if (item.find("partition")) check_partition(item, variable);
    if (!seen.insert(variable.variable).second)
      item.at("variable")
          .fail(fmt::format("\"{}\" is there twice", variable.variable),
                "give each variable one entry");
  }
  return variables;
}

}  // namespace strato
