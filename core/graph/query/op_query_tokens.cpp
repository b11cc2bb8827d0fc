#include "core/graph/query/op_query_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace strato {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::pair<std::string_view, QueryWord> kSymbols[] = {  // longer ones first
    {"(", QueryWord::Open},      {")", QueryWord::Close},     {"&&", QueryWord::And},
    {"||", QueryWord::Or},       {"==", QueryWord::Operator}, {"!=", QueryWord::Operator},
    {"!~", QueryWord::Operator}, {"<=", QueryWord::Operator}, {">=", QueryWord::Operator},
    {"~", QueryWord::Operator},  {"<", QueryWord::Operator},  {">", QueryWord::Operator},
    {"=", QueryWord::Operator},  {"!", QueryWord::Not}};
constexpr std::pair<std::string_view, QueryWord> kWords[] = {
    {"and", QueryWord::And}, {"or", QueryWord::Or}, {"not", QueryWord::Not}};

// Names of ops and devices hold nearly everything; only what the language itself uses ends a word.
bool is_blank(char c) { return kBlanks.find(c) != kBlanks.npos; }
bool ends_word(char c) {
  return is_blank(c) || std::string_view("()!=<>~\"'&|").find(c) != std::string_view::npos;
}

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  std::vector<QueryToken> read() {
    while (true) {
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      if (at_ == text_.size()) break;
      next();
    }
    add(QueryWord::End, {}, text_.size(), 0);
    return std::move(tokens_);
  }

 private:
  void add(QueryWord kind, std::string text, std::size_t at, std::size_t length) {
    tokens_.push_back({kind, std::move(text), at, length});
    at_ = at + length;
  }

  void next() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return quoted(c);
    for (const auto& [symbol, kind] : kSymbols)
      if (text_.substr(at_).starts_with(symbol))
        return add(kind, std::string(symbol), at_, symbol.size());
    if (c == '&' || c == '|')
      throw QueryError(at_, 1, fmt::format("a single '{}'", c),
                       fmt::format("write '{}{}' or put it into quotes", c, c));
    word();
  }

  void word() {
    const auto end =
        std::find_if(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.end(), ends_word);
    const std::string_view word =
        text_.substr(at_, static_cast<std::size_t>(end - text_.begin()) - at_);
    QueryWord kind = QueryWord::Text;
    for (const auto& [name, meaning] : kWords)
      if (equal_without_case(word, name)) kind = meaning;
    add(kind, std::string(word), at_, word.size());
  }

  void quoted(char quote) {
    std::string value;
    std::size_t end = at_ + 1;
    for (; end < text_.size() && text_[end] != quote; ++end) {
      if (text_[end] == '\\' && end + 1 < text_.size()) ++end;
      value += text_[end];
    }
    if (end >= text_.size())
      throw QueryError(at_, text_.size() - at_, "a text without its end",
                       fmt::format("close it with {}", quote));
    add(QueryWord::Quoted, std::move(value), at_, end + 1 - at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<QueryToken> tokens_;
};

}  // namespace

std::vector<QueryToken> query_tokens(std::string_view text) { return Tokens(text).read(); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace strato
