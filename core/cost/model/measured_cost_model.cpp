#include "core/cost/model/measured_cost_model.h"

#include <utility>

#include "core/cost/analytic/analytic_cost_model.h"
#include "core/cost/measured/measured_compute.h"
#include "core/cost/measured/measured_network.h"
#include "core/cost/value/cost_model.h"

namespace strato {
namespace {

// A profile on top of the analytic model.
class MeasuredCostModel final : public CostModel {
 public:
  MeasuredCostModel(std::shared_ptr<const Graph> graph, std::shared_ptr<const Cluster> cluster,
                    std::shared_ptr<const CostModel> analytic, const Profile& profile,
                    std::vector<std::string>& warnings)
      : graph_(std::move(graph)),
        cluster_(std::move(cluster)),
        analytic_(std::move(analytic)),
        compute_(profile, *graph_, *cluster_, analytic_, warnings),
        network_(profile, *cluster_, analytic_, warnings),
        digest_(Hasher()
                    .text("measured cost 1")
                    .digest(analytic_->digest())  // of graph, cluster and calibration
                    .digest(profile.digest())
                    .finish()) {}

  Nanos compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override {
    return compute_.time(op, gpu, samples);
  }
  Nanos local_move(GpuTypeId gpu, Bytes moved) const override {
    return analytic_->local_move(gpu, moved);
  }
  Nanos transfer(const Path& path, Bytes bytes) const override {
    return network_.transfer(path, bytes);
  }
  CollectiveCost collective(Collective kind, std::span<const DeviceId> devices,
                            Bytes bytes) const override {
    return network_.collective(kind, devices, bytes);
  }
  const Digest& digest() const override { return digest_; }

  Estimate explain_compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override {
    return compute_.explain(op, gpu, samples);
  }
  Estimate explain_transfer(const Path& path, Bytes bytes) const override {
    return network_.explain_transfer(path, bytes);
  }
  Estimate explain_collective(Collective kind, std::span<const DeviceId> devices,
                              Bytes bytes) const override {
    return network_.explain_collective(kind, devices, bytes);
  }

 private:
  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<const Cluster> cluster_;
  std::shared_ptr<const CostModel> analytic_;
  MeasuredCompute compute_;
  MeasuredNetwork network_;
  Digest digest_;
};

}  // namespace

std::shared_ptr<const CostModel> make_cost_model(std::shared_ptr<const Graph> graph,
                                                 std::shared_ptr<const Cluster> cluster,
                                                 const CostSources& sources,
                                                 std::vector<std::string>* warnings) {
  std::shared_ptr<const CostModel> analytic =
      sources.calibration ? make_calibrated_cost_model(graph, cluster, sources.calibration)
                          : make_analytic_cost_model(graph, cluster);
  if (!sources.profile || sources.profile->empty()) return analytic;
  std::vector<std::string> unheard;
  return std::make_shared<MeasuredCostModel>(std::move(graph), std::move(cluster),
                                             std::move(analytic), *sources.profile,
                                             warnings != nullptr ? *warnings : unheard);
}

}  // namespace strato
