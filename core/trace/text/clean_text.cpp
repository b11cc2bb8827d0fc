#include "core/trace/text/clean_text.h"

#include <array>
#include <cctype>

#include "core/base/utf8.h"

namespace strato::trace {
namespace {

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.';
}

// Python's and C's ways to write what JSON has no number for.
bool is_no_number(std::string_view word) {
  if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.remove_prefix(1);
  constexpr std::array<std::string_view, 6> words = {"NaN", "nan", "Infinity",
                                                     "inf", "Inf", "nan(ind)"};
  for (const std::string_view each : words)
    if (word == each) return true;
  return false;
}

std::size_t size_by_first_byte(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC2 || byte > 0xF4 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

void CleanText::add(std::string_view raw, std::string& clean) {
  for (const char c : raw) {
    if (in_text_)
      inside(c, clean);
    else
      outside(c, clean);
  }
}

void CleanText::finish(std::string& clean) {
  if (!in_text_) end_word(clean);
}

void CleanText::outside(char c, std::string& clean) {
  if (is_of_word(c)) {
    if (word_.size() < kLongestWord) word_ += c;
    return;
  }
  end_word(clean);
  clean += c;
  in_text_ = c == '"';
  text_size_ = 0;
}

void CleanText::end_word(std::string& clean) {
  if (word_.empty()) return;
  const bool wrong = is_no_number(word_);
  mended_ += wrong ? 1 : 0;
  clean += wrong ? "null" : word_;
  word_.clear();
}

void CleanText::inside(char c, std::string& clean) {
  if (after_backslash_) return escaped(c, clean);
  if (!character_.empty() || (static_cast<unsigned char>(c) & 0x80U) != 0)
    return add_character(c, clean);
  if (c == '"') {
    in_text_ = false;
    clean += c;
    return;
  }
  if (++text_size_ > kLongestText) {
    mended_ += text_size_ == kLongestText + 1 ? 1 : 0;
    after_backslash_ = c == '\\';
    return;
  }
  if (c == '\\') {
    after_backslash_ = true;
  } else if (static_cast<unsigned char>(c) < 0x20) {
    ++mended_;
    clean += ' ';
  } else {
    clean += c;
  }
}

void CleanText::escaped(char c, std::string& clean) {
  after_backslash_ = false;
  if (text_size_ > kLongestText) return;
  constexpr std::string_view escapes = "\"\\/bfnrtu";
  clean += '\\';
  if (escapes.find(c) != std::string_view::npos) {
    clean += c;
    return;
  }
  ++mended_;
  clean += '\\';
  inside(c, clean);
}

void CleanText::add_character(char c, std::string& clean) {
  if (character_.empty()) character_size_ = size_by_first_byte(c);
  const bool goes_on = character_.empty() || (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
  if (goes_on) character_ += c;
  if (goes_on && character_.size() < character_size_) return;
  const bool whole = goes_on && character_size(character_) == character_.size();
  mended_ += whole ? 0 : 1;
  text_size_ += character_.size();
  if (text_size_ <= kLongestText) clean += whole ? character_ : "?";
  character_.clear();
  if (!goes_on) inside(c, clean);
}

}  // namespace strato::trace
