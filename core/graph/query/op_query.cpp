#include "core/graph/query/op_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

namespace strato {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kByteUnits[] = {{"", 1},
                               {"B", 1},
                               {"kB", 1e3},
                               {"MB", 1e6},
                               {"GB", 1e9},
                               {"TB", 1e12},
                               {"KiB", 1024},
                               {"MiB", 1048576.},
                               {"GiB", 1073741824.},
                               {"TiB", 1024. * 1073741824.}};
constexpr Unit kTimeUnits[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}};
constexpr Unit kFlopUnits[] = {{"", 1},     {"FLOP", 1},     {"k", 1e3},  {"kFLOP", 1e3},
                               {"M", 1e6},  {"MFLOP", 1e6},  {"G", 1e9},  {"GFLOP", 1e9},
                               {"T", 1e12}, {"TFLOP", 1e12}, {"P", 1e15}, {"PFLOP", 1e15}};

struct Field {
  std::string_view name;
  std::string_view QueriedOp::*text = nullptr;  // of a text, but for the devices
  double QueriedOp::*number = nullptr;          // of a quantity
  std::span<const Unit> units = {};
  std::string_view example = "\"Conv\"";
};

constexpr Field kFields[] = {{"name", &QueriedOp::name},
                             {"type", &QueriedOp::type},
                             {"phase", &QueriedOp::phase},
                             {"family", &QueriedOp::family},
                             {"group", &QueriedOp::group},
                             {"mode", &QueriedOp::mode},
                             {"device"},
                             {"bytes", nullptr, &QueriedOp::bytes, kByteUnits, "4MB"},
                             {"parameters", nullptr, &QueriedOp::parameters, kByteUnits, "4MB"},
                             {"time", nullptr, &QueriedOp::time, kTimeUnits, "1ms"},
                             {"flops", nullptr, &QueriedOp::flops, kFlopUnits, "2G"}};
constexpr Field kAnyField{""};  // name or type
constexpr std::size_t kLongest = 10'000, kDeepest = 100;

struct Operator {
  std::string_view name;
  bool for_texts, inverted, finds;
  bool (*holds)(double, double);  // null: not for quantities
};
constexpr Operator kOperators[] = {
    {"==", true, false, false, [](double a, double b) { return a == b; }},
    {"!=", true, true, false, [](double a, double b) { return a != b; }},
    {"~", true, false, true, nullptr},
    {"!~", true, true, true, nullptr},
    {"<", false, false, false, [](double a, double b) { return a < b; }},
    {"<=", false, false, false, [](double a, double b) { return a <= b; }},
    {">", false, false, false, [](double a, double b) { return a > b; }},
    {">=", false, false, false, [](double a, double b) { return a >= b; }}};
constexpr const Operator& kFinds = kOperators[2];

// Of ASCII letters.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string lowered(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower);
  return result;
}

// Tells whether the pieces of `pattern` between the stars follow each other in `text`; both are
// lower case.
bool finds(std::string_view text, std::string_view pattern) {
  while (!pattern.empty()) {
    const std::size_t star = pattern.find('*');
    const std::string_view piece = pattern.substr(0, star);
    const std::size_t found = text.find(piece);
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + piece.size());
    if (star == std::string_view::npos) return true;
    pattern.remove_prefix(star + 1);
  }
  return true;
}

struct Comparison {
  const Field* field = &kAnyField;
  const Operator* how = &kFinds;
  std::string text;    // without quotes
  std::string wanted;  // lowered, of texts
  double number = 0;

  bool holds_for(std::string_view value) const {
    return how->finds ? finds(lowered(value), wanted) : equal_without_case(value, text);
  }

  bool operator()(const QueriedOp& facts) const {
    if (field == &kAnyField) return holds_for(facts.name) || holds_for(facts.type);
    if (field->number) return how->holds(facts.*(field->number), number);
    if (field->text) return holds_for(facts.*(field->text)) != how->inverted;
    // Any of the devices; inverted: none of them.
    const auto holds = [this](std::string_view device) { return holds_for(device); };
    return std::ranges::any_of(facts.devices, holds) != how->inverted;
  }
};

// ---- the words of a query

enum class Word { And, Or, Not, Open, Close, Operator, Text, Quoted, End };

struct Token {
  Word kind = Word::End;
  std::string text;                // without quotes and escapes
  std::size_t at = 0, length = 0;  // in the query's bytes
};

constexpr std::pair<std::string_view, Word> kSymbols[] = {  // longer ones first
    {"(", Word::Open},      {")", Word::Close},     {"&&", Word::And},      {"||", Word::Or},
    {"==", Word::Operator}, {"!=", Word::Operator}, {"!~", Word::Operator}, {"<=", Word::Operator},
    {">=", Word::Operator}, {"~", Word::Operator},  {"<", Word::Operator},  {">", Word::Operator},
    {"=", Word::Operator},  {"!", Word::Not}};
constexpr std::pair<std::string_view, Word> kWords[] = {
    {"and", Word::And}, {"or", Word::Or}, {"not", Word::Not}};

constexpr std::string_view kBlanks = " \t\r\n";
// Names of ops and devices hold nearly everything; only what the language itself uses ends a word.
constexpr std::string_view kEnds = " \t\r\n()!=<>~\"'&|";

Token quoted(std::string_view text, std::size_t at) {
  Token token{Word::Quoted, {}, at, 0};
  std::size_t end = at + 1;
  for (; end < text.size() && text[end] != text[at]; ++end) {
    if (text[end] == '\\' && end + 1 < text.size()) ++end;
    token.text += text[end];
  }
  if (end >= text.size())
    throw QueryError(at, text.size() - at, "a text without its end",
                     fmt::format("close it with {}", text[at]));
  token.length = end + 1 - at;
  return token;
}

Token token_at(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '"' || c == '\'') return quoted(text, at);
  for (const auto& [symbol, kind] : kSymbols)
    if (text.substr(at).starts_with(symbol)) return {kind, std::string(symbol), at, symbol.size()};
  if (c == '&' || c == '|')
    throw QueryError(at, 1, fmt::format("a single '{}'", c),
                     fmt::format("write '{}{}' or put it into quotes", c, c));
  const std::string_view word = text.substr(at, text.find_first_of(kEnds, at) - at);
  Word kind = Word::Text;
  for (const auto& [name, meaning] : kWords)
    if (equal_without_case(word, name)) kind = meaning;
  return {kind, std::string(word), at, word.size()};
}

// Ends with an End token.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; (at = text.find_first_not_of(kBlanks, at)) != text.npos;) {
    tokens.push_back(token_at(text, at));
    at += tokens.back().length;
  }
  tokens.push_back({Word::End, {}, text.size(), 0});
  return tokens;
}

// ---- the parser

class Parser {
 public:
  // The names of the fields that comparisons name are added to `fields`.
  Parser(std::string_view text, std::vector<std::string_view>& fields)
      : tokens_(tokens_of(text)), fields_(fields) {}

  OpCondition parse() {
    OpCondition root = any_of();
    if (now().kind == Word::Close) fail("')' without its '('", "remove it");
    if (now().kind != Word::End)
      fail(told(), "\"and\" or \"or\" is expected between two conditions");
    return root;
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  const Token& take() { return tokens_[at_++]; }
  std::string told() const {
    return now().kind == Word::End ? "the query ends here" : fmt::format("'{}'", now().text);
  }
  [[noreturn]] void fail(std::string problem, std::string remedy) const {
    throw QueryError(now().at, now().length, std::move(problem), std::move(remedy));
  }

  OpCondition any_of() {
    return chain(Word::Or, [this] { return all_of(); });
  }
  OpCondition all_of() {
    return chain(Word::And, [this] { return factor(); });
  }

  template <class Part>
  OpCondition chain(Word word, Part part) {
    std::vector<OpCondition> parts;
    parts.push_back(part());
    for (; now().kind == word; parts.push_back(part())) ++at_;
    if (parts.size() == 1) return std::move(parts[0]);
    return [parts = std::move(parts), word](const QueriedOp& facts) {
      const auto holds = [&](const OpCondition& condition) { return condition(facts); };
      return word == Word::Or ? std::ranges::any_of(parts, holds)
                              : std::ranges::all_of(parts, holds);
    };
  }

  OpCondition factor() {
    if (++depth_ > kDeepest) fail(fmt::format("more than {} levels", kDeepest), "make it simpler");
    OpCondition condition;
    if (now().kind == Word::Not) {
      ++at_;
      condition = std::not_fn(factor());
    } else if (now().kind == Word::Open) {
      condition = in_parentheses();
    } else {
      condition = comparison();
    }
    --depth_;
    return condition;
  }

  OpCondition in_parentheses() {
    const Token open = take();
    OpCondition condition = any_of();
    if (now().kind == Word::End)
      throw QueryError(open.at, open.length, "'(' without its ')'", "close it");
    if (now().kind != Word::Close) fail(told(), "\"and\", \"or\" or ')' is expected");
    ++at_;
    return condition;
  }

  bool at_text() const { return now().kind == Word::Text || now().kind == Word::Quoted; }

  Comparison comparison() {
    if (!at_text())
      fail(told(), "a condition is expected, such as type == \"Conv\" or bytes > 4MB");
    const Token first = take();
    Comparison result;
    if (now().kind != Word::Operator) {
      result.text = first.text;
      result.wanted = lowered(first.text);
      return result;
    }
    result.field = field_of(first);
    fields_.push_back(result.field->name);
    result.how = operator_of(*result.field);
    if (!at_text())
      fail(told(), fmt::format("a value is expected, such as {}", result.field->example));
    read_value(result);
    return result;
  }

  static const Field* field_of(const Token& token) {
    const auto found = std::ranges::find_if(
        kFields, [&](const Field& f) { return equal_without_case(f.name, token.text); });
    if (found != std::end(kFields) && token.kind == Word::Text) return found;
    std::vector<std::string_view> names;
    for (const Field& field : kFields) names.push_back(field.name);
    throw QueryError(token.at, token.length, fmt::format("'{}' is no field", token.text),
                     fmt::format("use one of {}", fmt::join(names, ", ")));
  }

  const Operator* operator_of(const Field& field) {
    const std::string_view text = now().text == "=" ? "==" : std::string_view(now().text);
    const Operator* how = std::ranges::find(kOperators, text, &Operator::name);
    if (field.number ? how->holds == nullptr : !how->for_texts)
      fail(fmt::format("{} cannot be compared with {}", field.name, now().text),
           field.number ? "use == != < <= > or >=" : "use == != ~ or !~");
    ++at_;
    return how;
  }

  void read_value(Comparison& result) {
    result.text = now().text;
    if (!result.field->number) {
      result.wanted = lowered(result.text);
      ++at_;
      return;
    }
    auto unit = number_of(result.text, result.number);
    if (!unit)
      fail(fmt::format("'{}' is not a number", now().text),
           fmt::format("write one, such as {}", result.field->example));
    ++at_;
    // "4 MB": the unit may stand apart, when no operator makes it a field.
    if (unit->empty() && now().kind == Word::Text && tokens_[at_ + 1].kind != Word::Operator) {
      unit = take().text;
      result.text += *unit;
    }
    result.number *= factor_of(*result.field, *unit);
  }

  // Reads a number and returns the text that follows it; nothing when there is no number.
  static std::optional<std::string> number_of(const std::string& text, double& value) {
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
    return std::string(read.ptr, end);
  }

  double factor_of(const Field& field, const std::string& unit) const {
    std::vector<std::string_view> names;
    for (const Unit& known : field.units) {
      if (equal_without_case(known.name, unit)) return known.factor;
      if (!known.name.empty()) names.push_back(known.name);
    }
    const Token& token = tokens_[at_ - 1];
    throw QueryError(token.at, token.length,
                     unit.empty() ? fmt::format("{} needs a unit", field.name)
                                  : fmt::format("'{}' is no unit of {}", unit, field.name),
                     fmt::format("use one of {}", fmt::join(names, " ")));
  }

  std::vector<Token> tokens_;
  std::vector<std::string_view>& fields_;
  std::size_t at_ = 0, depth_ = 0;
};

}  // namespace

QueryError::QueryError(std::size_t at, std::size_t length, std::string problem, std::string remedy)
    : InputError("", fmt::format("column {}", at + 1), std::move(problem), std::move(remedy)),
      at_(at),
      length_(std::max<std::size_t>(1, length)) {}

OpQuery OpQuery::parse(std::string_view text) {
  OpQuery query;
  if (text.find_first_not_of(kBlanks) == std::string_view::npos) return query;
  if (text.size() > kLongest)
    throw QueryError(kLongest, 1, fmt::format("more than {} bytes", kLongest), "make it shorter");
  query.condition_ = Parser(text, query.fields_).parse();
  return query;
}

}  // namespace strato
