#include "core/store/table/annotation.h"

#include <algorithm>
#include <charconv>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::string_view kKinds[] = {"model", "cluster", "run", "strategy"};
constexpr std::string_view kBetween = " ,;\t\r\n\v\f";

// ASCII only: what differs otherwise is another tag.
std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

void check_tag(std::string_view tag) {
  const bool control = std::ranges::any_of(
      tag, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!control && tag.size() <= kLongestTag) return;
  throw InputError("", "tag", control ? "has a control character" : "is longer than 60 bytes",
                   "a tag is one short word; write a note for more");
}

}  // namespace

std::string_view name_of(StoredKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::optional<StoredKind> stored_kind_from(std::string_view name) {
  const auto found = std::ranges::find(kKinds, name);
  if (found == std::end(kKinds)) return std::nullopt;
  return static_cast<StoredKind>(found - std::begin(kKinds));
}

StoredItem parse_stored_item(std::string_view kind, std::string_view row) {
  const auto known = stored_kind_from(kind);
  StoredItem item{known.value_or(StoredKind::Model), 0};
  const auto [end, error] = std::from_chars(row.data(), row.data() + row.size(), item.row);
  if (known && error == std::errc() && end == row.data() + row.size() && item.row > 0) return item;
  throw InputError("", std::string(kind) + " " + std::string(row), "is nothing in a workspace",
                   "write model, cluster, run or strategy and its number");
}

std::vector<std::string> parse_tags(std::string_view text) {
  std::vector<std::string> tags;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find_first_not_of(kBetween), text.size());
    text.remove_prefix(begin);
    std::string_view word = text.substr(0, text.find_first_of(kBetween));
    text.remove_prefix(word.size());
    word.remove_prefix(std::min(word.find_first_not_of('#'), word.size()));
    if (word.empty()) continue;
    check_tag(word);
    const auto same = [&](const std::string& tag) {
      return lower(tag) == lower(std::string(word));
    };
    if (std::ranges::none_of(tags, same)) tags.emplace_back(word);
  }
  std::ranges::sort(tags, {}, [](const std::string& tag) { return lower(tag); });
  return tags;
}

std::string tags_text(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : " ") + tag;
  return text;
}

}  // namespace strato
