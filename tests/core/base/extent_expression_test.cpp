#include "core/base/extent_expression.h"

#include <gtest/gtest.h>

#include <map>

namespace strato {
namespace {

std::optional<std::int64_t> value_of(std::string_view expression,
                                     const std::map<std::string, std::int64_t>& symbols = {
                                         {"s0", 7}, {"s77", 4}, {"batch", 2}}) {
  return evaluated_extent(expression, [&](const std::string& name) {
    const auto found = symbols.find(name);
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(ExtentExpression, AsAPersonWritesIt) {
  EXPECT_EQ(value_of("s0"), 7);
  EXPECT_EQ(value_of("2*s0 - 1"), 13);
  EXPECT_EQ(value_of("s0 - (batch - 1)"), 6);
  EXPECT_EQ(value_of("(s0 - 1)//2 + 1"), 4);
  EXPECT_EQ(value_of("-s0//2"), -4);  // rounded down, as Python does
  EXPECT_EQ(value_of("s0 % 4"), 3);
  EXPECT_EQ(value_of("s77**2"), 16);
  EXPECT_EQ(value_of("floor(s0/2) + ceiling(s0/2)"), 7);
  EXPECT_EQ(value_of("Max(1, s0, Min(s77, 2))"), 7);
  EXPECT_EQ(value_of("batch*s77/2"), 4);
}

TEST(ExtentExpression, AsSympyWritesIt) {
  EXPECT_EQ(value_of("Symbol('s77', integer=True, positive=True)"), 4);
  EXPECT_EQ(value_of("Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(-1))"), 13);
  EXPECT_EQ(value_of("FloorDiv(Symbol('s0'), Integer(2))"), 3);
  EXPECT_EQ(value_of("Mul(Rational(1, 2), Symbol('s77'))"), 2);
  EXPECT_EQ(value_of("Pow(Symbol('s77'), Integer(2))"), 16);
}

TEST(ExtentExpression, WhatHasNoValue) {
  EXPECT_EQ(value_of("s9"), std::nullopt);
  EXPECT_EQ(value_of("s0/2"), std::nullopt);
  EXPECT_EQ(value_of("s0//(s77 - 4)"), std::nullopt);
  EXPECT_EQ(value_of("s0 % 0"), std::nullopt);
  EXPECT_EQ(value_of("9223372036854775807 + 1"), std::nullopt);
  EXPECT_EQ(value_of("s0**64"), std::nullopt);
  EXPECT_EQ(value_of("99999999999999999999"), std::nullopt);
}

TEST(ExtentExpression, WhatIsNone) {
  for (const char* text : {"", "2*", "(s0", "s0)", "s0 s77", "Foo(s0)", "Max()", "Mod(s0)", "1.5",
                           "s0 + #", "Symbol(s0)", "Integer(1, 2)"})
    EXPECT_EQ(value_of(text), std::nullopt) << text;
  EXPECT_EQ(value_of(std::string(100'000, '(')), std::nullopt);
  EXPECT_EQ(value_of(std::string(4'000, '(')), std::nullopt);
  EXPECT_EQ(value_of(std::string(4'000, '-') + "1"), std::nullopt);
}

TEST(ExtentExpression, ItsSymbols) {
  EXPECT_EQ(symbols_of("2*s0 + s1//(s0 - s0)"), (std::vector<std::string>{"s0", "s1"}));
  EXPECT_EQ(symbols_of("Mul(Integer(2), Symbol('s0', integer=True))"),
            std::vector<std::string>{"s0"});
  EXPECT_TRUE(symbols_of("17").empty());
  EXPECT_TRUE(symbols_of("s0 +").empty());
}

}  // namespace
}  // namespace strato
