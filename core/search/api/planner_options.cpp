#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "core/search/api/planner.h"

namespace strato {
namespace {

[[noreturn]] void bad(std::string_view key, const std::string& value, std::string problem,
                      std::string remedy) {
  throw InputError("", "--set " + std::string(key) + "=" + value, std::move(problem),
                   std::move(remedy));
}

template <class T>
bool parse(const std::string& value, T& result) {
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, result);
  return error == std::errc() && stop == end;
}

}  // namespace

std::string PlannerOptions::text(std::string_view key, std::string_view fallback) const {
  const auto found = set.find(std::string(key));
  return found == set.end() ? std::string(fallback) : found->second;
}

std::string PlannerOptions::choice(std::string_view key, std::string_view fallback,
                                   std::initializer_list<std::string_view> allowed) const {
  const std::string value = text(key, fallback);
  std::string list;
  for (std::string_view one : allowed) {
    if (value == one) return value;
    list += (list.empty() ? "" : ", ") + std::string(one);
  }
  bad(key, value, "'" + value + "' is not a choice", "give one of: " + list);
}

double PlannerOptions::number(std::string_view key, double fallback) const {
  const auto found = set.find(std::string(key));
  if (found == set.end()) return fallback;
  double value = 0;
  if (!parse(found->second, value) || !std::isfinite(value))
    bad(key, found->second, "'" + found->second + "' is not a number", "give a number such as 1.5");
  return value;
}

std::int64_t PlannerOptions::integer(std::string_view key, std::int64_t fallback) const {
  const auto found = set.find(std::string(key));
  if (found == set.end()) return fallback;
  std::int64_t value = 0;
  if (!parse(found->second, value))
    bad(key, found->second, "'" + found->second + "' is not a whole number",
        "give a whole number such as 8");
  return value;
}

bool PlannerOptions::boolean(std::string_view key, bool fallback) const {
  const auto found = set.find(std::string(key));
  if (found == set.end()) return fallback;
  const std::string& value = found->second;
  if (value == "true" || value == "1" || value == "yes" || value == "on") return true;
  if (value == "false" || value == "0" || value == "no" || value == "off") return false;
  bad(key, value, "'" + value + "' is neither true nor false", "give true or false");
}

}  // namespace strato
