#include "core/graph/value/attribute_digest.h"

namespace strato {

void hash_attribute(Hasher& hasher, const Attribute& attribute) {
  hasher.number(attribute.index());
  if (const auto* integer = std::get_if<std::int64_t>(&attribute)) hasher.number(*integer);
  if (const auto* real = std::get_if<double>(&attribute)) hasher.number(*real);
  if (const auto* text = std::get_if<std::string>(&attribute)) hasher.text(*text);
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&attribute))
    hasher.numbers(std::span<const std::int64_t>(*integers));
  if (const auto* reals = std::get_if<std::vector<double>>(&attribute))
    hasher.numbers(std::span<const double>(*reals));
}

}  // namespace strato
