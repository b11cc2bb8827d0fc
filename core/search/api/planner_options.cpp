#include "core/search/api/planner_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/search/api/option_table.h"

namespace strato {

std::string PlannerOptions::text(std::string_view key, std::string_view fallback) const {
  const auto found = set.find(std::string(key));
  return found == set.end() ? std::string(fallback) : found->second;
}

std::string PlannerOptions::choice(std::string_view key, std::string_view fallback,
                                   std::initializer_list<std::string_view> allowed) const {
  const std::string value = text(key, fallback);
  if (std::ranges::find(allowed, value) == allowed.end())
    refuse_option(key, value, "'" + value + "' is not a choice",
                  fmt::format("give one of: {}", fmt::join(allowed, ", ")));
  return value;
}

double PlannerOptions::number(std::string_view key, double fallback) const {
  OptionTable{Option(std::string(key), fallback, OptionRange(), "")}.read(set);
  return fallback;
}

std::int64_t PlannerOptions::integer(std::string_view key, std::int64_t fallback) const {
  OptionTable{Option(std::string(key), fallback, OptionRange(), "")}.read(set);
  return fallback;
}

bool PlannerOptions::boolean(std::string_view key, bool fallback) const {
  OptionTable{Option(std::string(key), fallback, "")}.read(set);
  return fallback;
}

}  // namespace strato
