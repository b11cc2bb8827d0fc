#include "core/framework/layout/stage_string.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/number_from.h"

namespace strato::frameworks {
namespace {

std::string text_of(const Block& block) {
  std::string text = block.embedding ? "E" : "";
  if (block.layers == 1) text += "t";
  if (block.layers > 1) text += fmt::format("t*{}", block.layers);
  if (block.head) text += block.layers > 1 ? ",L" : "L";
  return text;
}

// Writes out what is repeated: a text of E, t, L and '|' alone.
class Unrolling {
 public:
  Unrolling(std::string_view text, std::string file, std::string place)
      : text_(text), file_(std::move(file)), place_(std::move(place)) {
    std::erase(text_, ',');
    std::erase(text_, ' ');
  }

  std::string run() {
    while (at_ < text_.size()) add(next());
    return std::move(result_);
  }

  [[noreturn]] void refuse(const std::string& problem, const std::string& remedy) const {
    throw InputError(file_, place_, problem, remedy);
  }

 private:
  static constexpr std::size_t kMost = 100'000;
  static constexpr std::string_view kForm = "write it as \"Et*2|(t*2|)*34,t*3|tL\"";

  std::string next() {
    if (text_[at_] != '(') return text_.substr(at_++, 1);
    const std::size_t end = text_.find_first_of("()", at_ + 1);
    if (end == std::string::npos || text_[end] == '(' || end == at_ + 1 ||
        text_.substr(end + 1, 1) != "*")
      refuse("has a bracket that is not closed, empty, not repeated, or in another one",
             std::string(kForm));
    const std::string inner = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return Unrolling(inner, file_, place_).run();
  }

  std::int32_t times() {
    if (text_.substr(at_, 1) != "*") return 1;
    const std::size_t end = text_.find_first_not_of("0123456789", at_ + 1);
    const std::string digits =
        text_.substr(at_ + 1, end == std::string::npos ? end : end - at_ - 1);
    const auto count = number_from<std::int32_t>(digits, 1, static_cast<std::int32_t>(kMost));
    if (!count)
      refuse(fmt::format("repeats something \"{}\" times", digits.substr(0, 20)),
             "give a number from 1 to 100000 behind each *");
    at_ += 1 + digits.size();
    return *count;
  }

  void add(const std::string& piece) {
    if (piece.find_first_not_of("EtL|") != std::string::npos) refuse_letter(piece);
    const auto count = static_cast<std::size_t>(times());
    if (result_.size() + piece.size() * count > kMost)
      refuse("has more than 100000 layers and stages", std::string(kForm));
    for (std::size_t i = 0; i < count; ++i) result_ += piece;
  }

  [[noreturn]] void refuse_letter(const std::string& piece) const {
    if (piece.find('m') != std::string::npos)
      refuse("has a layer of multi-token prediction (m), which the imported model has not",
             "take m out, and a stage that has nothing else");
    refuse(fmt::format("has \"{}\", which is none of E, t, L, |, (, ) and *", piece.substr(0, 20)),
           std::string(kForm));
  }

  std::string text_, file_, place_;
  std::string result_;
  std::size_t at_ = 0;
};

void add_to(Block& block, char letter) {
  if (letter == 'E') block.embedding = true;
  if (letter == 't') ++block.layers;
  if (letter == 'L') block.head = true;
}

}  // namespace

std::string stage_string(const std::vector<Block>& blocks) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < blocks.size(); first = last) {
    const std::string one = text_of(blocks[first]);
    while (last + 1 < blocks.size() && text_of(blocks[last]) == one) ++last;
    const std::size_t count = last - first;
    if (last == first) {  // the last block, or the only one of its kind
      last = first + 1;
      text += one + (last < blocks.size() ? "|" : "");
    } else if (count == 1) {
      text += one + "|";
    } else {
      text += fmt::format("({}|)*{},", one, count);
    }
  }
  return text;
}

std::vector<Block> parse_stage_string(std::string_view text, const std::string& file,
                                      const std::string& place) {
  Unrolling unrolling(text, file, place);
  const std::string letters = unrolling.run();
  if (letters.find('E') != 0 || letters.find('L') != letters.size() - 1 ||
      std::ranges::count(letters, 'E') != 1)
    unrolling.refuse("does not begin with its only E and end with its only L",
                     "write it as \"Et*2|(t*2|)*34,t*3|tL\"");
  std::vector<Block> blocks(1);
  for (const char letter : letters)
    letter == '|' ? static_cast<void>(blocks.emplace_back()) : add_to(blocks.back(), letter);
  if (std::ranges::find(blocks, Block{}) != blocks.end())
    unrolling.refuse("has a stage with nothing in it", "give each stage a layer, E or L");
  return blocks;
}

}  // namespace strato::frameworks
