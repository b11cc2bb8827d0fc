#include "core/search/constraints/constraints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/number_from.h"

namespace strato {
namespace {

std::string quoted(const ConstrainedOps& of) {
  if (of.ops.empty() && of.name == "*") return "every op";
  return fmt::format("\"{}\"", of.name);
}

std::string describe(const Constraints::Pin& pin) {
  std::vector<std::string> devices;
  for (const auto& [name, weight] : pin.devices)
    devices.push_back(weight == 1 ? name : fmt::format("{} x{}", name, weight));
  return fmt::format("{} keeps {}{} on {}", quoted(pin.of), label_of(pin.mode), describe(pin.roles),
                     fmt::join(devices, ", "));
}

std::string describe(const Constraints::Forbid& forbid) {
  std::vector<std::string> words;
  if (!forbid.devices.empty())
    words.push_back(fmt::format("is not on {}", fmt::join(forbid.devices, ", ")));
  std::vector<std::string_view> modes;
  for (const Mode mode : forbid.modes) modes.push_back(label_of(mode));
  if (!modes.empty()) words.push_back(fmt::format("is not {}", fmt::join(modes, " or ")));
  std::vector<std::string_view> roles;
  for (const Role role : forbid.roles) roles.push_back(label_of(role));
  if (!roles.empty()) words.push_back(fmt::format("is without {}", fmt::join(roles, " and ")));
  return fmt::format("{} {}", quoted(forbid.of), fmt::join(words, " and "));
}

std::string describe(const Constraints::Together& together) {
  std::vector<std::string> names;
  for (const ConstrainedOps& of : together.of) names.push_back(quoted(of));
  return fmt::format("{} are decided alike", fmt::join(names, " and "));
}

std::string describe(const Constraints::Limit& limit) {
  return fmt::format("{} uses at most {} device{}", quoted(limit.of), limit.devices,
                     limit.devices == 1 ? "" : "s");
}

// Refuses the text that a person wrote for an option.
[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string problem,
                         std::string remedy) {
  throw InputError("", fmt::format("{} {}", option, text), std::move(problem), std::move(remedy));
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::optional<Mode> mode_of(std::string_view word) {
  if (word == "allreduce") return Mode::ReplicateAllReduce;
  if (word == "ps") return Mode::ReplicatePs;
  return mode_from(word);
}

struct Sides {
  std::string_view left, right;
};
// Names of ops may have an "=" in them, what is on the right has none.
std::optional<Sides> divided(std::string_view text) {
  const std::size_t at = text.rfind('=');
  if (at == std::string_view::npos) return std::nullopt;
  return Sides{trimmed(text.substr(0, at)), trimmed(text.substr(at + 1))};
}

}  // namespace

std::string_view label_of(Role role) {
  switch (role) {
    case Role::Pipeline:
      return "pipelining";
    case Role::Tensor:
      return "tensor parallelism";
    case Role::Recompute:
      return "recomputation";
    case Role::Sharding:
      return "sharding";
    case Role::Expert:
      return "expert parallelism";
    case Role::Context:
      return "context parallelism";
    case Role::Offload:
      return "offload to host memory";
  }
  return "";
}

std::optional<Role> role_from(std::string_view name) {
  const auto found = std::ranges::find(kRoles, name);
  if (found == kRoles.end()) return std::nullopt;
  return static_cast<Role>(found - kRoles.begin());
}

bool forbids_everywhere(const Constraints& constraints, Role role) {
  return std::ranges::any_of(constraints.forbidden, [&](const Constraints::Forbid& forbid) {
    return forbid.of == ConstrainedOps{"*", {}} &&
           std::ranges::find(forbid.roles, role) != forbid.roles.end();
  });
}

void Constraints::append(const Constraints& more) {
  pins.insert(pins.end(), more.pins.begin(), more.pins.end());
  forbidden.insert(forbidden.end(), more.forbidden.begin(), more.forbidden.end());
  together.insert(together.end(), more.together.begin(), more.together.end());
  limits.insert(limits.end(), more.limits.begin(), more.limits.end());
}

std::vector<std::string> describe(const Constraints& constraints) {
  std::vector<std::string> lines;
  const auto add = [&](const auto& list) {
    for (const auto& one : list) lines.push_back(describe(one));
  };
  add(constraints.pins);
  add(constraints.forbidden);
  add(constraints.together);
  add(constraints.limits);
  return lines;
}

Constraints::Pin parse_pin(std::string_view text) {
  const char* remedy =
      "write GROUP=MODE:DEVICES, such as fc6=allreduce:v100:0,v100:1 (modes: allreduce, ps, "
      "duplicate, model-parallel, tensor:4, expert:8, zero:3)";
  const auto sides = divided(text);
  if (!sides || sides->left.empty()) refuse("--pin", text, "names no group and decision", remedy);
  Constraints::Pin pin{{std::string(sides->left), {}}, Mode::ReplicateAllReduce, {}};
  std::string_view devices = sides->right;
  if (const auto roles = take_roles(devices, fmt::format("--pin {}", text.substr(0, 64)))) {
    pin.roles = *roles;
    if (devices.empty()) devices = "all";
  } else {
    const std::size_t colon = sides->right.find(':');
    const std::string_view word = sides->right.substr(0, colon);
    const auto mode = mode_of(word);
    if (!mode)
      refuse("--pin", text, fmt::format("there is no mode \"{}\"", word.substr(0, 64)), remedy);
    if (colon == std::string_view::npos) refuse("--pin", text, "names no device", remedy);
    pin.mode = *mode;
    devices = sides->right.substr(colon + 1);
  }
  for (std::string& name : parts_of(devices)) {
    if (name.empty()) refuse("--pin", text, "names no device", remedy);
    pin.devices.emplace_back(std::move(name), 1);
  }
  return pin;
}

Constraints::Forbid parse_forbid(std::string_view text) {
  const char* remedy = "write GROUP=DEVICES (or modes, or roles), or these alone for every group";
  const auto sides = divided(text);
  Constraints::Forbid forbid;
  forbid.of.name = sides ? std::string(sides->left) : "*";
  if (forbid.of.name.empty()) refuse("--forbid", text, "names no group", remedy);
  for (std::string& word : parts_of(sides ? sides->right : trimmed(text))) {
    if (word.empty()) refuse("--forbid", text, "names no device, mode or role", remedy);
    if (const auto mode = mode_of(word)) {
      forbid.modes.push_back(*mode);
    } else if (const auto role = role_from(word)) {
      forbid.roles.push_back(*role);
    } else {
      forbid.devices.push_back(std::move(word));
    }
  }
  return forbid;
}

Constraints::Together parse_together(std::string_view text) {
  Constraints::Together together;
  for (std::string& name : parts_of(text)) {
    if (!name.empty()) together.of.push_back({std::move(name), {}});
  }
  const bool pattern = together.of.size() == 1 && together.of[0].is_pattern();
  if (together.of.size() < 2 && !pattern)
    refuse("--together", text, "names fewer than two groups",
           "write their names with commas between, or one pattern with a *");
  return together;
}

Constraints::Limit parse_limit(std::string_view text) {
  const auto sides = divided(text);
  const std::string_view digits = sides ? sides->right : trimmed(text);
  Constraints::Limit limit;
  const auto devices = number_from(digits, std::int64_t{1}, Constraints::Limit::kMost);
  if (!devices || (sides && sides->left.empty()))
    refuse("--max-devices", text, "is no number of devices",
           "write a whole number from 1, or GROUP=NUMBER");
  limit.devices = *devices;
  if (sides) limit.of.name = std::string(sides->left);
  return limit;
}

}  // namespace strato
