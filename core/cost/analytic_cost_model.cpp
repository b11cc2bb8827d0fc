#include <algorithm>
#include <utility>

#include "core/cost/cost_model.h"
#include "core/cost/efficiency.h"
#include "core/cost/ring.h"

namespace strato {
namespace {

// The roofline of one op on one GPU in nanoseconds: launch + max(compute, memory), each linear in
// the number of samples. All factors are found once, because a search asks millions of times.
struct Roofline {
  double launch = 0;
  double compute_per_sample = 0;
  double memory_fixed = 0;
  double memory_per_sample = 0;

  Nanos at(std::int64_t samples) const {
    const double n = static_cast<double>(samples);
    const double work = std::max(compute_per_sample * n, memory_fixed + memory_per_sample * n);
    return nanos_from(launch + work);
  }
};

// What an op computes in: its first floating-point output, or input where it has none.
DataType computing_type(const Graph& graph, const Op& op) {
  for (const std::vector<TensorId>* tensors : {&op.outputs, &op.inputs}) {
    for (const TensorId id : *tensors) {
      if (id.valid() && is_floating(graph.tensor(id).type)) return graph.tensor(id).type;
    }
  }
  return DataType::F32;
}

Roofline roofline_of(const Graph& graph, const Op& op, const GpuType& gpu) {
  if (op.view) return {};
  const Rates rates = rates_of(op.family, computing_type(graph, op), gpu);
  const double batch = static_cast<double>(std::max<std::int64_t>(graph.batch(), 1));
  Roofline roofline;
  roofline.launch = op.work.kernels * launch_seconds(gpu) * 1e9;
  roofline.compute_per_sample = op.work.flops / rates.flops * 1e9 / batch;
  roofline.memory_fixed = static_cast<double>(op.work.fixed_bytes.value) / rates.memory * 1e9;
  roofline.memory_per_sample =
      static_cast<double>(op.work.batch_bytes.value) / rates.memory * 1e9 / batch;
  return roofline;
}

class AnalyticCostModel final : public CostModel {
 public:
  AnalyticCostModel(std::shared_ptr<const Graph> graph, std::shared_ptr<const Cluster> cluster)
      : graph_(std::move(graph)),
        cluster_(std::move(cluster)),
        types_(cluster_->gpu_types().size()) {
    rooflines_.reserve(graph_->op_count() * types_);
    for (const Op& op : graph_->ops()) {
      for (const GpuType& gpu : cluster_->gpu_types()) {
        rooflines_.push_back(roofline_of(*graph_, op, gpu));
      }
    }
    digest_ = Hasher()
                  .text("analytic cost 1")
                  .digest(graph_->digest())
                  .digest(cluster_->digest())
                  .finish();
  }

  Nanos compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override {
    return rooflines_[op.index() * types_ + gpu.index()].at(samples);
  }

  Nanos local_move(GpuTypeId gpu, Bytes moved) const override {
    const GpuType& type = cluster_->gpu_types()[gpu];
    return nanos_from_seconds(launch_seconds(type) +
                              static_cast<double>(moved.value) / local_move_rate(type));
  }

  Nanos transfer(const Path& path, Bytes bytes) const override {
    if (path.links.empty()) return Nanos();
    return path.latency + nanos_from_seconds(static_cast<double>(bytes.value) / path.bandwidth);
  }

  CollectiveCost collective(Collective kind, std::span<const DeviceId> devices,
                            Bytes bytes) const override {
    return ring_collective(*cluster_, kind, devices, bytes);
  }

  const Digest& digest() const override { return digest_; }

 private:
  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<const Cluster> cluster_;
  std::size_t types_;
  std::vector<Roofline> rooflines_;  // by op, then GPU type
  Digest digest_;
};

}  // namespace

std::shared_ptr<const CostModel> make_analytic_cost_model(std::shared_ptr<const Graph> graph,
                                                          std::shared_ptr<const Cluster> cluster) {
  return std::make_shared<AnalyticCostModel>(std::move(graph), std::move(cluster));
}

std::shared_ptr<const CostModel> make_cost_model(std::shared_ptr<const Graph> graph,
                                                 std::shared_ptr<const Cluster> cluster,
                                                 const CostSources&, std::vector<std::string>*) {
  return make_analytic_cost_model(std::move(graph), std::move(cluster));
}

}  // namespace strato
