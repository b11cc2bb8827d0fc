// Elements of tensors in files: their bytes, the names of their types, and elements of one type as
// those of another, where nothing is lost. All are little endian. Thread-safe, no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/data/tensor_source.h"
#include "core/graph/value/graph.h"

namespace strato {

// Returns the bytes of all elements; -1 when that is no number of 64 bits.
std::int64_t bytes_of(const StoredTensor& tensor);

// Returns the type for which `word_of` has this word.
template <class F>
std::optional<DataType> type_called(std::string_view word, F word_of) {
  for (int i = 0; i <= static_cast<int>(DataType::Bool); ++i) {
    if (word_of(static_cast<DataType>(i)) == word) return static_cast<DataType>(i);
  }
  return std::nullopt;
}

// Every value of `from` is one of `to`: a floating-point type as a wider one, an integer as a wider
// one.
bool widens(DataType from, DataType to);
// Integers whose values may fit nevertheless: i64 labels of a model that wants i32.
bool may_fit(DataType from, DataType to);

// Converts whole elements. Nothing: an integer does not fit.
std::optional<std::string> converted(std::string_view elements, DataType from, DataType to);

std::int64_t integer_at(std::string_view elements, std::size_t index, DataType type);
// A NaN or an infinity is among them; of integers never.
bool has_not_finite(std::string_view elements, DataType type);

}  // namespace strato
