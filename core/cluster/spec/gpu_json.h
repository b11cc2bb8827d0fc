// One GPU type as JSON: an entry of the catalogue, or of a cluster's gpu_types. Private to this
// folder.
#pragma once

#include "core/cluster/value/cluster.h"
#include "core/io/json.h"

namespace strato {

GpuType gpu_from_json(const JsonView& view);
Json gpu_to_json(const GpuType& gpu);

// Quantities that people write with a unit where a cluster file has a number: "100Gbps", "25 GB/s",
// "5us", "80GB". The reader does not take them, but tells the number.
//
// Each throws InputError that tells the number to write, when `view` is a text with a unit of this
// kind; else returns.
void refuse_written_bandwidth(const JsonView& view);  // a number of 10^9 bytes per second
void refuse_written_latency(const JsonView& view);    // of microseconds
void refuse_written_memory(const JsonView& view);     // of bytes; "80GB" of a GPU are 80 x 2^30

// A number from `low` to `high`, above zero.
double positive_between(const JsonView& view, double low, double high);

}  // namespace strato
