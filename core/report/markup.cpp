#include "core/report/markup.h"

#include <algorithm>
#include <cstdint>

#include "core/report/page_style.h"

namespace strato::html {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the UTF-8 character that begins here; 0: there is none.
std::size_t character_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  const bool control = code < 0xA0 || code == 0xFFFE || code == 0xFFFF;
  return overlong || surrogate || control || code > 0x10FFFF ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_at(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    if (length == 0) {
      result += kReplacement;
    } else if (character == "<") {
      result += "&lt;";
    } else if (character == ">") {
      result += "&gt;";
    } else if (character == "&") {
      result += "&amp;";
    } else if (character == "\"") {
      result += "&quot;";
    } else if (character == "'") {
      result += "&#39;";
    } else {
      result += character;
    }
    text.remove_prefix(character.size());
  }
  return result;
}

std::string shortened(std::string_view text, std::size_t most) {
  std::size_t end = 0, last = 0;
  for (std::size_t count = 0; end < text.size(); ++count) {
    if (count == most) return std::string(text.substr(0, last)) + "…";
    if (count + 1 == most) last = end;
    end += std::max<std::size_t>(1, character_at(text.substr(end)));
  }
  return std::string(text);
}

std::string page_begin(std::string_view title) {
  const std::string safe = escaped(title);
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
         safe + "</title>\n<style>" + kStyle + "</style></head><body>\n<h1>" + safe + "</h1>\n";
}

std::string page_end() { return "</body></html>\n"; }

std::string section(std::string_view title, const std::string& content) {
  return "<h2>" + escaped(title) + "</h2>\n" + content;
}

std::string cell(std::string_view text) { return "<td>" + escaped(text) + "</td>"; }
std::string figure(std::string_view text) {
  return "<td class=\"figure\">" + escaped(text) + "</td>";
}

Table::Table(const std::vector<std::string>& headings) {
  text_ = "<div class=\"wide\"><table>\n<tr>";
  for (const std::string& heading : headings) text_ += "<th>" + escaped(heading) + "</th>";
  text_ += "</tr>\n";
}

}  // namespace strato::html
