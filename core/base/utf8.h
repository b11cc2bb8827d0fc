// Characters of UTF-8, in text that comes from outside and may be anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace strato {

// Returns the bytes of the character that `text` (not empty) begins with; 0: it begins with none,
// but with bytes that are cut short, longer than need be, a surrogate's or beyond Unicode.
inline std::size_t character_size(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if ((size > 1 && first < 0xC2) || first > 0xF4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  const bool too_long = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool beyond = (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
  return too_long || beyond ? 0 : size;
}

// Text that every file, terminal and window can show: bytes that are no UTF-8, and control
// characters, become question marks.
inline std::string shown_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    const bool good = size > 1 || (size == 1 && text[0] >= 0x20 && text[0] != 0x7f);
    result += good ? text.substr(0, size) : "?";
    text.remove_prefix(good ? size : 1);
  }
  return result;
}

}  // namespace strato
