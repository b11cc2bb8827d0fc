#include "app/cli/constraint_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/cli/output.h"
#include "core/search/constraints/constraints.h"

namespace strato::cli {

void ConstraintOptions::declare(CLI::App& command, std::string_view who) {
  const std::string group =
      fmt::format("Constraints, {} (GROUP: an op group, an op, or such names with a *)", who);
  const auto add = [&](const char* name, std::vector<std::string>& texts, const char* help) {
    command.add_option(name, texts, help)->group(group)->allow_extra_args(false);
  };
  command.add_option("--constraints", file, "File with constraints (.json)")->group(group);
  add("--pin", pins, "GROUP=MODE:DEVICES, such as fc6=ps:v100x2,1080ti-0: it keeps this decision");
  add("--forbid", forbidden,
      "GROUP=DEVICES, modes or roles (pipeline, tensor, recompute, sharding, expert, context, "
      "offload): it is "
      "without them. "
      "Without GROUP=: every op is");
  add("--together", together, "GROUP,GROUP,...: they share one decision");
  add("--max-devices", limits, "N, or GROUP=N: at most N devices for all, or for the group");
}

std::shared_ptr<const Constraints> ConstraintOptions::read() const {
  Constraints constraints;
  if (!file.empty()) constraints = read_constraints(file);
  for (const std::string& text : pins) constraints.pins.push_back(parse_pin(text));
  for (const std::string& text : forbidden) constraints.forbidden.push_back(parse_forbid(text));
  for (const std::string& text : together) constraints.together.push_back(parse_together(text));
  for (const std::string& text : limits) constraints.limits.push_back(parse_limit(text));
  if (constraints.empty()) return nullptr;
  return std::make_shared<const Constraints>(std::move(constraints));
}

void remark_on_names(const Constraints& constraints, const Cluster& cluster) {
  for (const Constraints::Forbid& forbid : constraints.forbidden)
    for (const Role role : forbid.roles)
      if (!cluster.devices_named(name_of(role)).empty())
        remark(
            fmt::format("\"{}\" is forbidden as a role; {} has devices of this name, too, which "
                        "\"devices\" in a --constraints file forbids",
                        name_of(role), cluster.name()));
}

}  // namespace strato::cli
