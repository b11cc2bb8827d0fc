#include "core/io/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace strato {
namespace {

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto start = before.rfind('\n');
  const auto column = before.size() - (start == std::string_view::npos ? 0 : start + 1);
  return fmt::format("line {}, column {}", line, std::max<std::size_t>(column, 1));
}

struct RepeatedKey {
  std::string place;
};

// Builds the document as Json::parse() does, but throws RepeatedKey where that would keep the last
// of several values and say nothing. Keys are compared when their object ends: no cost to large
// files.
class Builder {
 public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  Json take() { return std::move(root_); }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(number_integer_t value) { return put(value); }
  bool number_unsigned(number_unsigned_t value) { return put(value); }
  bool number_float(number_float_t value, const string_t&) { return put(value); }
  bool string(string_t& value) { return put(std::move(value)); }
  bool binary(binary_t&) { return false; }  // not in text
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool key(string_t& name) {
    object().emplace_back(std::move(name), nullptr);
    return true;
  }
  bool end_object() {
    check_keys();
    open_.pop_back();
    return true;
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  template <class Error>
  [[noreturn]] bool parse_error(std::size_t, const std::string&, const Error& error) {
    throw error;
  }

 private:
  Json::object_t& object() { return open_.back()->get_ref<Json::object_t&>(); }

  // Where the next value goes: its key stands there already. Only the innermost of the open values
  // grows, so the others stay where they are.
  Json& add(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (open_.back()->is_object()) return object().back().second = std::move(value);
    auto& list = open_.back()->get_ref<Json::array_t&>();
    return list.emplace_back(std::move(value));
  }
  bool put(Json value) {
    add(std::move(value));
    return true;
  }
  bool open(Json value) {
    open_.push_back(&add(std::move(value)));
    return true;
  }

  void check_keys() {
    keys_.clear();
    for (const auto& [key, value] : object()) keys_.emplace_back(key);
    std::sort(keys_.begin(), keys_.end());
    const auto twice = std::adjacent_find(keys_.begin(), keys_.end());
    if (twice != keys_.end()) throw RepeatedKey{place() + std::string(*twice)};
  }
  // Of the innermost open object, with a dot behind it: "machines[2].gpus."
  std::string place() const {
    std::string text;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      const Json& at = *open_[i];
      if (at.is_array()) {
        text += fmt::format("[{}]", at.size() - 1);
      } else {
        text += (i == 0 ? "" : ".") + at.get_ref<const Json::object_t&>().back().first;
      }
    }
    return text.empty() ? text : text + ".";
  }

  Json root_;
  std::vector<Json*> open_;             // outermost first
  std::vector<std::string_view> keys_;  // of the object that ends now
};

Json parse_json(std::string_view text) {
  Builder builder;
  Json::sax_parse(text, &builder);
  return builder.take();
}

}  // namespace

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

JsonView JsonView::parse(std::string_view text, std::string file) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw InputError(file, "", "is empty", "give another file");
  try {
    auto document = std::make_shared<const Json>(parse_json(text));
    const Json* root = document.get();
    return JsonView(std::move(document), root, std::make_shared<std::string>(std::move(file)), "");
  } catch (const Json::parse_error& error) {
    throw InputError(file, line_and_column(text, error.byte), "is not valid JSON here",
                     "mend the syntax (NaN, comments and trailing commas are not JSON)");
  } catch (const RepeatedKey& repeated) {
    throw InputError(file, repeated.place, "is there more than once", "keep one of them");
  } catch (const Json::exception&) {  // a number out of range
    throw InputError(file, "", "has a number that does not fit", "use finite numbers");
  }
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
  for (std::size_t i = 0; i < value_->size(); ++i) {
    result.push_back(child((*value_)[i], fmt::format("{}[{}]", place_, i)));
  }
  return result;
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  if (!value_->is_object()) fail("is not an object", "write {…} here");
  std::vector<std::pair<std::string, JsonView>> result;
  for (const auto& [key, value] : value_->items()) {
    result.emplace_back(key, child(value, place_.empty() ? key : place_ + "." + key));
  }
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

bool JsonView::boolean() const {
  if (!value_->is_boolean()) fail("is not true or false", "write true or false");
  return value_->get<bool>();
}

double JsonView::number(double low, double high) const {
  if (!value_->is_number()) fail("is not a number", "write a number here");
  const double value = value_->get<double>();
  if (!std::isfinite(value) || value < low || value > high) {
    fail(fmt::format("is {}", value), fmt::format("give a number from {} to {}", low, high));
  }
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
  if (value < low || value > high) {
    fail(fmt::format("is {}", value), fmt::format("give a whole number from {} to {}", low, high));
  }
  return value;
}

void JsonView::fail(std::string problem, std::string remedy) const {
  throw InputError(*file_, place_.empty() ? "" : place_, std::move(problem), std::move(remedy));
}

}  // namespace strato
