#include "core/base/extent_expression.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "core/base/number_from.h"

namespace strato {
namespace {

using Int = std::int64_t;

constexpr std::size_t kLongest = 4096;
constexpr int kDeepest = 64;

// A fraction in lowest terms, its denominator above zero; without a value where 64 bits do not hold
// it.
struct Fraction {
  Int top = 0, bottom = 1;
  bool valued = true;
};
constexpr Fraction kNone = {0, 1, false};

Fraction fraction(Int top, Int bottom) {
  if (bottom == 0 || top == INT64_MIN || bottom == INT64_MIN) return kNone;
  const Int common = std::gcd(top, bottom) * (bottom < 0 ? -1 : 1);
  return {top / common, bottom / common, true};
}

Fraction times(const Fraction& a, const Fraction& b) {
  Int top = 0, bottom = 0;
  const bool held = !__builtin_mul_overflow(a.top, b.top, &top) &&
                    !__builtin_mul_overflow(a.bottom, b.bottom, &bottom);
  return held && a.valued && b.valued ? fraction(top, bottom) : kNone;
}

Fraction plus(const Fraction& a, const Fraction& b) {
  Int left = 0, right = 0, top = 0, bottom = 0;
  const bool held = !__builtin_mul_overflow(a.top, b.bottom, &left) &&
                    !__builtin_mul_overflow(b.top, a.bottom, &right) &&
                    !__builtin_add_overflow(left, right, &top) &&
                    !__builtin_mul_overflow(a.bottom, b.bottom, &bottom);
  return held && a.valued && b.valued ? fraction(top, bottom) : kNone;
}

Fraction negative(const Fraction& a) { return times(a, {-1, 1, true}); }

Fraction divided(const Fraction& a, const Fraction& b) {
  return b.valued && b.top != 0 ? times(a, fraction(b.bottom, b.top)) : kNone;
}

Fraction floor_of(const Fraction& a) {
  const Int whole = a.top / a.bottom;
  return {a.top % a.bottom < 0 ? whole - 1 : whole, 1, a.valued};
}
Fraction ceiling_of(const Fraction& a) { return negative(floor_of(negative(a))); }
Fraction quotient(const Fraction& a, const Fraction& b) { return floor_of(divided(a, b)); }
Fraction remainder_of(const Fraction& a, const Fraction& b) {
  return plus(a, negative(times(quotient(a, b), b)));
}

Fraction power(const Fraction& a, const Fraction& b) {
  constexpr Int kMost = 64;
  if (b.bottom != 1 || !b.valued || b.top < -kMost || b.top > kMost) return kNone;
  Fraction result = {1, 1, true};
  for (Int i = 0; i < std::abs(b.top); ++i) result = times(result, a);
  return b.top < 0 ? divided({1, 1, true}, result) : result;
}

bool less(const Fraction& a, const Fraction& b) { return plus(a, negative(b)).top < 0; }
Fraction larger(const Fraction& a, const Fraction& b) {
  return a.valued && b.valued ? (less(a, b) ? b : a) : kNone;
}
Fraction smaller(const Fraction& a, const Fraction& b) {
  return a.valued && b.valued ? (less(a, b) ? a : b) : kNone;
}

struct Function {
  std::string_view name;
  std::size_t least, most;  // arguments
  Fraction (*value)(const Fraction& a, const Fraction& b);
};
// Those of more than two arguments are of the first two, then of the result and the next.
constexpr std::size_t kAny = SIZE_MAX;
Fraction first_of(const Fraction& a, const Fraction&) { return a; }
constexpr Function kFunctions[] = {
    {"Add", 1, kAny, plus},
    {"CeilToInt", 1, 1, [](const Fraction& a, const Fraction&) { return ceiling_of(a); }},
    {"CleanDiv", 2, 2, quotient},
    {"FloorDiv", 2, 2, quotient},
    {"FloorToInt", 1, 1, [](const Fraction& a, const Fraction&) { return floor_of(a); }},
    {"IntTrueDiv", 2, 2, divided},
    {"Integer", 1, 1, first_of},
    {"Max", 1, kAny, larger},
    {"Min", 1, kAny, smaller},
    {"Mod", 2, 2, remainder_of},
    {"Mul", 1, kAny, times},
    {"Pow", 2, 2, power},
    {"PowByNatural", 2, 2, power},
    {"PythonMod", 2, 2, remainder_of},
    {"Rational", 2, 2, divided},
    {"ceiling", 1, 1, [](const Fraction& a, const Fraction&) { return ceiling_of(a); }},
    {"floor", 1, 1, [](const Fraction& a, const Fraction&) { return floor_of(a); }},
    {"max", 1, kAny, larger},
    {"min", 1, kAny, smaller}};

// Recursive descent. A text that is no expression is noted, not thrown.
class Reader {
 public:
  Reader(std::string_view text, const SymbolValue& value) : rest_(text), value_(value) {
    sound_ = text.size() <= kLongest;
  }

  Fraction all() {
    const Fraction value = sum();
    skip_spaces();
    if (!rest_.empty()) sound_ = false;
    return sound_ ? value : kNone;
  }
  bool sound() const { return sound_; }

 private:
  void skip_spaces() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  bool next_is(std::string_view mark) {
    skip_spaces();
    return rest_.starts_with(mark);
  }
  bool take(std::string_view mark) {
    if (!sound_ || !next_is(mark)) return false;
    rest_.remove_prefix(mark.size());
    return true;
  }
  void expect(std::string_view mark) {
    if (!take(mark)) sound_ = false;
  }

  Fraction sum() {
    if (++depth_ > kDeepest) sound_ = false;
    Fraction value = sound_ ? product() : kNone;
    while (sound_ && (next_is("+") || next_is("-")))
      value = take("+") ? plus(value, product()) : (take("-"), plus(value, negative(product())));
    --depth_;
    return value;
  }

  Fraction product() {
    Fraction value = factor();
    while (sound_ && !next_is("**") && (next_is("*") || next_is("/") || next_is("%"))) {
      if (take("*"))
        value = times(value, factor());
      else if (take("//"))
        value = quotient(value, factor());
      else if (take("/"))
        value = divided(value, factor());
      else if (take("%"))
        value = remainder_of(value, factor());
    }
    return value;
  }

  Fraction factor() {
    if (++depth_ > kDeepest) sound_ = false;
    Fraction value = kNone;
    if (take("-")) {
      value = negative(factor());
    } else if (sound_) {
      value = atom();
      if (take("**")) value = power(value, factor());
    }
    --depth_;
    return value;
  }

  std::string_view word(bool (*belongs)(char)) {
    std::size_t size = 0;
    while (size < rest_.size() && belongs(rest_[size])) ++size;
    const std::string_view result = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return result;
  }

  Fraction atom() {
    if (take("(")) {
      const Fraction value = sum();
      expect(")");
      return value;
    }
    skip_spaces();
    const auto in_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    const std::string_view name = word(in_name);
    if (name.empty()) return sound_ = false, kNone;
    if (std::isdigit(static_cast<unsigned char>(name[0])) != 0) return number(name);
    if (!next_is("(")) return symbol(std::string(name));
    return name == "Symbol" ? quoted_symbol() : call(name);
  }

  Fraction number(std::string_view digits) {
    const auto all_digits = [](char c) { return c >= '0' && c <= '9'; };
    if (!std::ranges::all_of(digits, all_digits)) sound_ = false;
    const auto value = number_from<Int>(digits);
    return value ? Fraction{*value, 1, true} : kNone;
  }

  Fraction symbol(const std::string& name) {
    const std::optional<Int> value = value_(name);
    return value ? Fraction{*value, 1, true} : kNone;
  }

  // Symbol('s0', integer=True, positive=True)
  Fraction quoted_symbol() {
    expect("(");
    expect("'");
    const std::string name(word([](char c) { return c != '\''; }));
    word([](char c) { return c != ')'; });
    expect(")");
    return sound_ ? symbol(name) : kNone;
  }

  Fraction call(std::string_view name) {
    const auto* function = std::ranges::find(kFunctions, name, &Function::name);
    if (function == std::end(kFunctions)) return sound_ = false, kNone;
    expect("(");
    Fraction value = sum();
    std::size_t count = 1;
    if (function->most == 1) value = function->value(value, kNone);
    for (; take(","); ++count) value = function->value(value, sum());
    expect(")");
    if (count < function->least || count > function->most) sound_ = false;
    return value;
  }

  std::string_view rest_;
  const SymbolValue& value_;
  bool sound_ = true;
  int depth_ = 0;
};

}  // namespace

std::optional<std::int64_t> evaluated_extent(std::string_view expression,
                                             const SymbolValue& value) {
  const Fraction result = Reader(expression, value).all();
  return result.valued && result.bottom == 1 ? std::optional(result.top) : std::nullopt;
}

std::vector<std::string> symbols_of(std::string_view expression) {
  std::vector<std::string> symbols;
  const SymbolValue note = [&symbols](const std::string& symbol) -> std::optional<std::int64_t> {
    if (std::ranges::find(symbols, symbol) == symbols.end()) symbols.push_back(symbol);
    return std::nullopt;
  };
  Reader reader(expression, note);
  reader.all();
  return reader.sound() ? symbols : std::vector<std::string>();
}

}  // namespace strato
