// What a simulated step says about each op: times, bytes, what others wait for. Pure; safe from any
// thread.
#pragma once

#include <cstdint>
#include <vector>

#include "core/search/api/evaluator.h"
#include "core/search/evaluate/outcome.h"

namespace strato {

struct OpFigures {
  // Sums over all devices.
  IdVector<OpId, std::int64_t> compute;           // ns of computing and updating
  IdVector<OpId, std::int64_t> communication;     // ns of moving what it makes, reshuffles included
  IdVector<OpId, std::int64_t> memory;            // bytes of what it makes and of what lives for it
  IdVector<OpId, std::int64_t> blame;             // ns that devices idle until it is done
  IdVector<OpId, std::int64_t> critical;          // ns of the critical path
  IdVector<OpId, std::int64_t> longest;           // ns of its longest computation on one device
  IdVector<OpId, std::vector<DeviceId>> devices;  // that compute it, ascending
  std::vector<OpId> path;                         // the critical path, without repetitions
};

OpFigures figures_of(const Outcome& outcome);

}  // namespace strato
