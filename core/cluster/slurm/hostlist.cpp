#include "core/cluster/slurm/hostlist.h"

#include <fmt/format.h>

#include <cstdint>

#include "core/base/number_from.h"

namespace strato {
namespace {

struct Range {
  std::int64_t first, last;
  std::size_t width;  // of the first number as written: shorter ones get zeros
};

// "r", its ranges, "n", its ranges, "": texts has one more.
struct Pattern {
  std::vector<std::string_view> texts;
  std::vector<std::vector<Range>> brackets;
};

// At commas that are in no brackets, or anywhere in what has none.
std::optional<std::vector<std::string_view>> split_list(std::string_view list) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if ((c == '[' && inside) || (c == ']' && !inside)) return std::nullopt;
    if (c == '[' || c == ']') inside = c == '[';
    if (c != ',' || (inside && i < list.size())) continue;
    parts.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  return inside ? std::nullopt : std::optional(parts);
}

std::optional<Range> range_from(std::string_view text) {
  constexpr std::int64_t kMost = 999'999'999'999;
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const auto first = number_from<std::int64_t>(low, 0, kMost);
  const auto last = dash == std::string_view::npos
                        ? first
                        : number_from<std::int64_t>(text.substr(dash + 1), 0, kMost);
  if (!first || !last || *last < *first || low.size() > 12) return std::nullopt;
  return Range{*first, *last, low.size()};
}

std::optional<Pattern> pattern_from(std::string_view text) {
  Pattern pattern;
  for (;;) {
    const std::size_t open = text.find('[');
    pattern.texts.push_back(text.substr(0, open));
    if (open == std::string_view::npos) return pattern;
    const std::size_t close = text.find(']', open);  // split_list() has seen that there is one
    auto& ranges = pattern.brackets.emplace_back();
    std::string_view inner = text.substr(open + 1, close - open - 1);
    for (bool more = true; more;) {
      const std::size_t comma = inner.find(',');
      const auto range = range_from(inner.substr(0, comma));
      if (!range) return std::nullopt;
      ranges.push_back(*range);
      more = comma != std::string_view::npos;
      if (more) inner.remove_prefix(comma + 1);
    }
    text.remove_prefix(close + 1);
  }
}

// Of the names, `most` + 1 where there are more.
std::size_t count_of(const Pattern& pattern, std::size_t most) {
  std::size_t count = 1;
  for (const auto& ranges : pattern.brackets) {
    std::size_t numbers = 0;
    for (const Range& range : ranges)
      numbers =
          std::min(most + 1, numbers + static_cast<std::size_t>(range.last - range.first) + 1);
    count = std::min(most + 1, count * numbers);
  }
  return count;
}

void add_names(const Pattern& pattern, std::size_t bracket, const std::string& before,
               std::vector<std::string>& names) {
  const std::string begun = before + std::string(pattern.texts[bracket]);
  if (bracket == pattern.brackets.size()) {
    names.push_back(begun);
    return;
  }
  for (const Range& range : pattern.brackets[bracket])
    for (std::int64_t number = range.first; number <= range.last; ++number)
      add_names(pattern, bracket + 1, begun + fmt::format("{:0{}}", number, range.width), names);
}

}  // namespace

std::optional<std::vector<std::string>> hosts_in(std::string_view list, std::size_t most) {
  const auto parts = split_list(list);
  if (!parts) return std::nullopt;
  std::vector<std::string> names;
  for (const std::string_view part : *parts) {
    if (part.empty()) continue;
    const auto pattern = pattern_from(part);
    if (!pattern || pattern->brackets.size() > 8) return std::nullopt;
    if (names.size() + count_of(*pattern, most) > most) return std::nullopt;
    add_names(*pattern, 0, {}, names);
  }
  return names;
}

}  // namespace strato
