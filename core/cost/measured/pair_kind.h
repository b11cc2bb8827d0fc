// Kinds of device pairs, as profiles name them. Private to this folder.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/value/cluster.h"

namespace strato {

struct PairKind {
  GpuTypeId from, to;
  bool same_machine = true;
  friend auto operator<=>(const PairKind&, const PairKind&) = default;
};

PairKind kind_of(const Cluster& cluster, DeviceId from, DeviceId to);

// from: "V100"; to: "P100/other machine", "V100/same machine". Nothing where that is not the form,
// or the cluster has no such GPU.
std::optional<PairKind> parse_pair_kind(const Cluster& cluster, std::string_view from,
                                        std::string_view to);

// "V100-SXM2-32GB to P100-PCIe-16GB in another machine"
std::string text_of(const Cluster& cluster, const PairKind& kind);

}  // namespace strato
