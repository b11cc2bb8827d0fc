// A profile on top of the analytic model. Private to core/cost.
//
// Ops: measured_compute.h. Between two devices: their own measurements; those of the way back;
// those named for the kind of pair; those of all measured pairs of the kind, pooled; the analytic
// model. A kind is the two GPU types and whether they share a machine. For collectives:
// measurements of exactly these members; the analytic model. Beyond the greatest size measured,
// nothing is faster than its links allow.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/cost/measured/curves.h"
#include "core/cost/measured/measured_compute.h"
#include "core/cost/value/cost_model.h"
#include "core/cost/value/profile.h"

namespace strato {

class MeasuredCosts final : public CostModel {
 public:
  // `graph` and `cluster` are those of `analytic`, which keeps them.
  MeasuredCosts(const Profile& profile, const Graph& graph, const Cluster& cluster,
                std::shared_ptr<const CostModel> analytic, std::vector<std::string>& warnings);

  Nanos compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override {
    return compute_.time(op, gpu, samples);
  }
  Nanos local_move(GpuTypeId gpu, Bytes moved) const override {
    return analytic_->local_move(gpu, moved);
  }
  Nanos transfer(const Path& path, Bytes bytes) const override;
  CollectiveCost collective(Collective kind, std::span<const DeviceId> devices,
                            Bytes bytes) const override;
  const Digest& digest() const override { return digest_; }
  Estimate explain_compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override {
    return compute_.explain(op, gpu, samples);
  }
  Estimate explain_transfer(const Path& path, Bytes bytes) const override;
  Estimate explain_collective(Collective kind, std::span<const DeviceId> devices,
                              Bytes bytes) const override;

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
  MeasuredCompute compute_;
  Digest digest_;
  std::vector<Measured> pairs_;
  std::vector<std::int32_t> pair_of_;  // by path: index in pairs_, or -1; empty: nothing measured
  std::vector<Group> groups_;          // ascending by kind and devices
};

}  // namespace strato
