// Tensors in files, one at a time: what weights and input batches are read from, whatever the
// format; and their elements: bytes, names of types, and elements of one type as those of another,
// where nothing is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/io/file.h"

namespace strato {

struct StoredTensor {
  std::string name;
  DataType type = DataType::F32;
  Shape shape;
};

// Safe from one thread at a time.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  virtual const std::string& file() const = 0;  // for messages
  virtual const std::vector<StoredTensor>& tensors() const = 0;
  // Why tensors may be missing, for people: "weights.bin is not there"; or nothing.
  virtual std::string note() const { return {}; }

  // The elements of tensors()[index], little endian, row by row, handed to `put` in order and in
  // pieces, so that no tensor needs to be in memory whole. Throws InputError when the file is
  // damaged or lies where it may not.
  virtual void read(std::size_t index, const PutPart& put) const = 0;
};

// ---- elements, little endian; safe from any thread

// Returns the bytes of all elements; -1 when that is no number of 64 bits.
std::int64_t bytes_of(const StoredTensor& tensor);

// Returns the type for which `word_of` has this word.
template <class Word, class F>
std::optional<DataType> type_called(const Word& word, F word_of) {
  for (int i = 0; i <= static_cast<int>(DataType::Bool); ++i)
    if (word_of(static_cast<DataType>(i)) == word) return static_cast<DataType>(i);
  return std::nullopt;
}

// Every value of `from` is one of `to`: a floating-point type as a wider one, an integer as a wider
// one.
bool widens(DataType from, DataType to);

// Converts whole elements. Nothing: an integer does not fit.
std::optional<std::string> converted(std::string_view elements, DataType from, DataType to);

std::int64_t integer_at(std::string_view elements, std::size_t index, DataType type);
// A NaN or an infinity is among them; of integers never.
bool has_not_finite(std::string_view elements, DataType type);

}  // namespace strato
