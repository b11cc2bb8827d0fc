// Elements of one type as those of another, where nothing is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/graph/value/graph.h"

namespace strato {

// Every value of `from` is one of `to`: a floating-point type as a wider one, an integer as a wider
// one.
bool widens(DataType from, DataType to);
// Integers whose values may fit nevertheless: i64 labels of a model that wants i32.
bool may_fit(DataType from, DataType to);

// `elements` little endian, whole. Nothing: an integer does not fit.
std::optional<std::string> converted(std::string_view elements, DataType from, DataType to);

std::int64_t integer_at(std::string_view elements, std::size_t index, DataType type);
// A NaN or an infinity is among them; of integers never.
bool has_not_finite(std::string_view elements, DataType type);

}  // namespace strato
