// One GPU type as JSON, and quantities with units.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/cluster/spec/cluster_spec.h"

namespace strato {
namespace {

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

std::optional<double> quantity(const std::string& text, std::span<const Unit> units) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number) || number <= 0) return std::nullopt;
  std::string unit = end;
  std::erase(unit, ' ');
  const auto known = std::ranges::find(units, unit, &Unit::name);
  if (known == units.end()) return std::nullopt;
  return number * known->factor;
}

struct WrittenUnits {
  std::span<const Unit> units;
  std::string_view what;
};
// By Written.
constexpr WrittenUnits kWritten[] = {
    {kBandwidths, "10^9 bytes per second"}, {kLatencies, "microseconds"}, {kMemories, "bytes"}};

}  // namespace

double positive_between(const JsonView& view, double low, double high) {
  const double value = view.positive_number();
  return value < low || value > high ? view.number(low, high) : value;
}

GpuType gpu_from_json(const JsonView& view) {
  view.allow_only({"name", "aliases", "architecture", "year", "memory_bytes",
                   "memory_bandwidth_GBps", "peak_tflops", "sources", "note"});
  GpuType gpu;
  gpu.name = view.at("name").string();
  if (gpu.name.empty()) view.at("name").fail("is empty", "give the GPU a name");
  if (const auto aliases = view.find("aliases"))
    for (const JsonView& alias : aliases->items()) gpu.aliases.push_back(alias.string());
  if (const auto value = view.find("architecture")) gpu.architecture = value->string();
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
  if (const auto number = quantity(text, units))
    view.fail(fmt::format("is \"{}\"", text.substr(0, 64)),
              fmt::format("write {:.15g}, the number of {}", *number, what));
}

}  // namespace strato
