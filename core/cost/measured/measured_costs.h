// A profile on top of the analytic model: for one graph on one cluster. Private to core/cost.
// Immutable, safe from any thread.
//
// Ops, by signature and GPU type: measured at just that many samples: the median. At several sizes:
// between and beyond them a SampleCurve. At one size, or where all others were disturbed: the
// analytic model's shape, scaled through the point. Not at all: analytic, scaled by the median
// ratio of measured to analytic times of the same op family on that GPU where at least three of the
// graph's signatures have one. Views cost nothing.
//
// Between two devices: their own measurements; those of the way back; those named for the kind of
// pair; those of all measured pairs of the kind, pooled; the analytic model. A kind is the two GPU
// types and whether they share a machine. For collectives: measurements of exactly these members;
// the analytic model. Beyond the greatest size measured, nothing is faster than its links allow.
//
// Errors are relative standard errors: of a measurement 1.48 times its spread (the spread is half
// the middle 50 %), at least 1 %, 10 % when it was run once or twice; of a curve also what leaving
// out each size in turn misses it by, and more with every doubling beyond the measurements; of a
// scaled roofline that of the analytic model, as far as the size is from the measured one.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/cost/measured/curves.h"
#include "core/cost/value/cost_model.h"
#include "core/cost/value/profile.h"

namespace strato {

struct BoundProfile;  // a profile seen from one graph and one cluster

// The measurements of one signature on one GPU type.
struct MeasuredOp {
  std::vector<OpMeasurement> points;  // ascending by samples
  SampleCurve curve;
  bool level = false;         // does not depend on the samples
  double left_out_error = 0;  // relative, root mean square over the sizes; 0 with one size

  bool curved() const { return level || !curve.of_one_size(); }
};

class MeasuredCompute {
 public:
  // `graph` and `cluster` are those of `analytic`, which keeps them.
  MeasuredCompute(const Profile& profile, const Graph& graph, const Cluster& cluster,
                  std::shared_ptr<const CostModel> analytic, std::vector<std::string>& warnings);
  MeasuredCompute(const MeasuredCompute&) = delete;  // its sources point at what it has measured

  Nanos time(OpId op, GpuTypeId gpu, std::int64_t samples) const {
    const Source& source = sources_[at(op, gpu)];
    if (source.curve != nullptr) return rounded(source.curve->nanos(static_cast<double>(samples)));
    const Nanos analytic = analytic_->compute(op, gpu, samples);
    return source.scale == 1 ? analytic
                             : rounded(static_cast<double>(analytic.value) * source.scale);
  }
  Estimate explain(OpId op, GpuTypeId gpu, std::int64_t samples) const;

  // Null when there is no measurement.
  const MeasuredOp* measured(OpId op, GpuTypeId gpu) const {
    return sources_[at(op, gpu)].measured;
  }
  // In the profile, on one of the cluster's GPUs, but not in the graph.
  const std::vector<std::string>& unused() const { return unused_; }

 private:
  // A source gives the times of an op on a GPU type.
  struct Source {
    const SampleCurve* curve = nullptr;  // null: analytic times scale
    double scale = 1;
    const MeasuredOp* measured = nullptr;
  };
  struct FamilyRatio {
    double median = 1;  // of measured over analytic times
    double spread = 0;  // relative standard deviation
    std::size_t count = 0;
  };

  // A part in 10^12 is rounding noise, not a nanosecond. No cost is longer than the longest time
  // that a profile may have: sums of thousands stay in range.
  static Nanos rounded(double nanos) { return nanos_from(std::min(nanos * (1 - 1e-12), 1e15)); }
  std::size_t at(OpId op, GpuTypeId gpu) const { return op.index() * types_ + gpu.index(); }
  std::size_t at(OpFamily family, GpuTypeId gpu) const {
    return static_cast<std::size_t>(family) * types_ + gpu.index();
  }
  double analytic(OpId op, GpuTypeId gpu, std::int64_t samples) const;

  double left_out_error(OpId op, GpuTypeId gpu, const std::vector<OpMeasurement>& points) const;
  void bind(GpuTypeId gpu, const BoundProfile& profile, std::vector<std::string>& warnings);
  void find_ratios(GpuTypeId gpu, const BoundProfile& profile);
  Estimate explain_curve(const MeasuredOp& op, const std::string& gpu, std::int64_t samples) const;

  const Graph& graph_;
  const Cluster& cluster_;
  std::shared_ptr<const CostModel> analytic_;
  std::size_t types_;
  std::vector<Source> sources_;      // by op, then GPU type
  std::vector<FamilyRatio> ratios_;  // by family, then GPU type
  std::deque<MeasuredOp> measured_;  // one per signature and GPU type; sources point at them
  std::vector<std::string> unused_;
};

// Kinds of device pairs, as profiles name them.
struct PairKind {
  GpuTypeId from, to;
  bool same_machine = true;
  friend auto operator<=>(const PairKind&, const PairKind&) = default;
};

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
  Nanos issue(OpId op) const override { return analytic_->issue(op); }
  bool is_passed_on(TensorId tensor) const override { return analytic_->is_passed_on(tensor); }
  bool adds_up(TensorId gradient) const override { return analytic_->adds_up(gradient); }
  Nanos issue_collective() const override { return analytic_->issue_collective(); }
  Nanos issue_local_move() const override { return analytic_->issue_local_move(); }
  bool issue_after_transfers() const override { return analytic_->issue_after_transfers(); }
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
  std::map<std::pair<DeviceId, DeviceId>, std::int32_t> pair_of_;  // index in pairs_
  std::map<PairKind, std::int32_t> pair_of_kind_;
  std::vector<Group> groups_;  // ascending by kind and devices
};

}  // namespace strato
