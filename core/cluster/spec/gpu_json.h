// One GPU type as JSON: an entry of the catalogue, or of a cluster's gpu_types. Private to this
// folder.
#pragma once

#include "core/cluster/value/cluster.h"
#include "core/io/json.h"

namespace strato {

GpuType gpu_from_json(const JsonView& view);
Json gpu_to_json(const GpuType& gpu);

bool same_ignoring_case(std::string_view a, std::string_view b);

}  // namespace strato
