// One GPU type as JSON: an entry of the catalogue, or of a cluster's gpu_types. Private to this
// folder.
#pragma once

#include "core/base/json.h"
#include "core/cluster/cluster.h"

namespace strato {

GpuType gpu_from_json(const JsonView& view);
Json gpu_to_json(const GpuType& gpu);

bool same_ignoring_case(std::string_view a, std::string_view b);

}  // namespace strato
