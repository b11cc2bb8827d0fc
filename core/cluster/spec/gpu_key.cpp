#include "core/cluster/spec/gpu_key.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/cluster/spec/gpu_json.h"

namespace strato {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// "A100-80G": a, 100, 80, g.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < name.size();) {
    const auto kind = is_digit(name[i]) ? is_digit : is_letter;
    std::string word;
    for (; i < name.size() && kind(name[i]); ++i)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
    if (word.empty()) {
      ++i;
    } else {
      words.push_back(std::move(word));
    }
  }
  return words;
}

// "Quadro" and "Radeon" tell GPUs apart.
bool is_makers(const std::string& word) {
  static constexpr std::array<std::string_view, 7> kMakers = {
      "nvidia", "tesla", "geforce", "amd", "instinct", "gpu", "generation"};
  return std::ranges::find(kMakers, word) != kMakers.end();
}

}  // namespace

std::string gpu_key(std::string_view name) {
  std::vector<std::string> words = words_of(name);
  for (std::size_t i = 1; i < words.size(); ++i)
    if (is_digit(words[i - 1][0]) && (words[i] == "g" || words[i] == "gib")) words[i] = "gb";
  std::erase_if(words, is_makers);
  std::ranges::sort(words);
  std::string key;
  for (const std::string& word : words) key += word + ' ';
  return key;
}

const GpuType* find_as_written(const std::vector<GpuType>& gpus, std::string_view name) {
  const auto is_called = [&](const GpuType& gpu) {
    return same_ignoring_case(gpu.name, name) ||
           std::ranges::any_of(gpu.aliases, [&](const std::string& alias) {
             return same_ignoring_case(alias, name);
           });
  };
  const auto found = std::ranges::find_if(gpus, is_called);
  return found == gpus.end() ? nullptr : &*found;
}

}  // namespace strato
