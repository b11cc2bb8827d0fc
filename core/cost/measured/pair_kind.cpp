#include "core/cost/measured/pair_kind.h"

#include <algorithm>
#include <cctype>

namespace strato {
namespace {

constexpr std::string_view kSame = "/same machine";
constexpr std::string_view kOther = "/other machine";

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

std::optional<GpuTypeId> gpu_called(const Cluster& cluster, std::string_view name) {
  for (std::size_t i = 0; i < cluster.gpu_types().size(); ++i) {
    const GpuType& gpu = cluster.gpu_types()[GpuTypeId(i)];
    const bool alias = std::any_of(gpu.aliases.begin(), gpu.aliases.end(),
                                   [&](const std::string& text) { return same_name(text, name); });
    if (alias || same_name(gpu.name, name)) return GpuTypeId(i);
  }
  return std::nullopt;
}

}  // namespace

PairKind kind_of(const Cluster& cluster, DeviceId from, DeviceId to) {
  const Device &a = cluster.device(from), &b = cluster.device(to);
  return {a.type, b.type, a.machine == b.machine};
}

std::optional<PairKind> parse_pair_kind(const Cluster& cluster, std::string_view from,
                                        std::string_view to) {
  const bool same = to.ends_with(kSame);
  if (!same && !to.ends_with(kOther)) return std::nullopt;
  to.remove_suffix(same ? kSame.size() : kOther.size());
  const std::optional<GpuTypeId> source = gpu_called(cluster, from),
                                 target = gpu_called(cluster, to);
  if (!source || !target) return std::nullopt;
  return PairKind{*source, *target, same};
}

std::string text_of(const Cluster& cluster, const PairKind& kind) {
  return cluster.gpu_types()[kind.from].name + " to " + cluster.gpu_types()[kind.to].name +
         (kind.same_machine ? " in the same machine" : " in another machine");
}

}  // namespace strato
