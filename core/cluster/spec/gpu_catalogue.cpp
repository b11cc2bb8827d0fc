#include "core/cluster/spec/gpu_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <numeric>
#include <ranges>

#include "core/cluster/spec/cluster_spec.h"
#include "core/io/file.h"

namespace strato {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "A100-80G": a, 100, 80, g.
std::vector<std::string> words_of(std::string_view name) {
  enum class Kind { Other, Digit, Letter } last = Kind::Other;
  std::vector<std::string> words;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const Kind kind = is_digit(c) ? Kind::Digit : std::isalpha(byte) ? Kind::Letter : Kind::Other;
    if (kind != last && kind != Kind::Other) words.emplace_back();
    if (kind != Kind::Other) words.back() += static_cast<char>(std::tolower(byte));
    last = kind;
  }
  return words;
}

// Lower case, letters and digits only: people differ in hyphens and spaces.
std::string plain(std::string_view name) {
  return fmt::format("{}", fmt::join(words_of(name), ""));
}

std::size_t distance(const std::string& wanted, std::string_view candidate) {
  const std::string name = plain(candidate);
  if (!wanted.empty() && name.find(wanted) != std::string::npos) return 0;
  return edit_distance(wanted, name);
}

// "Quadro" and "Radeon" tell GPUs apart.
bool is_makers(const std::string& word) {
  static constexpr std::array<std::string_view, 7> kMakers = {
      "nvidia", "tesla", "geforce", "amd", "instinct", "gpu", "generation"};
  return std::ranges::find(kMakers, word) != kMakers.end();
}

// People and programs spell one GPU's name differently; all spellings get one key: "NVIDIA
// A100-SXM4-80GB" (nvidia-smi), "a100_80gb" and "tesla_v100-sxm2-32gb" (Slurm), "A100 80G". It has
// the name's words and numbers in an order of their own, without the maker's: equal for spellings
// that differ in case, hyphens, spaces, order, "GB" or "G", and a leading "NVIDIA Tesla".
std::string gpu_key(std::string_view name) {
  std::vector<std::string> words = words_of(name);
  for (std::size_t i = 1; i < words.size(); ++i)
    if (is_digit(words[i - 1][0]) && (words[i] == "g" || words[i] == "gib")) words[i] = "gb";
  std::erase_if(words, is_makers);
  std::ranges::sort(words);
  return fmt::format("{}", fmt::join(words, " "));
}

std::vector<std::string_view> names_of(const GpuType& gpu) {
  std::vector<std::string_view> names(gpu.aliases.begin(), gpu.aliases.end());
  names.emplace_back(gpu.name);
  return names;
}

template <class Gpus, class IsName>
const GpuType* find_named(const Gpus& gpus, const IsName& is_name) {
  const auto found = std::ranges::find_if(
      gpus, [&](const GpuType& gpu) { return std::ranges::any_of(names_of(gpu), is_name); });
  return found == gpus.end() ? nullptr : &*found;
}

}  // namespace

bool same_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

const GpuType* find_as_written(const std::vector<GpuType>& gpus, std::string_view name) {
  return find_named(gpus, [&](std::string_view own) { return same_ignoring_case(own, name); });
}

GpuCatalogue GpuCatalogue::read(const std::filesystem::path& file) {
  const JsonView root = JsonView::parse(read_file(file), file.string());
  root.expect_format("stratoscope-gpus", 1);
  root.allow_only({"format", "version", "note", "gpus"});
  GpuCatalogue catalogue;
  for (const JsonView& entry : root.at("gpus").items()) {
    GpuType gpu = gpu_from_json(entry);
    for (const std::string_view name : names_of(gpu))
      if (find_as_written(catalogue.gpus(), name) != nullptr)
        entry.fail(fmt::format("repeats the name \"{}\"", name), "give every GPU names of its own");
    catalogue.add(std::move(gpu));
  }
  return catalogue;
}

const GpuCatalogue& GpuCatalogue::bundled() {
  static const GpuCatalogue catalogue = read(home_directory() / "resources" / "gpus.json");
  return catalogue;
}

const GpuType* GpuCatalogue::find(std::string_view name) const {
  if (const GpuType* gpu = find_as_written(gpus_, name)) return gpu;
  const std::string key = gpu_key(name);
  if (key.empty()) return nullptr;
  return find_named(gpus_, [&](std::string_view own) { return gpu_key(own) == key; });
}

std::vector<std::string> GpuCatalogue::nearest(std::string_view name) const {
  const std::string wanted = plain(name.substr(0, 64));
  std::multimap<std::size_t, std::string> ranked;  // by distance
  for (const GpuType& gpu : gpus_) {
    std::size_t best = std::string::npos;
    for (const std::string_view own : names_of(gpu)) best = std::min(best, distance(wanted, own));
    ranked.emplace(best, gpu.name);
  }
  std::vector<std::string> names;
  for (const auto& [rank, near] : std::views::take(ranked, 3)) names.push_back(near);
  return names;
}

}  // namespace strato
