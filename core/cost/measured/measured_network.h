// Transfers and collectives from a profile, on one cluster. Private to this folder. Immutable, safe
// from any thread.
//
// Between two devices: their own measurements; those of the way back; those named for the kind of
// pair; those of all measured pairs of the kind, pooled; the analytic model. A kind is the two GPU
// types and whether they share a machine. For collectives: measurements of exactly these members;
// the analytic model. Beyond the greatest size measured, nothing is faster than its links allow.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/cost/measured/curves.h"
#include "core/cost/value/cost_model.h"
#include "core/cost/value/profile.h"

namespace strato {

class MeasuredNetwork {
 public:
  // `cluster` is that of `analytic`, which keeps it.
  MeasuredNetwork(const Profile& profile, const Cluster& cluster,
                  std::shared_ptr<const CostModel> analytic, std::vector<std::string>& warnings);

  Nanos transfer(const Path& path, Bytes bytes) const;
  CollectiveCost collective(Collective kind, std::span<const DeviceId> devices, Bytes bytes) const;
  Estimate explain_transfer(const Path& path, Bytes bytes) const;
  Estimate explain_collective(Collective kind, std::span<const DeviceId> devices,
                              Bytes bytes) const;

 private:
  struct Measured {
    SizeCurve curve;
    std::string what;  // for people: "v100:0 to v100:1"
  };
  struct Group {
    Collective kind;
    std::vector<DeviceId> devices;  // ascending
    Measured measured;
  };

  std::int32_t add_pair(std::span<const SizedMeasurement> points, std::string what);
  void add_transfers(const Profile& profile, std::vector<std::string>& warnings);
  void add_collectives(const Profile& profile, std::vector<std::string>& warnings);
  // Null: not measured.
  const Measured* find(const Path& path) const;
  const Measured* find(Collective kind, std::span<const DeviceId> devices) const;

  const Cluster& cluster_;
  std::shared_ptr<const CostModel> analytic_;
  std::vector<Measured> pairs_;
  std::vector<std::int32_t> pair_of_;  // by path: index in pairs_, or -1; empty: nothing measured
  std::vector<Group> groups_;          // ascending by kind and devices
};

}  // namespace strato
