#include "core/cost/analytic/analytic_cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/quantity_text.h"
#include "core/cost/analytic/efficiency.h"
#include "core/cost/collective/collectives.h"

namespace strato {
namespace {

// The roofline of one op on one GPU in nanoseconds: the greatest of compute and memory time, each a
// fixed part (launch and ramp) and a part linear in the number of samples, and the time that the
// framework needs to start its kernels. All factors are found once, because a search asks millions
// of times.
struct Roofline {
  double least = 0;
  double compute_fixed = 0;
  double compute_per_sample = 0;
  double memory_fixed = 0;
  double memory_per_sample = 0;

  double compute(double samples) const { return compute_fixed + compute_per_sample * samples; }
  double memory(double samples) const { return memory_fixed + memory_per_sample * samples; }
  Nanos at(std::int64_t samples) const {
    const double n = static_cast<double>(samples);
    return nanos_from(std::max({least, compute(n), memory(n)}));
  }
};

Roofline roofline_of(const Calibration& calibration, const Graph& graph, const Op& op,
                     const GpuType& gpu) {
  if (op.view) return {};
  const Rates rates = rates_of(calibration, graph, op, gpu);
  const double batch = static_cast<double>(std::max<std::int64_t>(graph.batch(), 1));
  const double launch = op.work.kernels * launch_seconds(calibration, gpu) * 1e9;
  Roofline roofline{op.work.kernels * calibration.issue_us * 1e3, launch, 0, launch, 0};
  if (op.work.flops > 0) roofline.compute_fixed += op.work.kernels * rates.compute_ramp * 1e9;
  roofline.compute_per_sample = op.work.flops / rates.flops * 1e9 / batch;
  roofline.memory_fixed += op.work.kernels * rates.memory_ramp * 1e9 +
                           static_cast<double>(op.work.fixed_bytes.value) / rates.memory * 1e9;
  roofline.memory_per_sample =
      static_cast<double>(op.work.batch_bytes.value) / rates.memory * 1e9 / batch;
  return roofline;
}

class AnalyticCostModel final : public CostModel {
 public:
  AnalyticCostModel(std::shared_ptr<const Graph> graph, std::shared_ptr<const Cluster> cluster,
                    std::shared_ptr<const Calibration> calibration)
      : graph_(std::move(graph)),
        cluster_(std::move(cluster)),
        calibration_(std::move(calibration)),
        collectives_(cluster_),
        types_(cluster_->gpu_types().size()) {
    rooflines_.reserve(graph_->op_count() * types_);
    for (const Op& op : graph_->ops()) {
      for (const GpuType& gpu : cluster_->gpu_types()) {
        rooflines_.push_back(roofline_of(*calibration_, *graph_, op, gpu));
      }
    }
    digest_ = Hasher()
                  .text("analytic cost 2")
                  .digest(graph_->digest())
                  .digest(cluster_->digest())
                  .digest(calibration_->digest())
                  .finish();
  }

  Nanos compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override {
    return roofline(op, gpu).at(samples);
  }

  Nanos local_move(GpuTypeId gpu, Bytes moved) const override {
    const GpuType& type = cluster_->gpu_types()[gpu];
    return nanos_from_seconds(launch_seconds(*calibration_, type) +
                              static_cast<double>(moved.value) / local_move_rate(type));
  }

  Nanos transfer(const Path& path, Bytes bytes) const override {
    if (path.links.empty()) return Nanos();
    return path.latency + nanos_from_seconds(static_cast<double>(bytes.value) /
                                             (path.bandwidth * calibration_->transfer_scale));
  }

  CollectiveCost collective(Collective kind, std::span<const DeviceId> devices,
                            Bytes bytes) const override {
    return collectives_.cost(kind, devices, bytes, calibration_->collective_scale);
  }

  const Digest& digest() const override { return digest_; }

  Estimate explain_compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override;
  Estimate explain_transfer(const Path& path, Bytes bytes) const override;
  Estimate explain_collective(Collective kind, std::span<const DeviceId> devices,
                              Bytes bytes) const override;

 private:
  const Roofline& roofline(OpId op, GpuTypeId gpu) const {
    return rooflines_[op.index() * types_ + gpu.index()];
  }
  Estimate analytic(Nanos time, std::string detail) const {
    return {time, CostSource::Analytic, calibration_->relative_error, std::move(detail)};
  }

  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<const Cluster> cluster_;
  std::shared_ptr<const Calibration> calibration_;
  Collectives collectives_;
  std::size_t types_;
  std::vector<Roofline> rooflines_;  // by op, then GPU type
  Digest digest_;
};

// "roofline: 61 % of V100-SXM2-16GB's fp32 peak, 5 us launch".
Estimate AnalyticCostModel::explain_compute(OpId id, GpuTypeId gpu, std::int64_t samples) const {
  const Op& op = graph_->op(id);
  const Nanos time = compute(id, gpu, samples);
  if (op.view) return analytic(time, "a view: nothing is computed or moved");
  const GpuType& type = cluster_->gpu_types()[gpu];
  const Roofline& line = roofline(id, gpu);
  const double n = static_cast<double>(samples);
  const double part = n / static_cast<double>(std::max<std::int64_t>(graph_->batch(), 1));
  const double seconds = std::max(to_seconds(time), 1e-9);
  const bool compute_bound = line.compute(n) > line.memory(n);
  const Precision precision = rates_of(*calibration_, *graph_, op, type).precision;
  const double reached = compute_bound ? op.work.flops * part / seconds /
                                             type.peak_flops[static_cast<std::size_t>(precision)]
                                       : (static_cast<double>(op.work.fixed_bytes.value) +
                                          static_cast<double>(op.work.batch_bytes.value) * part) /
                                             seconds / type.memory_bandwidth;
  const std::string what =
      compute_bound ? fmt::format("{} peak", name_of(precision)) : std::string("memory bandwidth");
  const Nanos launch = nanos_from_seconds(op.work.kernels * launch_seconds(*calibration_, type));
  return analytic(time, fmt::format("roofline: {:.0f} % of {}'s {}, {} launch", 100 * reached,
                                    type.name, what, time_text(launch)));
}

Estimate AnalyticCostModel::explain_transfer(const Path& path, Bytes bytes) const {
  const Nanos time = transfer(path, bytes);
  if (path.links.empty()) return analytic(time, "stays on the device");
  return analytic(
      time, fmt::format("{} latency + {} at {:.3g} GB/s", time_text(path.latency),
                        bytes_text(bytes), path.bandwidth * calibration_->transfer_scale * 1e-9));
}

Estimate AnalyticCostModel::explain_collective(Collective kind, std::span<const DeviceId> devices,
                                               Bytes bytes) const {
  const CollectiveCost cost = collective(kind, devices, bytes);
  return analytic(
      cost.duration,
      fmt::format("{} {} over {} devices: {} latency + {} for {}", name_of(cost.algorithm),
                  name_of(kind), devices.size(), time_text(cost.latency),
                  time_text(cost.duration - cost.latency), bytes_text(bytes)));
}

}  // namespace

std::shared_ptr<const CostModel> make_calibrated_cost_model(
    std::shared_ptr<const Graph> graph, std::shared_ptr<const Cluster> cluster,
    std::shared_ptr<const Calibration> calibration) {
  return std::make_shared<AnalyticCostModel>(std::move(graph), std::move(cluster),
                                             std::move(calibration));
}

std::shared_ptr<const CostModel> make_analytic_cost_model(std::shared_ptr<const Graph> graph,
                                                          std::shared_ptr<const Cluster> cluster) {
  return make_calibrated_cost_model(std::move(graph), std::move(cluster),
                                    std::make_shared<Calibration>(Calibration::standard()));
}

}  // namespace strato
