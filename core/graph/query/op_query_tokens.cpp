#include "core/graph/query/op_query_tokens.h"

#include <algorithm>

namespace strato {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kOperators[] = {"==", "!=", "!~", "<=", ">=", "~", "<", ">", "="};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

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

  bool take(std::string_view word, QueryWord kind) {
    if (!text_.substr(at_).starts_with(word)) return false;
    add(kind, std::string(word), at_, word.size());
    return true;
  }

  void next() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return quoted(c);
    if (take("(", QueryWord::Open) || take(")", QueryWord::Close)) return;
    if (take("&&", QueryWord::And) || take("||", QueryWord::Or)) return;
    for (const std::string_view op : kOperators) {
      if (take(op, QueryWord::Operator)) return;
    }
    if (take("!", QueryWord::Not)) return;
    if (c == '&' || c == '|') {
      throw QueryError(at_, 1, std::string("a single '") + c + "'",
                       std::string("write '") + c + c + "' or put it into quotes");
    }
    word();
  }

  void word() {
    std::size_t end = at_;
    while (end < text_.size() && !ends_word(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    const QueryWord kind = equal_without_case(word, "and")   ? QueryWord::And
                           : equal_without_case(word, "or")  ? QueryWord::Or
                           : equal_without_case(word, "not") ? QueryWord::Not
                                                             : QueryWord::Text;
    add(kind, std::string(word), at_, word.size());
  }

  void quoted(char quote) {
    std::string value;
    std::size_t end = at_ + 1;
    for (; end < text_.size() && text_[end] != quote; ++end) {
      if (text_[end] == '\\' && end + 1 < text_.size()) ++end;
      value += text_[end];
    }
    if (end >= text_.size()) {
      throw QueryError(at_, text_.size() - at_, "a text without its end",
                       std::string("close it with ") + quote);
    }
    add(QueryWord::Quoted, std::move(value), at_, end + 1 - at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<QueryToken> tokens_;
};

}  // namespace

std::vector<QueryToken> query_tokens(std::string_view text) { return Tokens(text).read(); }

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace strato
