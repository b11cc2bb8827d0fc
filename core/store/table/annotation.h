// People annotate the values of a workspace with tags, by which they find them again, and with a
// note.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strato {

enum class StoredKind : std::uint8_t { Model, Cluster, Run, Strategy };  // stored: order is fixed
std::string_view name_of(StoredKind kind);                               // "model", ...
std::optional<StoredKind> stored_kind_from(std::string_view name);

struct StoredItem {  // a row of a workspace
  StoredKind kind = StoredKind::Model;
  std::int64_t row = 0;
  friend auto operator<=>(const StoredItem&, const StoredItem&) = default;
};
// "run 3". Throws InputError for anything but the kind and number of a row.
StoredItem parse_stored_item(std::string_view kind, std::string_view row);

struct Annotation {
  std::vector<std::string> tags;  // sorted, each once, whatever its case
  std::string note;
  bool empty() const { return tags.empty() && note.empty(); }
  friend bool operator==(const Annotation&, const Annotation&) = default;
};

inline constexpr std::size_t kLongestTag = 60;  // bytes of UTF-8

// Words between spaces and commas, a "#" before them left out; sorted, each once: the first way of
// writing it stays. Throws InputError for one that is too long, or has what is no text.
std::vector<std::string> parse_tags(std::string_view text);
std::string tags_text(const std::vector<std::string>& tags);  // "baseline slow"

}  // namespace strato
