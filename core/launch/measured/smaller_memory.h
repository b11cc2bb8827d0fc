// A cluster whose GPUs of one type hold less than its description says. Private to this folder.
#pragma once

#include <memory>

#include "core/cluster/value/cluster.h"

namespace strato {

// The same devices, groups and links, under the same ids.
std::shared_ptr<const Cluster> with_memory(const Cluster& cluster, GpuTypeId type, Bytes memory);

}  // namespace strato
