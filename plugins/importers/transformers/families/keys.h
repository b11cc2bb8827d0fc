// The keys of a config.json. A family asks for those that it knows; what nobody asked for may
// change what is computed, and is refused by name, unless every configuration may have it.
//
// A key that is missing, and one that is null, has the value that the family's class in Hugging
// Face's library gives it. Wrong values are InputErrors whose place is the key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "core/io/json.h"
#include "plugins/importers/transformers/description/description.h"

namespace strato::transformers_import {

class Keys {
 public:
  explicit Keys(JsonView config) : config_(std::move(config)) {}

  bool has(std::string_view key);      // there, and not null
  bool is_null(std::string_view key);  // there, and null
  std::int64_t count(std::string_view key, std::int64_t fallback, std::int64_t most = kMostWidth,
                     std::int64_t least = 1);
  std::int64_t needed(std::string_view key, std::int64_t most = kMostWidth);
  double number(std::string_view key, double fallback);  // at least zero
  double share(std::string_view key, double fallback);   // from 0 to 1
  // A number in an object, {"rope_theta": 10000.0}.
  double number_in(std::string_view key, std::string_view entry, double fallback);
  bool flag(std::string_view key, bool fallback);
  std::string text(std::string_view key, const std::string& fallback);
  Activation activation(std::string_view key, const std::string& fallback);
  std::vector<std::int64_t> integers(std::string_view key);         // none: empty
  std::size_t entries(std::string_view key, std::size_t fallback);  // of an object
  // Whether the first of "architectures" ends so: "ForMaskedLM".
  bool is_for(std::string_view task);
  // Refuses a model with another head than these; "architectures" may be missing.
  void allow_tasks(std::initializer_list<std::string_view> tasks);

  // These are known, and change no shape and no work worth naming.
  void pass(std::initializer_list<std::string_view> keys);
  void refuse_others() const;
  [[noreturn]] void fail(std::string_view key, std::string problem, std::string remedy) const;

 private:
  std::optional<JsonView> value(std::string_view key);

  JsonView config_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace strato::transformers_import
