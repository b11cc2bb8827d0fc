// What the operating system tells of the machine: read from text files below /proc and /sys.
#pragma once

#include "app/worker/report.h"

namespace strato::worker {

// Fills cpu, cores, cpu_mhz, fp32_lanes and memory.
void ask_processor(const SystemPlaces& places, MachineReport& report);
std::vector<InterfaceReport> ask_interfaces(const SystemPlaces& places);

// What this process can still get, of the machine's or of its control group's memory: files in
// memory that nobody uses do not count, as they give way.
Bytes memory_at_hand(const SystemPlaces& places = {});

}  // namespace strato::worker
