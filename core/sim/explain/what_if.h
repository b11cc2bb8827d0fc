// Says what would happen if something were faster. A pure function of a timeline; deterministic;
// safe from any thread.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "core/sim/timeline/timeline.h"

namespace strato {

// The step time if one thing were faster, by simulation of the same program with shorter tasks; no
// task gets below 1 ns.
//   Op:      the tasks that compute it (or apply the update), on all devices.
//   Device:  all tasks on its compute stream. GpuType: of all devices of the type; Devices: of all.
//   Link:    of the tasks that use it, the bandwidth part of the duration, until another of the
//            task's links (taken to carry the same bytes) becomes the slowest; latencies stay.
//   Network: the bandwidth part of all communication; Latency: the other part of it.
struct WhatIf {
  enum class What : std::uint8_t {
    Op,
    Device,
    GpuType,
    Devices,
    Link,
    Network,
    Latency
  } what = What::Op;
  OpId op = {};
  DeviceId device = {};
  GpuTypeId gpu = {};
  LinkId link = {};
  std::string
      name;  // "Conv_17", "v100:0", "all V100-SXM2-32GB", "all devices", "the network", "latencies"
  Nanos faster = {};  // step time with it 10 % faster
  Nanos free = {};    // step time with it infinitely fast
};
struct WhatIfOptions {
  std::size_t ops = 12;  // the ops with most time on the critical path
  bool devices = true;   // each that is used, each of several GPU types, and all
  bool links = true;     // each that is used, the network, and latencies
  int threads = 0;       // 0: one per core; does not change the result
};
// Largest gain first (by `free`, then `faster`, then id). Empty when stopped.
std::vector<WhatIf> what_if(const Timeline& timeline, const WhatIfOptions& options,
                            std::stop_token stop = {});

}  // namespace strato
