#include "core/cluster/read/gpu_ports.h"

#include <algorithm>
#include <string_view>

namespace strato {
namespace {

struct Architecture {
  std::string_view name;
  GpuPorts ports;
};
constexpr Architecture kArchitectures[] = {
    {"Kepler", {0, 3}},     {"Maxwell", {0, 3}}, {"Pascal", {4, 3}},       {"Volta", {6, 3}},
    {"Turing", {2, 3}},     {"Ampere", {12, 4}}, {"Ada Lovelace", {0, 4}}, {"Hopper", {18, 5}},
    {"Blackwell", {18, 5}}, {"GCN 5", {2, 4}},   {"CDNA", {3, 4}},         {"CDNA 2", {8, 4}},
    {"CDNA 3", {7, 5}},     {"CDNA 4", {7, 5}}};

// Export variants have fewer than their architecture.
constexpr std::pair<std::string_view, int> kFewer[] = {{"A800", 8}, {"H800", 8}};

}  // namespace

GpuPorts ports_of(const GpuType& type) {
  const auto known = std::ranges::find(kArchitectures, type.architecture, &Architecture::name);
  return known == std::end(kArchitectures) ? GpuPorts() : known->ports;
}

int board_links_of(const GpuType& type) {
  const std::string_view name = type.name;
  for (const auto& [variant, links] : kFewer)
    if (name.starts_with(variant)) return links;
  const bool board = name.find("SXM") != name.npos || name.starts_with("GB200") ||
                     name.starts_with("GH200") || name.starts_with("H20-") || name == "MI300X" ||
                     name == "MI325X" || name == "MI350X" || name == "MI355X";
  return board ? ports_of(type).nvlinks : 0;
}

}  // namespace strato
