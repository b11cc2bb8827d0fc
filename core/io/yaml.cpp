#include "core/io/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/io/json_builder.h"

namespace strato {
namespace {

constexpr std::size_t kMostOfYaml = 100'000;  // of a few megabytes in memory, aliases unfolded

std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// YAML 1.1's, which PyYAML reads: whole numbers may have a sign and underscores.
void put_plain(JsonBuilder& builder, const std::string& text) {
  static constexpr std::array<std::string_view, 3> kTrue = {"true", "yes", "on"};
  static constexpr std::array<std::string_view, 3> kFalse = {"false", "no", "off"};
  const std::string word = in_small_letters(text);
  if (word.empty() || word == "~" || word == "null") {
    builder.null();
  } else if (std::ranges::find(kTrue, word) != kTrue.end()) {
    builder.boolean(true);
  } else if (std::ranges::find(kFalse, word) != kFalse.end()) {
    builder.boolean(false);
  } else {
    std::string digits = word.starts_with('+') ? word.substr(1) : word;
    if (std::isdigit(static_cast<unsigned char>(word.back()))) std::erase(digits, '_');
    if (const auto whole = number_from<std::int64_t>(digits)) {
      builder.number_integer(*whole);
    } else if (const auto number = number_from<double>(digits)) {
      builder.number_float(*number, "");
    } else {
      std::string as_it_is = text;
      builder.string(as_it_is);
    }
  }
}

void put_yaml(JsonBuilder& builder, const YAML::Node& node) {
  if (node.IsMap()) {
    builder.start_object(node.size());
    for (const auto& member : node) {
      std::string name = member.first.IsScalar() ? member.first.Scalar() : "?";
      builder.key(name);
      put_yaml(builder, member.second);
    }
    builder.end_object();
  } else if (node.IsSequence()) {
    builder.start_array(node.size());
    for (const YAML::Node& item : node) put_yaml(builder, item);
    builder.end_array();
  } else if (!node.IsScalar()) {
    builder.null();
  } else if (node.Tag() == "?") {
    put_plain(builder, node.Scalar());
  } else {
    std::string text = node.Scalar();
    builder.string(text);
  }
}

}  // namespace

JsonView parse_yaml(std::string_view text, const std::string& file) {
  return json_of_events(file, kMostOfYaml, [&](JsonBuilder& builder) {
    try {
      put_yaml(builder, YAML::Load(std::string(text)));
    } catch (const YAML::Exception& error) {
      const std::string place =
          error.mark.is_null()
              ? ""
              : fmt::format("line {}, column {}", error.mark.line + 1, error.mark.column + 1);
      throw InputError(file, place, fmt::format("is not valid YAML here: {}", error.msg),
                       "mend the syntax");
    }
  });
}

}  // namespace strato
