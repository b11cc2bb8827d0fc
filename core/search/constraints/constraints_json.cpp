// Constraints as text: the format is in constraints.h.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/io/file.h"
#include "core/io/json.h"
#include "core/search/constraints/constraints.h"
#include "core/strategy/file/roles_json.h"

namespace strato {
namespace {

constexpr std::string_view kConstraintsFormat = "stratoscope-constraints";
constexpr std::int64_t kConstraintsVersion = 1;
constexpr std::int64_t kMostPinnedWeight = 1'000'000;

Json named_json(const ConstrainedOps& of) {
  if (of.ops.empty()) return of.name;
  return {{"name", of.name}, {"ops", of.ops}};
}

template <class List, class Write>
void write_list(Json& root, const char* key, const List& list, const Write& write) {
  if (list.empty()) return;
  Json& items = root[key] = Json::array();
  for (const auto& one : list) items.push_back(write(one));
}

Json pin_json(const Constraints::Pin& pin) {
  Json devices = Json::object();
  for (const auto& [name, weight] : pin.devices) devices[name] = weight;
  Json json = {{"group", named_json(pin.of)}, {"mode", name_of(pin.mode)}, {"devices", devices}};
  add_roles(json, pin.roles);
  return json;
}

Json forbid_json(const Constraints::Forbid& forbid) {
  Json json = {{"group", named_json(forbid.of)}};
  if (!forbid.devices.empty()) json["devices"] = forbid.devices;
  for (const Mode mode : forbid.modes) json["modes"].push_back(name_of(mode));
  for (const Role role : forbid.roles) json["roles"].push_back(name_of(role));
  return json;
}

Json together_json(const Constraints::Together& together) {
  Json groups = Json::array();
  for (const ConstrainedOps& of : together.of) groups.push_back(named_json(of));
  return {{"groups", groups}};
}

Json limit_json(const Constraints::Limit& limit) {
  return {{"group", named_json(limit.of)}, {"devices", limit.devices}};
}

std::string read_name(const JsonView& view, const char* what) {
  std::string name = view.string();
  if (name.empty()) view.fail("is empty", fmt::format("name {}", what));
  return name;
}

std::vector<std::string> read_names(const JsonView& view, const char* what) {
  std::vector<std::string> names;
  for (const JsonView& item : view.items()) names.push_back(read_name(item, what));
  if (names.empty()) view.fail("is empty", fmt::format("name {}", what));
  return names;
}

ConstrainedOps read_ops(const JsonView& view) {
  if (!view.is_object()) return {read_name(view, "an op group, or \"*\""), {}};
  view.allow_only({"name", "ops", "note"});
  return {read_name(view.at("name"), "the group"), read_names(view.at("ops"), "an op")};
}

Mode read_mode(const JsonView& view) {
  const std::string name = view.string();
  if (const auto mode = mode_from(name)) return *mode;
  view.fail(fmt::format("\"{}\" is not a mode", name.substr(0, 64)),
            "modes: replicate-allreduce, replicate-ps, duplicate, model-parallel");
}

Role read_role(const JsonView& view) {
  const std::string name = view.string();
  if (const auto role = role_from(name)) return *role;
  view.fail(fmt::format("\"{}\" is not a role", name.substr(0, 64)),
            fmt::format("roles: {}", fmt::join(kRoles, ", ")));
}

Constraints::Pin read_pin(const JsonView& view) {
  view.allow_only({"group", "mode", "devices", "tensor", "expert", "context", "pieces", "zero",
                   "sequence", "zero_rows", "zero_smallest_bytes", "note"});
  Constraints::Pin pin{read_ops(view.at("group")), read_mode(view.at("mode")), {}};
  const JsonView devices = view.at("devices");
  for (const auto& [name, weight] : devices.members())
    pin.devices.emplace_back(name, static_cast<std::int32_t>(weight.integer(1, kMostPinnedWeight)));
  if (pin.devices.empty())
    devices.fail("is empty", "name a device with its weight: {\"v100:0\": 1}");
  pin.roles = read_roles(view);
  return pin;
}

Constraints::Forbid read_forbid(const JsonView& view) {
  view.allow_only({"group", "devices", "modes", "roles", "note"});
  Constraints::Forbid forbid{read_ops(view.at("group")), {}, {}, {}};
  if (const auto devices = view.find("devices")) forbid.devices = read_names(*devices, "a device");
  if (const auto modes = view.find("modes"))
    for (const JsonView& mode : modes->items()) forbid.modes.push_back(read_mode(mode));
  if (const auto roles = view.find("roles"))
    for (const JsonView& role : roles->items()) forbid.roles.push_back(read_role(role));
  if (forbid.devices.empty() && forbid.modes.empty() && forbid.roles.empty())
    view.fail("forbids nothing", "give \"devices\", \"modes\" or \"roles\"");
  return forbid;
}

Constraints::Together read_together(const JsonView& view) {
  view.allow_only({"groups", "note"});
  Constraints::Together together;
  const JsonView groups = view.at("groups");
  for (const JsonView& item : groups.items()) together.of.push_back(read_ops(item));
  const bool one = together.of.size() == 1;
  const bool several_ops = one && (together.of[0].ops.size() > 1 || together.of[0].is_pattern());
  if (together.of.size() < 2 && !several_ops)
    groups.fail("has fewer than two groups", "name those that share a decision");
  return together;
}

Constraints::Limit read_limit(const JsonView& view) {
  view.allow_only({"group", "devices", "note"});
  Constraints::Limit limit;
  if (const auto group = view.find("group")) limit.of = read_ops(*group);
  limit.devices = view.at("devices").integer(1, Constraints::Limit::kMost);
  return limit;
}

template <class List, class Read>
void read_list(const JsonView& root, const char* key, List& list, const Read& read) {
  const auto items = root.find(key);
  if (!items) return;
  for (const JsonView& item : items->items()) list.push_back(read(item));
}

}  // namespace

std::string constraints_json(const Constraints& constraints) {
  Json root = {{"format", kConstraintsFormat}, {"version", kConstraintsVersion}};
  write_list(root, "pin", constraints.pins, pin_json);
  write_list(root, "forbid", constraints.forbidden, forbid_json);
  write_list(root, "together", constraints.together, together_json);
  write_list(root, "max_devices", constraints.limits, limit_json);
  return json_text(root, 2) + "\n";
}

Constraints parse_constraints(std::string_view json, const std::string& file) {
  const JsonView root = JsonView::parse(json, file);
  root.expect_format(kConstraintsFormat, kConstraintsVersion);
  root.allow_only({"format", "version", "pin", "forbid", "together", "max_devices", "note"});
  Constraints constraints;
  read_list(root, "pin", constraints.pins, read_pin);
  read_list(root, "forbid", constraints.forbidden, read_forbid);
  read_list(root, "together", constraints.together, read_together);
  read_list(root, "max_devices", constraints.limits, read_limit);
  return constraints;
}

Constraints read_constraints(const std::filesystem::path& file) {
  return parse_constraints(read_file(file), file.string());
}

}  // namespace strato
