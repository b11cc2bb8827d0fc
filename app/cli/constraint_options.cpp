#include "app/cli/constraint_options.h"

#include <CLI/CLI.hpp>

#include "core/search/constraints/constraints.h"

namespace strato::cli {

void ConstraintOptions::declare(CLI::App& command) {
  const std::string group =
      "Constraints, kept by every planner (GROUP: an op group, an op, or such "
      "names with a *)";
  const auto add = [&](const char* name, std::vector<std::string>& texts, const char* help) {
    command.add_option(name, texts, help)->group(group)->allow_extra_args(false);
  };
  command.add_option("--constraints", file, "File with constraints (.json)")->group(group);
  add("--pin", pins, "GROUP=MODE:DEVICES, such as fc6=ps:v100x2,1080ti-0: it keeps this decision");
  add("--forbid", forbidden, "GROUP=DEVICES or modes: it is not on them. Without GROUP=: no op is");
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

}  // namespace strato::cli
