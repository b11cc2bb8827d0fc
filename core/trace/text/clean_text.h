// Inside core/trace only: mends JSON as profilers really write it, piece by piece, so that a
// strict parser takes it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strato::trace {

// Outside texts, NaN and Infinity become null. Inside, control characters become spaces, what is
// not UTF-8 becomes '?', a backslash before no escape (paths of Windows) is doubled, and what is
// longer than kLongestText is left out. A number or word may be kLongestWord long. So a parser
// behind it keeps no more than that.
class CleanText {
 public:
  static constexpr std::size_t kLongestText = std::size_t{1} << 18;
  static constexpr std::size_t kLongestWord = 256;

  void add(std::string_view raw, std::string& clean);
  void finish(std::string& clean);  // after the last of it

  std::size_t mended() const { return mended_; }  // places

 private:
  void outside(char c, std::string& clean);
  void end_word(std::string& clean);
  void inside(char c, std::string& clean);
  void escaped(char c, std::string& clean);
  void add_character(char c, std::string& clean);

  bool in_text_ = false, after_backslash_ = false;
  std::size_t text_size_ = 0;
  std::size_t mended_ = 0;
  std::string word_;       // a number or a word outside texts, so far
  std::string character_;  // of UTF-8, so far
  std::size_t character_size_ = 0;
};

}  // namespace strato::trace
