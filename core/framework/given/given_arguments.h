// The arguments of a command line, or the values of a configuration, by name, read as what they
// have to be. Marks those that somebody asked for. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/framework/given/script_words.h"

namespace strato {
class JsonView;
}

namespace strato::frameworks {

class GivenArguments {
 public:
  // Throws InputError where a word belongs to no argument, where there is no argument at all, and
  // where one is given twice with other values.
  GivenArguments(const std::vector<ScriptWord>& words, std::string file);
  // The values of a tree: "a.b.c" of { a: { b: { c: 1 } } }, "a.0" for each item of a list of
  // lists or objects; a list of texts or numbers is one argument of several values. What is null
  // is not there.
  GivenArguments(const JsonView& tree, std::string file);

  const std::string& file() const { return file_; }
  bool has(const std::string& name);
  // The first of these names that is there; the last where none is. Marks all of them.
  std::string first_of(std::initializer_list<std::string_view> names);
  const std::vector<std::string>& values(const std::string& name) const;  // of one that is there
  std::vector<std::string> unread() const;                                // ascending
  std::vector<std::string> names() const;                                 // ascending

  // The same under other names; where that makes two of one name, it is the first.
  void rename(const std::function<std::string(const std::string&)>& name_of);

  // Throw InputError for another number of values, for one with a variable that nobody set, and for
  // one that is not what it has to be.
  bool flag(const std::string& name);                      // of a command line: a name alone
  std::optional<bool> yes_or_no(const std::string& name);  // alone is yes
  std::optional<std::string> text(const std::string& name);
  std::optional<std::int32_t> number(const std::string& name);  // from 1 to a million
  // `nothing`: what stands for no number at all ("-1", "auto").
  std::optional<std::int32_t> number_unless(const std::string& name,
                                            std::initializer_list<std::string_view> nothing);
  std::string one_of(const std::string& name, const std::vector<std::string>& words);  // or empty

  [[noreturn]] void refuse(const std::string& name, const std::string& problem,
                           const std::string& remedy) const;

 private:
  struct Given {
    std::vector<std::string> values = {};
    std::string unknown = {};  // the first variable in them that nobody set
    int line = 0;              // 0: not known
    bool read = false;
  };
  void put(const std::string& name, const Given& given);
  void put_tree(const std::string& name, const JsonView& value);
  [[noreturn]] void refuse_loose(const ScriptWord& word) const;

  std::string file_;
  std::map<std::string, Given> given_;
};

// A text from a file, not too long for a message.
std::string shortened(const std::string& text);

}  // namespace strato::frameworks
