// Extents that exporters of PyTorch write as text: "2*s0", "(s0 - 1)//2 + 1", "Max(1, s0)", also as
// sympy's srepr() has them: "Mul(Integer(2), Symbol('s0', integer=True))". Pure functions; safe
// from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strato {

// What a symbol stands for; nothing: it is not bound.
using SymbolValue = std::function<std::optional<std::int64_t>(const std::string& symbol)>;

// Nothing for a text that is no expression or is too long or too deep, for a symbol that is not
// bound, for a division by zero, and for a value that is not whole or that 64 bits do not hold.
std::optional<std::int64_t> evaluated_extent(std::string_view expression, const SymbolValue& value);

// Each once, in order; empty for a text that is no expression, and for one of numbers only.
std::vector<std::string> symbols_of(std::string_view expression);

}  // namespace strato
