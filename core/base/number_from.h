// Numbers that people, files and other programs write as text.
#pragma once

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace strato {

// The number that the whole text is; nothing when it is none, or is not from `least` to `most`.
template <class T>
std::optional<T> number_from(std::string_view text, T least = std::numeric_limits<T>::lowest(),
                             T most = std::numeric_limits<T>::max()) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  const bool fits = error == std::errc() && at == end && least <= value && value <= most;
  return fits ? std::optional(value) : std::nullopt;
}

}  // namespace strato
