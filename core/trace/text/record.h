// Inside core/trace only: one object of a JSON text, flat, in memory that is used again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace strato::trace {

// A value by the names above it: "args.stream". Numbers are kept as they are written, lists as JSON
// ("[[1,2],[3]]", at most kLongestList of it).
class Record {
 public:
  static constexpr std::size_t kMostFields = 256;  // the rest is left out
  static constexpr std::size_t kLongestList = std::size_t{1} << 16;

  void clear() { size_ = 0; }
  bool empty() const { return size_ == 0; }
  std::string& add(std::string_view key);  // the value's text, empty

  // Nothing where there is no such value.
  std::optional<std::string_view> text(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key) const;
  // Of a number, or a text that is one, in microseconds with any decimals. Nothing, too, when it is
  // no number, or beyond 63 years.
  std::optional<Nanos> microseconds(std::string_view key) const;

 private:
  struct Field {
    std::string key, value;
  };
  std::vector<Field> fields_;
  std::size_t size_ = 0;
  std::string left_out_;
};

std::optional<std::int64_t> whole_number(std::string_view text);  // "7", "7.0"
std::optional<Nanos> nanos_of_microseconds(std::string_view text);

}  // namespace strato::trace
