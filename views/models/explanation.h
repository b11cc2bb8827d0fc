// Why a step takes as long as it does, as shares that add up: the inspector's and charts' figures,
// computed from an outcome. Pure functions; safe from any thread.
#pragma once

#include <array>
#include <vector>

#include "core/graph/grouping.h"
#include "core/search/evaluator.h"

namespace strato {

// What one part of the critical path is spent on. Parts are merged by (what, device), longest
// first.
struct PathPart {
  enum class What : std::uint8_t { Compute, Reshuffle, Transfer, Synchronise, Update } what;
  DeviceId device;  // where; of a transfer the source; invalid: several devices at once
  DeviceId target;  // of a transfer
  Nanos time;
  std::int64_t tasks = 0;
};
std::vector<PathPart> path_composition(const Timeline& timeline);
const char* label_of(PathPart::What what);

struct DeviceTimes {
  Nanos compute;        // compute stream busy
  Nanos communication;  // communication stream busy while the compute stream is not
  Nanos overlapped;     // communication under computation
  Nanos idle;           // neither
};
IdVector<DeviceId, DeviceTimes> device_times(const Timeline& timeline);

struct GroupTimes {
  Nanos compute, communication;  // sums over its tasks on all devices
  Nanos first_start, last_end;
  Nanos waiting;  // sum of (start - ready) of its compute tasks
  std::int64_t tasks = 0;
};
GroupTimes group_times(const Timeline& timeline, const Grouping& grouping, GroupId group);

inline constexpr std::size_t kTensorRoles = 6;
std::array<Bytes, kTensorRoles> memory_by_role(const Timeline& timeline, DeviceId device,
                                               Nanos moment);
const char* label_of(TensorRole role);

}  // namespace strato
