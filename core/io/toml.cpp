#include "core/io/toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cmath>
#include <sstream>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/io/json_builder.h"

namespace strato {
namespace {

constexpr std::size_t kMostOfToml = 100'000;

void put_toml(JsonBuilder& builder, const toml::node& node) {
  node.visit([&](const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (toml::is_table<Value>) {
      builder.start_object(value.size());
      for (const auto& [key, member] : value) {
        std::string name(key.str());
        builder.key(name);
        put_toml(builder, member);
      }
      builder.end_object();
    } else if constexpr (toml::is_array<Value>) {
      builder.start_array(value.size());
      for (const toml::node& item : value) put_toml(builder, item);
      builder.end_array();
    } else if constexpr (toml::is_boolean<Value>) {
      builder.boolean(*value);
    } else if constexpr (toml::is_integer<Value>) {
      builder.number_integer(*value);
    } else if constexpr (toml::is_floating_point<Value>) {
      std::isfinite(*value) ? builder.number_float(*value, "") : builder.null();
    } else {
      std::ostringstream text;
      if constexpr (toml::is_string<Value>)
        text << *value;
      else
        text << value;
      std::string words = text.str();
      builder.string(words);
    }
  });
}

}  // namespace

JsonView parse_toml(std::string_view text, const std::string& file) {
  return json_of_events(file, kMostOfToml, [&](JsonBuilder& builder) {
    try {
      put_toml(builder, toml::parse(text, file));
    } catch (const toml::parse_error& error) {
      const toml::source_position at = error.source().begin;
      throw InputError(file, fmt::format("line {}, column {}", at.line, at.column),
                       fmt::format("is not valid TOML here: {}", error.description()),
                       "mend the syntax");
    }
  });
}

}  // namespace strato
