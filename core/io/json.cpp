#include "core/io/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/io/json_builder.h"

namespace strato {
namespace {

// Of a text, which anybody may write: less than 1 GB when all of them are read.
constexpr std::size_t kMostValuesOfAText = std::size_t{1} << 22;

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto start = before.rfind('\n');
  const auto column = before.size() - (start == std::string_view::npos ? 0 : start + 1);
  return fmt::format("line {}, column {}", line, std::max<std::size_t>(column, 1));
}

}  // namespace

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

JsonView JsonView::parse(std::string_view text, const std::string& file) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw InputError(file, "", "is empty", "give another file");
  return json_of_events(file, kMostValuesOfAText, [&](JsonBuilder& builder) {
    try {
      Json::sax_parse(text, &builder);
    } catch (const Json::parse_error& error) {
      throw InputError(file, line_and_column(text, error.byte), "is not valid JSON here",
                       "mend the syntax (NaN, comments and trailing commas are not JSON)");
    } catch (const Json::exception&) {  // a number out of range
      throw InputError(file, "", "has a number that does not fit", "use finite numbers");
    }
  });
}

JsonView JsonView::of(Json value, std::string file) {
  auto document = std::make_shared<const Json>(std::move(value));
  const Json* root = document.get();
  return JsonView(std::move(document), root, std::make_shared<std::string>(std::move(file)), "");
}

JsonView JsonView::child(const Json& value, std::string place) const {
  return JsonView(document_, &value, file_, std::move(place));
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  if (!value_->is_object()) fail("is not an object", "write {…} here");
  const auto found = value_->find(std::string(key));
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return child(*found, place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key));
}

JsonView JsonView::at(std::string_view key) const {
  if (auto value = find(key)) return *value;
  fail(fmt::format("has no \"{}\"", key), "add it");
}

std::vector<JsonView> JsonView::items() const {
  if (!value_->is_array()) fail("is not a list", "write […] here");
  std::vector<JsonView> result;
  result.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i)
    result.push_back(child((*value_)[i], fmt::format("{}[{}]", place_, i)));
  return result;
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  if (!value_->is_object()) fail("is not an object", "write {…} here");
  std::vector<std::pair<std::string, JsonView>> result;
  for (const auto& [key, value] : value_->items())
    result.emplace_back(key, child(value, place_.empty() ? key : place_ + "." + key));
  return result;
}

void JsonView::allow_only(std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, value] : members()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    value.fail("is not a known key", fmt::format("known here: {}", fmt::join(keys, ", ")));
  }
}

void JsonView::expect_format(std::string_view format, std::int64_t version) const {
  if (!find("format"))
    fail("has no \"format\"", fmt::format(R"(begin it with "format": "{}", "version": 1)", format));
  const JsonView given = at("format");
  if (const std::string text = given.string(); text != format) {
    given.fail(fmt::format("is \"{}\"", text.substr(0, 64)),
               fmt::format("give a file of format \"{}\"", format));
  }
  const JsonView number = at("version");
  if (const std::int64_t value = number.integer(1); value > version) {
    number.fail(fmt::format("is {}, newer than this program reads", value),
                fmt::format("update the program, or give version {}", version));
  }
}

std::string JsonView::string() const {
  if (!value_->is_string()) fail("is not a text", "write \"…\" here");
  return value_->get<std::string>();
}

std::string_view JsonView::bytes() const {
  if (!value_->is_binary()) fail("is no list of packed numbers", "write the file again");
  const Json::binary_t& bytes = value_->get_binary();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool JsonView::boolean() const {
  if (!value_->is_boolean()) fail("is not true or false", "write true or false");
  return value_->get<bool>();
}

double JsonView::number(double low, double high) const {
  if (!value_->is_number()) fail("is not a number", "write a number here");
  const double value = value_->get<double>();
  if (!std::isfinite(value) || value < low || value > high)
    fail(fmt::format("is {}", value), fmt::format("give a number from {} to {}", low, high));
  return value;
}

double JsonView::positive_number() const {
  const double value = number();
  if (value <= 0) fail(fmt::format("is {}", value), "give a number above zero");
  return value;
}

std::int64_t JsonView::integer(std::int64_t low, std::int64_t high) const {
  const bool fits = value_->is_number_integer() &&
                    !(value_->is_number_unsigned() &&
                      value_->get<std::uint64_t>() >
                          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  if (!fits) fail("is not a whole number", "write a whole number here");
  const auto value = value_->get<std::int64_t>();
  if (value < low || value > high)
    fail(fmt::format("is {}", value), fmt::format("give a whole number from {} to {}", low, high));
  return value;
}

Digest JsonView::digest() const {
  const std::string text = string();
  try {
    return Digest::from_hex(text);
  } catch (const InputError& error) {
    fail(error.problem(), error.remedy());
  }
}

void JsonView::fail(std::string problem, std::string remedy) const {
  throw InputError(*file_, place_, std::move(problem), std::move(remedy));
}

}  // namespace strato
