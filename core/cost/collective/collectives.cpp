#include "core/cost/collective/collectives.h"

#include <algorithm>
#include <cstring>

namespace strato {
namespace {

constexpr std::size_t kBuckets = 4096;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

// Two ids at a time; the set is short and asked for in every evaluation.
std::uint64_t hash_of(Collective kind, std::span<const DeviceId> devices) {
  static_assert(sizeof(DeviceId) == 4);
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;
  std::uint64_t hash = (static_cast<std::uint64_t>(kind) << 32 | devices.size()) * odd;
  std::size_t i = 0;
  for (; i + 2 <= devices.size(); i += 2) {
    std::uint64_t pair;
    std::memcpy(&pair, devices.data() + i, sizeof pair);
    hash = (hash ^ (hash >> 29) ^ pair) * odd;
  }
  if (i < devices.size()) hash = (hash ^ (hash >> 29) ^ devices[i].index()) * odd;
  return hash ^ (hash >> 32);
}

CollectiveCost cheapest(const std::vector<CollectivePlan>& plans, Bytes bytes, double scale) {
  const double moved = static_cast<double>(bytes.value) / scale;
  const CollectivePlan* plan = plans.data();
  while (moved > plan->until) ++plan;  // the last one's is infinite
  // A part in 10^12 is rounding noise, not a nanosecond.
  const Nanos moving = nanos_from(plan->nanos_per_byte * moved * (1 - 1e-12));
  std::vector<LinkId> links(plan->links.size());
  std::memcpy(links.data(), plan->links.data(), links.size() * sizeof(LinkId));
  return {plan->latency + moving, std::move(links), plan->latency, plan->algorithm};
}

}  // namespace

struct Collectives::Entry {
  std::uint64_t hash;
  Collective kind;
  std::vector<DeviceId> devices;
  std::vector<CollectivePlan> plans;
  Entry* next = nullptr;

  std::size_t bytes() const {
    std::size_t sum = sizeof *this + devices.size() * sizeof(DeviceId);
    for (const CollectivePlan& plan : plans)
      sum += sizeof plan + plan.links.size() * sizeof(LinkId);
    return sum;
  }
};

Collectives::Collectives(std::shared_ptr<const Cluster> cluster)
    : cluster_(std::move(cluster)), buckets_(kBuckets) {}

Collectives::~Collectives() {
  for (std::atomic<Entry*>& bucket : buckets_)
    for (Entry* entry = bucket.load(); entry != nullptr;) delete std::exchange(entry, entry->next);
}

const Collectives::Entry* Collectives::find(std::uint64_t hash, Collective kind,
                                            std::span<const DeviceId> devices) const {
  const Entry* entry = buckets_[hash % kBuckets].load(std::memory_order_acquire);
  for (; entry != nullptr; entry = entry->next)
    if (entry->hash == hash && entry->kind == kind && entry->devices.size() == devices.size() &&
        std::memcmp(entry->devices.data(), devices.data(), devices.size_bytes()) == 0)
      return entry;
  return nullptr;
}

// Two threads may add equal entries: the second is found first, and says the same.
const Collectives::Entry* Collectives::keep(std::unique_ptr<Entry> entry) const {
  kept_bytes_ += entry->bytes();
  std::atomic<Entry*>& bucket = buckets_[entry->hash % kBuckets];
  entry->next = bucket.load(std::memory_order_relaxed);
  while (!bucket.compare_exchange_weak(entry->next, entry.get(), std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
  return entry.release();
}

CollectiveCost Collectives::cost(Collective kind, std::span<const DeviceId> devices, Bytes bytes,
                                 double scale) const {
  const std::uint64_t hash = hash_of(kind, devices);
  if (const Entry* entry = find(hash, kind, devices)) return cheapest(entry->plans, bytes, scale);
  auto entry = std::make_unique<Entry>(Entry{
      hash, kind, {devices.begin(), devices.end()}, collective_plans(*cluster_, kind, devices)});
  if (kept_bytes_ >= kMostBytes) return cheapest(entry->plans, bytes, scale);
  return cheapest(keep(std::move(entry))->plans, bytes, scale);
}

}  // namespace strato
