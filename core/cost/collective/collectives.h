// Prices collectives on a cluster: the cheapest plan at a size, from a table that fills itself.
// Private to this folder.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/cost/collective/collective_plan.h"

namespace strato {

// Plans depend on the kind and the members alone; they are made once and kept (up to some 64 MB of
// them; beyond that they are made anew each time). Safe from any thread, without locks: entries are
// only ever added, at the head of a bucket's list.
class Collectives {
 public:
  explicit Collectives(std::shared_ptr<const Cluster> cluster);
  ~Collectives();
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  // `scale`: the share of the links' bandwidth that collectives reach.
  CollectiveCost cost(Collective kind, std::span<const DeviceId> devices, Bytes bytes,
                      double scale = 1) const;

 private:
  struct Entry;
  const Entry* find(std::uint64_t hash, Collective kind, std::span<const DeviceId> devices) const;
  const Entry* keep(std::unique_ptr<Entry> entry) const;

  std::shared_ptr<const Cluster> cluster_;
  mutable std::vector<std::atomic<Entry*>> buckets_;
  mutable std::atomic<std::size_t> kept_bytes_ = 0;
};

}  // namespace strato
