#include "core/cluster/spec/gpu_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <ranges>
#include <span>

#include "core/io/file.h"
#include "core/io/json.h"

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

std::array<double, kPrecisions> peaks(const JsonView& view) {
  if (!view.is_object())
    view.fail("is not an object",
              R"(write {"fp32": 15.7, "fp16": 125}: 10^12 operations per second)");
  view.allow_only({"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"});
  view.at("fp32");  // every op has a rate at the precision that training starts from
  std::array<double, kPrecisions> result{};
  for (std::size_t i = 0; i < kPrecisions; ++i)
    if (const auto peak = view.find(name_of(static_cast<Precision>(i))))
      result[i] = positive_between(*peak, 1e-6, 1e6) * 1e12;
  return result;
}

// The short decimal that was read: scaling it up again gives `value` to the last bit, so that a
// cluster that is written and read back keeps its digest.
double scaled_down(double value, double scale) {
  for (const int digits : {12, 15, 16, 17}) {
    const double candidate = std::stod(fmt::format("{:.{}g}", value / scale, digits));
    if (candidate * scale == value) return candidate;
  }
  for (const double bound : {0.0, 1e300}) {
    const double candidate = std::nextafter(value / scale, bound);
    if (candidate * scale == value) return candidate;
  }
  return value / scale;
}

// A text, or an object of texts (one per figure) as in the catalogue.
std::string sources(const JsonView& view) {
  if (!view.is_object()) return view.string();
  std::string text;
  for (const auto& [key, value] : view.members())
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", key, value.string());
  return text;
}

struct Unit {
  std::string_view name;  // as written, but without spaces
  double factor;
};

// A capital B is a byte, a small b a bit.
constexpr Unit kBandwidths[] = {
    {"Kbps", 1.25e-7},   {"kbps", 1.25e-7},     {"Mbps", 1.25e-4}, {"Mb/s", 1.25e-4},
    {"Mbit/s", 1.25e-4}, {"Gbps", 0.125},       {"gbps", 0.125},   {"Gb/s", 0.125},
    {"Gbit/s", 0.125},   {"Gbit", 0.125},       {"GbE", 0.125},    {"GbIB", 0.125},
    {"Tbps", 125},       {"Tb/s", 125},         {"MB/s", 1e-3},    {"MBps", 1e-3},
    {"GB/s", 1},         {"GBps", 1},           {"GB", 1},         {"TB/s", 1e3},
    {"TBps", 1e3},       {"GiB/s", 1.073741824}};
constexpr Unit kLatencies[] = {{"ns", 1e-3}, {"us", 1},   {"µs", 1},
                               {"μs", 1},    {"ms", 1e3}, {"s", 1e6}};
constexpr double kMi = 1048576, kGi = 1073741824;
constexpr Unit kMemories[] = {{"B", 1},    {"MB", kMi},  {"MiB", kMi},       {"M", kMi},
                              {"GB", kGi}, {"GiB", kGi}, {"G", kGi},         {"gb", kGi},
                              {"Gb", kGi}, {"g", kGi},   {"TB", kGi * 1024}, {"TiB", kGi * 1024}};

// By Written: the units, and what is counted.
constexpr std::pair<std::span<const Unit>, std::string_view> kWritten[] = {
    {kBandwidths, "10^9 bytes per second"}, {kLatencies, "microseconds"}, {kMemories, "bytes"}};

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

double positive_between(const JsonView& view, double low, double high) {
  const double value = view.positive_number();
  return value < low || value > high ? view.number(low, high) : value;
}

GpuType gpu_from_json(const JsonView& view) {
  view.allow_only({"name", "aliases", "architecture", "year", "memory_bytes",
                   "memory_bandwidth_GBps", "peak_tflops", "sources", "note", "compute",
                   "pci_devices"});
  GpuType gpu;
  gpu.name = view.at("name").string();
  if (gpu.name.empty()) view.at("name").fail("is empty", "give the GPU a name");
  if (const auto aliases = view.find("aliases"))
    for (const JsonView& alias : aliases->items()) gpu.aliases.push_back(alias.string());
  if (const auto value = view.find("architecture")) gpu.architecture = value->string();
  if (const auto value = view.find("compute")) gpu.compute = value->string();
  if (const auto devices = view.find("pci_devices"))
    for (const JsonView& device : devices->items()) gpu.pci_devices.push_back(device.string());
  if (const auto value = view.find("year")) gpu.year = static_cast<int>(value->integer(1990, 2100));
  refuse_written(Written::Memory, view.at("memory_bytes"));
  refuse_written(Written::Bandwidth, view.at("memory_bandwidth_GBps"));
  gpu.memory = Bytes(view.at("memory_bytes").integer(1, std::int64_t{1} << 50));
  gpu.memory_bandwidth = positive_between(view.at("memory_bandwidth_GBps"), 1e-3, 1e6) * 1e9;
  gpu.peak_flops = peaks(view.at("peak_tflops"));
  if (const auto value = view.find("sources")) gpu.sources = sources(*value);
  return gpu;
}

Json gpu_to_json(const GpuType& gpu) {
  Json json = {{"name", gpu.name}};
  if (!gpu.aliases.empty()) json["aliases"] = gpu.aliases;
  if (!gpu.architecture.empty()) json["architecture"] = gpu.architecture;
  if (gpu.year != 0) json["year"] = gpu.year;
  json["memory_bytes"] = gpu.memory.value;
  json["memory_bandwidth_GBps"] = scaled_down(gpu.memory_bandwidth, 1e9);
  Json& peak = json["peak_tflops"] = Json::object();
  for (std::size_t i = 0; i < kPrecisions; ++i)
    if (gpu.peak_flops[i] > 0)
      peak[std::string(name_of(static_cast<Precision>(i)))] = scaled_down(gpu.peak_flops[i], 1e12);
  if (!gpu.sources.empty()) json["sources"] = gpu.sources;
  return json;
}

void refuse_written(Written written, const JsonView& view) {
  if (!view.is_string()) return;
  const std::string text = view.string();
  const auto& [units, what] = kWritten[static_cast<std::size_t>(written)];
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string unit = end;
  std::erase(unit, ' ');
  const auto known = std::ranges::find(units, unit, &Unit::name);
  if (known == units.end() || !std::isfinite(number) || number <= 0) return;
  view.fail(fmt::format("is \"{}\"", text.substr(0, 64)),
            fmt::format("write {:.15g}, the number of {}", number * known->factor, what));
}

}  // namespace strato
