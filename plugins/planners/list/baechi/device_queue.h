// The nodes that could start next on one device: the ready ones in heaps (see
// earliest_task_first.h). Nodes are named by their rank: smaller is preferred.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "core/base/units.h"

namespace strato::baechi {

using Rank = std::int32_t;

// Entries are (time, rank). Those with a time up to the device's idle moment count as equal.
class Arrivals {
 public:
  void add(Nanos time, Rank rank) { later_.emplace(time, rank); }

  // The first that could start when nothing does before `idle` (which never shrinks), and when.
  // `is_gone(rank)`: it can be forgotten.
  template <class IsGone>
  std::optional<std::pair<Nanos, Rank>> first(Nanos idle, IsGone&& is_gone) {
    while (!later_.empty() && (later_.top().first <= idle || is_gone(later_.top().second))) {
      if (!is_gone(later_.top().second)) there_.push(later_.top().second);
      later_.pop();
    }
    while (!there_.empty() && is_gone(there_.top())) there_.pop();
    if (!there_.empty()) return std::pair(idle, there_.top());
    if (!later_.empty()) return later_.top();
    return std::nullopt;
  }

 private:
  template <class T>
  using Heap = std::priority_queue<T, std::vector<T>, std::greater<>>;
  Heap<std::pair<Nanos, Rank>> later_;
  Heap<Rank> there_;
};

struct DeviceQueue {
  Arrivals arrivals;    // by when a node's inputs are on this device
  Arrivals everywhere;  // by when they are on all devices
  Arrivals instant;     // of nodes that take no time here: they wait for inputs only
  Nanos idle;           // from then on
  Nanos held;           // for the favourite child until then; idle or earlier: not held
  Rank child = -1;      // held for it
  std::optional<Nanos> child_arrival;  // once it is ready

  bool is_held() const { return held > idle; }
};

}  // namespace strato::baechi
