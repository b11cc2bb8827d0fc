#include "core/cluster/read/mig_slice.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/number_from.h"

namespace strato {

std::optional<MigSlice> mig_slice_from(std::string_view profile) {
  const std::string_view plain = profile.substr(0, profile.find('+'));
  const std::size_t dot = plain.find("g.");
  if (dot == std::string_view::npos || !plain.ends_with("gb")) return std::nullopt;
  const auto compute = number_from(plain.substr(0, dot), 1, 8);
  const auto gigabytes = number_from(plain.substr(dot + 2, plain.size() - dot - 4), 1, 1024);
  if (!compute || !gigabytes || profile.size() > 24) return std::nullopt;
  return MigSlice{std::string(profile), *compute, *gigabytes};
}

std::optional<GpuType> type_of_slice(const GpuType& whole, const MigSlice& slice) {
  const int multiprocessors = whole.name == "A30" ? 4 : 7, memories = whole.name == "A30" ? 4 : 8;
  const Bytes memory(std::int64_t{slice.gigabytes} << 30);
  if (slice.compute > multiprocessors || memory > whole.memory) return std::nullopt;
  const int part = std::max(1, static_cast<int>(std::lround(memories * (memory / whole.memory))));
  GpuType type = whole;
  type.name = fmt::format("{} MIG {}", whole.name, slice.profile);
  type.aliases.clear();
  type.memory = memory;
  type.memory_bandwidth *= static_cast<double>(part) / memories;
  for (double& peak : type.peak_flops) peak *= static_cast<double>(slice.compute) / multiprocessors;
  type.sources = fmt::format(
      "{}/{} of the multiprocessors and {}/{} of the memory bandwidth of {} (NVIDIA MIG User "
      "Guide)\n{}",
      slice.compute, multiprocessors, part, memories, whole.name, whole.sources);
  return type;
}

}  // namespace strato
