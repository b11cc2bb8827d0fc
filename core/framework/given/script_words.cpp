#include "core/framework/given/script_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "core/base/error.h"

namespace strato::frameworks {
namespace {

using Words = std::vector<ScriptWord>;

bool is_name_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void check_is_text(std::string_view text, const std::string& file) {
  if (text.find('\0') != std::string_view::npos)
    throw InputError(file, "", "is no text", "give a shell script or a YAML file");
}

class ScriptReader {
 public:
  ScriptReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Words read() {
    while (at_ < text_.size()) step();
    end_command();
    if (in_array_)
      refuse("an array is not closed", fmt::format("end {}=( with a )", array_name_), array_line_);
    return chosen();
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& remedy, int line) const {
    throw InputError(file_, fmt::format("line {}", line), what, remedy);
  }

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  char take() {
    if (text_[at_] == '\n') ++line_;
    return text_[at_++];
  }

  // ---- words

  void step() {
    const char c = peek();
    if (c == '\\' && peek(1) == '\n') {
      take(), take();
    } else if (c == '\\' && peek(1) == '\r' && peek(2) == '\n') {
      take(), take(), take();
    } else if (c == '#' && !open_) {
      while (at_ < text_.size() && peek() != '\n') take();
    } else if (c == ' ' || c == '\t' || c == '\r') {
      take(), end_word();
    } else if (c == '\n' || c == ';' || c == '&') {
      take(), end_word();
      if (!in_array_) end_command();
    } else if (c == '(' || c == ')') {
      bracket(c);
    } else if (c == '|') {
      bar();
    } else if (c == '>' || c == '<') {
      redirection();
    } else {
      letter(c);
    }
  }

  void bar() {
    if (open_ || in_array_)
      refuse("a | is not in quotes, and would end the command", "put the value into quotes", line_);
    take();
    end_command();
  }

  // "2> file": none of it is a word of the program, up to the end of the line.
  void redirection() {
    if (word_.text.find_first_not_of("0123456789") == std::string::npos) word_ = {}, open_ = false;
    end_word();
    while (at_ < text_.size() && peek() != '\n') take();
  }

  void bracket(char c) {
    if (c == '(' && open_ && !in_array_ && word_.text.ends_with('=')) {
      take();
      word_.text.pop_back();
      const bool more = word_.text.ends_with('+');
      if (more) word_.text.pop_back();
      in_array_ = true;
      array_line_ = line_;
      array_name_ = std::exchange(word_, {}).text;
      if (!more) arrays_[array_name_].clear();
      open_ = false;
      if (std::ranges::find(array_order_, array_name_) == array_order_.end())
        array_order_.push_back(array_name_);
      return;
    }
    if (c == ')' && in_array_) {
      take(), end_word();
      in_array_ = false;
      return;
    }
    if (in_array_ || open_)
      refuse("a bracket is not in quotes", "put the value into quotes", line_);
    take();  // of a function, or of commands among themselves
  }

  void begin_word() {
    if (!open_) word_.line = line_;
    open_ = true;
  }

  void letter(char c) {
    begin_word();
    if (c == '\'') {
      quoted();
    } else if (c == '"') {
      quoted_with_variables();
    } else if (c == '$') {
      variable(false);
    } else if (c == '\\') {
      take();
      if (at_ < text_.size()) word_.text += take();
    } else {
      word_.text += take();
    }
  }

  void quoted() {
    const int line = line_;
    take();
    while (at_ < text_.size() && peek() != '\'') word_.text += take();
    close_quote('\'', line);
  }

  void quoted_with_variables() {
    const int line = line_;
    take();
    while (at_ < text_.size() && peek() != '"') {
      if (peek() == '$') {
        variable(true);
      } else if (peek() == '\\' &&
                 std::string_view("\"\\$`\n").find(peek(1)) != std::string_view::npos) {
        take();
        if (const char c = take(); c != '\n') word_.text += c;
      } else {
        word_.text += take();
      }
    }
    close_quote('"', line);
  }

  void close_quote(char quote, int line) {
    if (peek() != quote) refuse(fmt::format("a {} is not closed", quote), "close it", line);
    take();
  }

  // ---- what is behind a $

  // "NAME[@]" of "${NAME[@]}", "1" of "$1", "(date)" of "$(date)".
  std::string variable_name() {
    take();
    const char open = peek();
    if (open == '{') return up_to('{', '}');
    if (open == '(') return "(" + up_to('(', ')') + ")";
    if (open == '@' || open == '*' || open == '#' || open == '?') return {take()};
    std::string name;
    while (is_name_letter(peek())) name += take();
    return name;
  }
  std::string up_to(char open, char close) {
    const int line = line_;
    take();
    std::string name;
    for (int depth = 1; at_ < text_.size(); name += take()) {
      if (peek() == open) ++depth;
      if (peek() == close && --depth == 0) return take(), name;
    }
    refuse(fmt::format("a {} is not closed", open), fmt::format("close it with a {}", close), line);
  }

  // What stands for a variable may hold others, each twice as long as the one before.
  void count(std::size_t letters) {
    constexpr std::size_t kMostLetters = std::size_t{16} << 20;
    put_in_ += letters;
    if (put_in_ > kMostLetters)
      refuse("the variables hold more than 16 MB in all", "write their values out", line_);
  }

  void variable(bool in_quotes) {
    std::string name = variable_name();
    if (name == "@" || name == "*") {  // what the script is called with
      open_ = !word_.text.empty();
      return;
    }
    if (name.ends_with("[@]") || name.ends_with("[*]")) return put_array(name);
    const auto known = values_.find(name);
    if (known == values_.end()) {
      const bool plain = std::ranges::all_of(name, is_name_letter) || name.starts_with('(');
      const std::string whole = plain ? "$" + name : "${" + name + "}";
      word_.text += whole;
      if (word_.unknown.empty()) word_.unknown = whole;
    } else {
      count(known->second.size());
      in_quotes ? void(word_.text += known->second) : put_words(known->second);
    }
  }

  void put_array(const std::string& name) {
    const auto array = arrays_.find(name.substr(0, name.size() - 3));
    if (array == arrays_.end()) {
      word_.unknown = "${" + name + "}";
      word_.text += word_.unknown;
      return;
    }
    Words& to = in_array_ ? arrays_[array_name_] : command_;
    for (const ScriptWord& word : array->second) count(sizeof word + word.text.size());
    const Words copy = array->second;
    to.insert(to.end(), copy.begin(), copy.end());
    open_ = false;
    word_ = {};
  }

  // A variable outside of quotes may be several words.
  void put_words(const std::string& value) {
    std::istringstream parts(value);
    std::string part;
    for (bool first = true; parts >> part; first = false) {
      if (!first) end_word();
      begin_word();
      word_.text += part;
    }
  }

  // ---- commands

  void end_word() {
    if (!open_) return;
    open_ = false;
    ScriptWord word = std::exchange(word_, {});
    if (in_array_) {
      arrays_[array_name_].push_back(std::move(word));
    } else if (!sets_a_variable(word)) {
      command_.push_back(std::move(word));
    }
  }

  // NAME=value in front of a command, or behind export.
  bool sets_a_variable(const ScriptWord& word) {
    const std::size_t end = word.text.find('=');
    const bool is_first =
        command_.empty() || (command_.size() == 1 && command_[0].text == "export");
    if (!is_first || end == 0 || end == std::string::npos ||
        !std::all_of(word.text.begin(), word.text.begin() + static_cast<std::ptrdiff_t>(end),
                     is_name_letter))
      return false;
    const std::string name = word.text.substr(0, end);
    word.unknown.empty() ? void(values_[name] = word.text.substr(end + 1))
                         : void(values_.erase(name));
    return true;
  }

  void end_command() {
    end_word();
    if (!command_.empty()) commands_.push_back(std::exchange(command_, {}));
  }

  Words chosen() const {
    const auto is_program = [](const ScriptWord& word) { return word.text.ends_with(".py"); };
    for (std::size_t i = commands_.size(); i-- > 0;)
      if (const auto program = std::ranges::find_if(commands_[i], is_program);
          program != commands_[i].end())
        return {std::next(program), commands_[i].end()};
    Words all;
    for (const std::string& name : array_order_)
      if (const auto array = arrays_.find(name); array != arrays_.end())
        all.insert(all.end(), array->second.begin(), array->second.end());
    if (!all.empty()) return all;
    for (const Words& command : commands_) all.insert(all.end(), command.begin(), command.end());
    const auto first = std::ranges::find_if(
        all, [](const ScriptWord& word) { return word.text.starts_with("--"); });
    return {first, all.end()};
  }

  const std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t put_in_ = 0;  // letters, for variables
  ScriptWord word_;
  bool open_ = false;  // a word has begun, which may be empty yet
  bool in_array_ = false;
  int array_line_ = 1;
  std::string array_name_;
  Words command_;
  std::vector<Words> commands_;
  std::map<std::string, Words> arrays_;
  std::vector<std::string> array_order_;
  std::map<std::string, std::string> values_;
};

std::string without_quotes(const std::string& text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() &&
                      (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::vector<ScriptWord> script_words(std::string_view text, const std::string& file) {
  check_is_text(text, file);
  return ScriptReader(text, file).read();
}

std::vector<ScriptWord> yaml_words(std::string_view text, const std::string& file) {
  check_is_text(text, file);
  Words words;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (const auto comment = line.find(" #"); comment != std::string::npos) line.resize(comment);
    const auto begin = line.find_first_not_of(" \t-\"'");
    if (begin == std::string::npos || begin < 2 || line.substr(begin - 2, 2) != "--") continue;
    const auto end = std::min(line.find_first_of(" \t:=\"'\r", begin), line.size());
    const auto value_begin = std::min(line.find_first_not_of(" \t:=\"'\r", end), line.size());
    std::string value = line.substr(value_begin);
    // The quote in front of the value, which was passed over, ends it, too.
    while (!value.empty() &&
           std::string_view(" \t\r\"'").find(value.back()) != std::string_view::npos)
      value.pop_back();
    value = without_quotes(value);
    if (value == "false" || value == "null") continue;
    words.push_back({"--" + line.substr(begin, end - begin), "", number});
    std::istringstream parts(value == "true" ? "" : value);
    for (std::string part; parts >> part;) {
      const auto variable = part.find('$');
      words.push_back({part, variable == std::string::npos ? "" : part.substr(variable), number});
    }
  }
  return words;
}

}  // namespace strato::frameworks
