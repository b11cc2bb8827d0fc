#include "core/store/stored.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/error.h"

namespace strato {
namespace {

// By the enumerations' values, as they are stored.
constexpr std::array<std::string_view, 5> kRunStates = {"running", "paused", "finished", "stopped",
                                                        "failed"};
constexpr std::array<std::string_view, 4> kLaunchStates = {"finished", "failed", "cancelled",
                                                           "running"};
constexpr std::array<std::string_view, 4> kKinds = {"model", "cluster", "run", "strategy"};

// A file may hold a state that this program does not know.
template <class State>
std::string_view name_in(std::span<const std::string_view> names, State state) {
  const auto at = static_cast<std::size_t>(state);
  return at < names.size() ? names[at] : "unknown";
}

constexpr std::string_view kBetween = " ,;\t\r\n\v\f";

// ASCII only: what differs otherwise is another tag.
std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

void check_tag(std::string_view tag) {
  const bool control = std::ranges::any_of(
      tag, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!control && tag.size() <= kLongestTag) return;
  throw InputError("", "tag", control ? "has a control character" : "is longer than 60 bytes",
                   "a tag is one short word; write a note for more");
}

}  // namespace

std::string_view name_of(RunState state) { return name_in(kRunStates, state); }
std::string_view name_of(LaunchState state) { return name_in(kLaunchStates, state); }
std::string_view name_of(StoredKind kind) { return name_in(kKinds, kind); }

StoredItem parse_stored_item(std::string_view kind, std::string_view row) {
  const auto known = std::ranges::find(kKinds, kind);
  StoredItem item{static_cast<StoredKind>(known - kKinds.begin()), 0};
  const auto [end, error] = std::from_chars(row.data(), row.data() + row.size(), item.row);
  if (known != kKinds.end() && error == std::errc() && end == row.data() + row.size() &&
      item.row > 0)
    return item;
  throw InputError("", fmt::format("{} {}", kind, row), "is nothing in a workspace",
                   "write model, cluster, run or strategy and its number");
}

std::vector<std::string> parse_tags(std::string_view text) {
  std::vector<std::string> tags;
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    std::string_view word = text.substr(0, text.find_first_of(kBetween));
    text.remove_prefix(word.size());
    word.remove_prefix(std::min(word.find_first_not_of('#'), word.size()));
    if (word.empty()) continue;
    check_tag(word);
    if (std::ranges::find(tags, lower(word), lower) == tags.end()) tags.emplace_back(word);
  }
  std::ranges::sort(tags, {}, lower);
  return tags;
}

std::string tags_text(const std::vector<std::string>& tags) {
  return fmt::format("{}", fmt::join(tags, " "));
}

}  // namespace strato
