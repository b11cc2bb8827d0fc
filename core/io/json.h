// Reading JSON that people write: every access knows its place ("machines[2].gpus") and every wrong
// value becomes an InputError with file, place, problem and remedy. Include in .cpp files only.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/digest.h"

namespace strato {

using Json = nlohmann::ordered_json;  // keeps the order of keys: files diff well

// Writes JSON on one line, or with `indent` spaces a level. Texts may hold any bytes (names of
// files, what drivers and programs say): those that are not UTF-8 become U+FFFD.
std::string json_text(const Json& json, int indent = -1);

class JsonView {
 public:
  // Parses `text`; a syntax error names line and column. `file` is used in messages only.
  static JsonView parse(std::string_view text, const std::string& file);
  static JsonView of(Json value, std::string file);  // a value that was not parsed from a text

  const Json& json() const { return *value_; }
  const std::string& place() const { return place_; }

  bool is_object() const { return value_->is_object(); }
  bool is_array() const { return value_->is_array(); }
  bool is_string() const { return value_->is_string(); }
  bool is_null() const { return value_->is_null(); }

  JsonView at(std::string_view key) const;                        // missing key: InputError
  std::optional<JsonView> find(std::string_view key) const;       // missing key or null: nothing
  std::vector<JsonView> items() const;                            // of an array
  std::vector<std::pair<std::string, JsonView>> members() const;  // of an object, in file order
  void allow_only(std::initializer_list<std::string_view> keys) const;
  // Throws InputError unless the file's root has this "format" and a "version" from 1 to `version`.
  void expect_format(std::string_view format, std::int64_t version) const;

  std::string string() const;
  std::string_view bytes() const;  // of a binary value (container.h); as long as this view lives
  bool boolean() const;
  double number(double low = std::numeric_limits<double>::lowest(),
                double high = std::numeric_limits<double>::max()) const;  // finite, in [low, high]
  double positive_number() const;
  std::int64_t integer(std::int64_t low = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t high = std::numeric_limits<std::int64_t>::max()) const;

  Digest digest() const;  // 32 hexadecimal digits

  [[noreturn]] void fail(std::string problem, std::string remedy) const;

 private:
  JsonView(std::shared_ptr<const Json> document, const Json* value,
           std::shared_ptr<const std::string> file, std::string place)
      : document_(std::move(document)),
        value_(value),
        file_(std::move(file)),
        place_(std::move(place)) {}
  JsonView child(const Json& value, std::string place) const;

  std::shared_ptr<const Json> document_;
  const Json* value_;
  std::shared_ptr<const std::string> file_;
  std::string place_;
};

}  // namespace strato
