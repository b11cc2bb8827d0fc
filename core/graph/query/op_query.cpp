#include "core/graph/query/op_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/graph/query/op_query_tokens.h"

namespace strato {
namespace op_query {  // named: OpQuery::Node, which the header declares, is made of these

enum class FieldKind { Text, Bytes, Time, Flops, Any };  // Any: name or type

struct Field {
  std::string_view name;
  FieldKind kind;
  std::string_view OpFacts::*text = nullptr;
  double OpFacts::*number = nullptr;
};

constexpr Field kFields[] = {{"name", FieldKind::Text, &OpFacts::name},
                             {"type", FieldKind::Text, &OpFacts::type},
                             {"phase", FieldKind::Text, &OpFacts::phase},
                             {"family", FieldKind::Text, &OpFacts::family},
                             {"group", FieldKind::Text, &OpFacts::group},
                             {"mode", FieldKind::Text, &OpFacts::mode},
                             {"device", FieldKind::Text},
                             {"bytes", FieldKind::Bytes, nullptr, &OpFacts::bytes},
                             {"parameters", FieldKind::Bytes, nullptr, &OpFacts::parameters},
                             {"time", FieldKind::Time, nullptr, &OpFacts::time},
                             {"flops", FieldKind::Flops, nullptr, &OpFacts::flops}};
constexpr Field kAnyField{"", FieldKind::Any};
constexpr std::size_t kLongest = 10'000, kDeepest = 100;

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

std::span<const Unit> units_of(FieldKind kind) {
  if (kind == FieldKind::Bytes) return kByteUnits;
  if (kind == FieldKind::Time) return kTimeUnits;
  return kFlopUnits;
}

std::string_view example_of(FieldKind kind) {
  switch (kind) {
    case FieldKind::Bytes:
      return "4MB";
    case FieldKind::Time:
      return "1ms";
    case FieldKind::Flops:
      return "2G";
    default:
      return "\"Conv\"";
  }
}

enum class Compare { Equal, NotEqual, Finds, FindsNot, Less, LessEqual, Greater, GreaterEqual };
constexpr std::string_view kCompareNames[] = {"==", "!=", "~", "!~", "<", "<=", ">", ">="};

bool is_text_compare(Compare how) { return how <= Compare::FindsNot; }
bool is_number_compare(Compare how) { return how != Compare::Finds && how != Compare::FindsNot; }

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
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
  const Field* field = nullptr;
  Compare how = Compare::Equal;
  std::string text;    // as it was written, without quotes
  std::string wanted;  // lowered, of texts
  double number = 0;

  bool holds_for(std::string_view value) const {
    const bool part = how == Compare::Finds || how == Compare::FindsNot;
    return part ? finds(lowered(value), wanted) : equal_without_case(value, text);
  }

  bool matches(const OpFacts& facts) const {
    const bool inverted = how == Compare::NotEqual || how == Compare::FindsNot;
    if (field->kind == FieldKind::Any) return holds_for(facts.name) || holds_for(facts.type);
    if (field->text) return holds_for(facts.*(field->text)) != inverted;
    if (field->kind == FieldKind::Text) {  // any of the devices; inverted: none of them
      return std::ranges::any_of(facts.devices, [&](auto d) { return holds_for(d); }) != inverted;
    }
    const double value = facts.*(field->number);
    switch (how) {
      case Compare::Equal:
        return value == number;
      case Compare::NotEqual:
        return value != number;
      case Compare::Less:
        return value < number;
      case Compare::LessEqual:
        return value <= number;
      case Compare::Greater:
        return value > number;
      default:
        return value >= number;
    }
  }
};

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace op_query
using namespace op_query;

struct OpQuery::Node {
  enum class Kind { And, Or, Not, Leaf } kind = Kind::Leaf;
  std::vector<Node> parts;
  Comparison leaf;

  bool matches(const OpFacts& facts) const {
    const auto holds = [&](const Node& part) { return part.matches(facts); };
    switch (kind) {
      case Kind::And:
        return std::ranges::all_of(parts, holds);
      case Kind::Or:
        return std::ranges::any_of(parts, holds);
      case Kind::Not:
        return !holds(parts[0]);
      default:
        return leaf.matches(facts);
    }
  }

  std::string text() const {
    if (kind == Kind::Leaf) {
      if (leaf.field->kind == FieldKind::Any) return in_quotes(leaf.text);
      const auto how = kCompareNames[static_cast<std::size_t>(leaf.how)];
      return fmt::format("{} {} {}", leaf.field->name, how, in_quotes(leaf.text));
    }
    if (kind == Kind::Not) return fmt::format("not ({})", parts[0].text());
    std::string result;
    for (const Node& part : parts) {
      if (!result.empty()) result += kind == Kind::And ? " and " : " or ";
      result += part.kind == Kind::Leaf ? part.text() : fmt::format("({})", part.text());
    }
    return result;
  }

  bool asks_for(std::string_view field) const {
    if (kind == Kind::Leaf) return leaf.field->name == field;
    return std::ranges::any_of(parts, [&](const Node& part) { return part.asks_for(field); });
  }
};

namespace {

using Node = OpQuery::Node;

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(query_tokens(text)) {}

  Node parse() {
    Node root = any_of();
    if (now().kind == QueryWord::Close) fail("')' without its '('", "remove it");
    if (now().kind != QueryWord::End)
      fail(told(), "\"and\" or \"or\" is expected between two conditions");
    return root;
  }

 private:
  const QueryToken& now() const { return tokens_[at_]; }
  const QueryToken& take() { return tokens_[at_++]; }
  std::string told() const {
    return now().kind == QueryWord::End ? "the query ends here" : fmt::format("'{}'", now().text);
  }
  [[noreturn]] void fail(std::string problem, std::string remedy) const {
    throw QueryError(now().at, now().length, std::move(problem), std::move(remedy));
  }

  Node any_of() {
    return chain(QueryWord::Or, Node::Kind::Or, [this] { return all_of(); });
  }
  Node all_of() {
    return chain(QueryWord::And, Node::Kind::And, [this] { return factor(); });
  }

  template <class Part>
  Node chain(QueryWord word, Node::Kind kind, Part part) {
    Node first = part();
    if (now().kind != word) return first;
    Node node{kind, {}, {}};
    node.parts.push_back(std::move(first));
    while (now().kind == word) {
      ++at_;
      node.parts.push_back(part());
    }
    return node;
  }

  Node factor() {
    if (++depth_ > kDeepest) fail(fmt::format("more than {} levels", kDeepest), "make it simpler");
    Node node;
    if (now().kind == QueryWord::Not) {
      ++at_;
      node.kind = Node::Kind::Not;
      node.parts.push_back(factor());
    } else if (now().kind == QueryWord::Open) {
      node = in_parentheses();
    } else {
      node.leaf = comparison();
    }
    --depth_;
    return node;
  }

  Node in_parentheses() {
    const QueryToken open = take();
    Node node = any_of();
    if (now().kind == QueryWord::End)
      throw QueryError(open.at, open.length, "'(' without its ')'", "close it");
    if (now().kind != QueryWord::Close) fail(told(), "\"and\", \"or\" or ')' is expected");
    ++at_;
    return node;
  }

  Comparison comparison() {
    if (now().kind != QueryWord::Text && now().kind != QueryWord::Quoted)
      fail(told(), "a condition is expected, such as type == \"Conv\" or bytes > 4MB");
    const QueryToken first = take();
    Comparison result;
    if (now().kind != QueryWord::Operator) {
      result.field = &kAnyField;
      result.how = Compare::Finds;
      result.text = first.text;
      result.wanted = lowered(first.text);
      return result;
    }
    result.field = field_of(first);
    result.how = operator_of(*result.field);
    if (now().kind == QueryWord::Operator ||
        (now().kind != QueryWord::Quoted && now().kind != QueryWord::Text)) {
      fail(told(), fmt::format("a value is expected, such as {}", example_of(result.field->kind)));
    }
    read_value(result);
    return result;
  }

  static const Field* field_of(const QueryToken& token) {
    const auto found = std::ranges::find_if(
        kFields, [&](const Field& f) { return equal_without_case(f.name, token.text); });
    if (found != std::end(kFields) && token.kind == QueryWord::Text) return found;
    throw QueryError(token.at, token.length, fmt::format("'{}' is no field", token.text),
                     fmt::format("use one of {}", fmt::join(query_fields(), ", ")));
  }

  Compare operator_of(const Field& field) {
    const std::string_view text = now().text == "=" ? "==" : std::string_view(now().text);
    const auto how = static_cast<Compare>(std::ranges::find(kCompareNames, text) - kCompareNames);
    if (field.kind == FieldKind::Text ? !is_text_compare(how) : !is_number_compare(how)) {
      fail(fmt::format("{} cannot be compared with {}", field.name, now().text),
           field.kind == FieldKind::Text ? "use == != ~ or !~" : "use == != < <= > or >=");
    }
    ++at_;
    return how;
  }

  void read_value(Comparison& result) {
    result.text = now().text;
    if (result.field->kind == FieldKind::Text) {
      result.wanted = lowered(result.text);
      ++at_;
      return;
    }
    const auto unit = number_of(result.text, result.number);
    if (!unit) {
      fail(fmt::format("'{}' is not a number", now().text),
           fmt::format("write one, such as {}", example_of(result.field->kind)));
    }
    std::string unit_text = *unit;
    ++at_;
    // "4 MB": the unit may stand apart, when no operator makes it a field.
    if (unit_text.empty() && now().kind == QueryWord::Text &&
        tokens_[at_ + 1].kind != QueryWord::Operator) {
      unit_text = now().text;
      result.text += unit_text;
      ++at_;
    }
    result.number *= factor_of(*result.field, unit_text);
  }

  // Reads a number and returns the text that follows it; nothing when there is no number.
  static std::optional<std::string> number_of(const std::string& text, double& value) {
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
    return std::string(read.ptr, end);
  }

  double factor_of(const Field& field, const std::string& unit) const {
    std::string all;
    for (const Unit& known : units_of(field.kind)) {
      if (equal_without_case(known.name, unit)) return known.factor;
      if (!known.name.empty()) all += (all.empty() ? "" : " ") + std::string(known.name);
    }
    const QueryToken& token = tokens_[at_ - 1];
    if (unit.empty()) {
      throw QueryError(token.at, token.length, fmt::format("{} needs a unit", field.name),
                       fmt::format("use one of {}", all));
    }
    throw QueryError(token.at, token.length, fmt::format("'{}' is no unit of {}", unit, field.name),
                     fmt::format("use one of {}", all));
  }

  std::vector<QueryToken> tokens_;
  std::size_t at_ = 0, depth_ = 0;
};

}  // namespace

QueryError::QueryError(std::size_t at, std::size_t length, std::string problem, std::string remedy)
    : InputError("", fmt::format("column {}", at + 1), std::move(problem), std::move(remedy)),
      at_(at),
      length_(std::max<std::size_t>(1, length)) {}

OpQuery OpQuery::parse(std::string_view text) {
  OpQuery query;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return query;
  if (text.size() > kLongest) {
    throw QueryError(kLongest, 1, fmt::format("more than {} bytes", kLongest), "make it shorter");
  }
  query.root_ = std::make_shared<const Node>(Parser(text).parse());
  return query;
}

bool OpQuery::matches(const OpFacts& facts) const { return root_ && root_->matches(facts); }
bool OpQuery::asks_for(std::string_view field) const { return root_ && root_->asks_for(field); }
std::string OpQuery::text() const { return root_ ? root_->text() : std::string(); }

std::span<const std::string_view> query_fields() {
  static const auto names = [] {
    std::array<std::string_view, std::size(kFields)> result;
    std::ranges::transform(kFields, result.begin(), &Field::name);
    return result;
  }();
  return names;
}

}  // namespace strato
