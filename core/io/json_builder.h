// Private to core/io: a JSON document from the events of a parser, with each key once.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/io/json.h"

namespace strato {

struct RepeatedKey {
  std::string place;
};

struct NestedTooDeep {};
inline constexpr std::size_t kDeepest = 1000;  // the library's reader of CBOR calls itself

struct TooManyValues {};

// The handler of the library's parsers of text and of CBOR. It builds the document as Json::parse()
// does, but throws RepeatedKey where that would keep the last of several values and say nothing.
// Keys are compared when their object ends: an object of n keys costs n log n (the library's own
// builder and its callback search an ordered object at each key, and CBOR has no callback).
class JsonBuilder {
 public:
  // A value takes 16 bytes or more, a view of one a hundred.
  explicit JsonBuilder(std::size_t most_values) : most_values_(most_values) {}

  Json take() { return std::move(root_); }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(Json::number_integer_t value) { return put(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return put(value); }
  bool number_float(Json::number_float_t value, const Json::string_t&) { return put(value); }
  bool string(Json::string_t& value) { return put(std::move(value)); }
  bool binary(Json::binary_t& value) {
    return put(Json::binary(std::move(value)));
  }  // of CBOR only
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool key(Json::string_t& name) {
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

  // Adds the next value to the innermost open one: its key stands there already. Only the innermost
  // of the open values grows, so the others stay where they are.
  Json& add(Json value) {
    if (++values_ > most_values_) throw TooManyValues();
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
    if (open_.size() == kDeepest) throw NestedTooDeep();
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
  // Returns the path of the innermost open object, with a dot behind it: "machines[2].gpus."
  std::string place() const {
    std::string text;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      const Json& at = *open_[i];
      if (at.is_array())
        text += fmt::format("[{}]", at.size() - 1);
      else
        text += (i == 0 ? "" : ".") + at.get_ref<const Json::object_t&>().back().first;
    }
    return text.empty() ? text : text + ".";
  }

  Json root_;
  const std::size_t most_values_;
  std::size_t values_ = 0;              // so far
  std::vector<Json*> open_;             // outermost first
  std::vector<std::string_view> keys_;  // of the object that ends now
};

// The document that `put` builds; what the builder refuses is an InputError.
template <class Put>
JsonView json_of_events(const std::string& file, std::size_t most_values, Put put) {
  JsonBuilder builder(most_values);
  try {
    put(builder);
  } catch (const RepeatedKey& repeated) {
    throw InputError(file, repeated.place, "is there more than once", "keep one of them");
  } catch (const NestedTooDeep&) {
    throw InputError(file, "", fmt::format("is nested deeper than {} levels", kDeepest),
                     "give a file that the program or a person wrote");
  } catch (const TooManyValues&) {
    throw InputError(file, "", fmt::format("has more than {} values", most_values),
                     "give a smaller file");
  }
  return JsonView::of(builder.take(), file);
}

}  // namespace strato
