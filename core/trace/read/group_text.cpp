#include "core/trace/read/group_text.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/io/json.h"

namespace strato::trace {
namespace {

constexpr std::int64_t kMostRanks = 1 << 20;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::int64_t integer_or(const JsonView& of, std::string_view key, std::int64_t otherwise) {
  const auto value = of.find(key);
  return value && value->json().is_number_integer() ? value->json().get<std::int64_t>() : otherwise;
}

std::string text_or_empty(const JsonView& of, std::string_view key) {
  const auto value = of.find(key);
  return value && value->is_string() ? value->string() : "";
}

Group group_of(const JsonView& json) {
  Group group;
  group.name = text_or_empty(json, "pg_name");
  group.description = text_or_empty(json, "pg_desc");
  group.size = integer_or(json, "pg_size", integer_or(json, "group_size", 0));
  if (const auto ranks = json.find("ranks"); ranks && ranks->is_array())
    group.ranks = ranks_of(json_text(ranks->json()));
  return group;
}

}  // namespace

std::vector<std::int64_t> ranks_of(std::string_view text) {
  std::vector<std::int64_t> ranks;
  text = trimmed(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return {};
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto rank = number_from<std::int64_t>(trimmed(text.substr(0, comma)), 0, kMostRanks);
    if (!rank) return {};
    ranks.push_back(*rank);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return ranks;
}

std::vector<std::int64_t> strided_ranks(std::int64_t start, std::int64_t stride,
                                        std::int64_t size) {
  if (start < 0 || stride < 1 || size < 1 || std::max({start, stride, size}) > kMostRanks)
    return {};
  std::vector<std::int64_t> ranks;
  for (std::int64_t i = 0; i < size; ++i) ranks.push_back(start + i * stride);
  return ranks;
}

std::vector<Group> groups_of_configuration(std::string_view text) {
  std::string json(text);
  if (json.find('"') == std::string::npos) std::ranges::replace(json, '\'', '"');
  std::vector<Group> groups;
  try {
    for (const JsonView& each : JsonView::parse(json, "pg_config").items())
      if (each.is_object()) groups.push_back(group_of(each));
  } catch (const InputError&) {  // shortened, or in another notation: nothing is known
    return {};
  }
  return groups;
}

}  // namespace strato::trace
