// The arguments of a command line by name, read as what they have to be. Marks those that somebody
// asked for. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/framework/megatron/script_words.h"

namespace strato::frameworks {

class GivenArguments {
 public:
  // Throws InputError where a word belongs to no argument, where there is no argument at all, and
  // where one is given twice with other values.
  GivenArguments(const std::vector<ScriptWord>& words, std::string file);

  bool has(const std::string& name);
  const std::vector<std::string>& values(const std::string& name) const;  // of one that is there
  std::vector<std::string> unread() const;                                // ascending

  // Throw InputError for another number of values, for one with a variable that nobody set, and for
  // one that is not what it has to be.
  bool flag(const std::string& name);
  std::optional<std::string> text(const std::string& name);
  std::optional<std::int32_t> number(const std::string& name);  // from 1 to a million
  std::string one_of(const std::string& name, const std::vector<std::string>& words);  // or empty

  [[noreturn]] void refuse(const std::string& name, const std::string& problem,
                           const std::string& remedy) const;

 private:
  struct Given {
    std::vector<std::string> values = {};
    std::string unknown = {};  // the first variable in them that nobody set
    int line = 1;
    bool read = false;
  };
  void put(const std::string& name, const Given& given);
  [[noreturn]] void refuse_loose(const ScriptWord& word) const;

  std::string file_;
  std::map<std::string, Given> given_;
};

// A text from a file, not too long for a message.
std::string shortened(const std::string& text);

}  // namespace strato::frameworks
