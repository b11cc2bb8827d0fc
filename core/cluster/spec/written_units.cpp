#include "core/cluster/spec/written_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strato {
namespace {

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

void refuse(const JsonView& view, std::span<const Unit> units, std::string_view what) {
  if (!view.is_string()) return;
  const std::string text = view.string();
  if (const auto number = quantity(text, units))
    view.fail(fmt::format("is \"{}\"", text.substr(0, 64)),
              fmt::format("write {:.15g}, the number of {}", *number, what));
}

}  // namespace

void refuse_written_bandwidth(const JsonView& view) {
  refuse(view, kBandwidths, "10^9 bytes per second");
}

void refuse_written_latency(const JsonView& view) { refuse(view, kLatencies, "microseconds"); }

void refuse_written_memory(const JsonView& view) { refuse(view, kMemories, "bytes"); }

}  // namespace strato
