// Quantities that people write with a unit where a cluster file has a number: "100Gbps", "25 GB/s",
// "5us", "80GB". The reader does not take them, but tells the number. Private to this folder.
#pragma once

#include <cstdint>

#include "core/io/json.h"

namespace strato {

// Each throws InputError that tells the number to write, when `view` is a text with a unit of this
// kind; else returns.
void refuse_written_bandwidth(const JsonView& view);  // a number of 10^9 bytes per second
void refuse_written_latency(const JsonView& view);    // of microseconds
void refuse_written_memory(const JsonView& view);     // of bytes; "80GB" of a GPU are 80 x 2^30

}  // namespace strato
