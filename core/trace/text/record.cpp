#include "core/trace/text/record.h"

#include <cmath>

#include "core/base/number_from.h"

namespace strato::trace {
namespace {

constexpr std::int64_t kMostMicroseconds = 2'000'000'000'000'000;  // 63 years

// Digits behind the point, as nanoseconds, rounded to the nearest.
std::int64_t nanos_of_decimals(std::string_view digits) {
  std::int64_t nanos = 0;
  for (std::size_t i = 0; i < 3; ++i)
    nanos = nanos * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  return nanos + (digits.size() > 3 && digits[3] >= '5' ? 1 : 0);
}

std::optional<Nanos> nanos_of_any_number(std::string_view text) {
  const auto number = number_from<double>(text);
  if (!number || !std::isfinite(*number) || std::abs(*number) > double(kMostMicroseconds))
    return std::nullopt;
  return Nanos(std::llround(*number * 1000));
}

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text) {
  if (const auto number = number_from<std::int64_t>(text)) return number;
  const auto real = number_from<double>(text);
  if (!real || std::abs(*real) > 9e15 || std::floor(*real) != *real) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

// Digit by digit: a double has no nanoseconds left of microseconds since 1970.
std::optional<Nanos> nanos_of_microseconds(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view decimals =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  const auto whole =
      number_from<std::int64_t>(text.substr(0, point), -kMostMicroseconds, kMostMicroseconds);
  const bool plain = whole && decimals.find_first_not_of("0123456789") == std::string_view::npos;
  if (!plain) return nanos_of_any_number(text);
  const std::int64_t nanos = nanos_of_decimals(decimals);
  return Nanos(*whole * 1000 + (text.starts_with('-') ? -nanos : nanos));
}

std::string& Record::add(std::string_view key) {
  if (size_ == kMostFields) {
    left_out_.clear();
    return left_out_;
  }
  if (size_ == fields_.size()) fields_.emplace_back();
  Field& field = fields_[size_++];
  field.key = key;
  field.value.clear();
  return field.value;
}

std::optional<std::string_view> Record::text(std::string_view key) const {
  for (std::size_t i = 0; i < size_; ++i)
    if (fields_[i].key == key) return fields_[i].value;
  return std::nullopt;
}

std::optional<std::int64_t> Record::integer(std::string_view key) const {
  const auto value = text(key);
  return value ? whole_number(*value) : std::nullopt;
}

std::optional<Nanos> Record::microseconds(std::string_view key) const {
  const auto value = text(key);
  return value ? nanos_of_microseconds(*value) : std::nullopt;
}

}  // namespace strato::trace
