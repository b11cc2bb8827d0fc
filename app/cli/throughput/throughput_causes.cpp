#include "app/cli/throughput/throughput_causes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/base/error.h"
#include "core/cluster/vary/changed_cluster.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "core/program/value/recompute.h"
#include "core/search/evaluate/outcome.h"

namespace strato::cli {
namespace {

// A cluster, strategy and calibration that are a little otherwise.
struct Variant {
  std::shared_ptr<const Cluster> cluster;
  Strategy strategy;
  Calibration calibration;
};
struct Difference {
  const char* words;
  std::function<void(Variant&)> make;
};

std::function<void(Variant&)> on_links(double network, double machine, double latency) {
  return [=](Variant& variant) {
    ClusterChange change;
    change.network_bandwidth = network;
    change.machine_bandwidth = machine;
    change.latency = latency;
    variant.cluster = change_cluster(variant.cluster, change).cluster;
  };
}

std::function<void(Variant&)> at_speed(double speed) {
  return [speed](Variant& variant) { variant.cluster = with_device_speed(variant.cluster, speed); };
}

std::vector<Difference> slower_ones(const Graph& graph) {
  return {{"the network between machines at half its bandwidth", on_links(0.5, 1, 1)},
          {"links inside machines at half their bandwidth", on_links(1, 0.5, 1)},
          {"GPUs a tenth slower (power limit, heat)", at_speed(0.9)},
          {"GPUs a fifth slower (power limit, heat)", at_speed(0.8)},
          {"processes take twice as long to start kernels (a slow or busy CPU)",
           [](Variant& variant) {
             variant.calibration.host_kernel_us *= 2;
             variant.calibration.host_collective_us *= 2;
             variant.calibration.host_loss_us *= 2;
           }},
          {"pointwise kernels and updates that are not fused",
           [](Variant& variant) {
             variant.calibration.fuses_pointwise = variant.calibration.fuses_updates = false;
           }},
          {"blocks of the model computed again in the backward pass",
           [&graph](Variant& variant) {
             if (variant.strategy.recomputed.empty())
               variant.strategy.recomputed =
                   recomputed_ops(graph, Recompute::Blocks, variant.strategy.micro_batches.count);
           }},
          {"products at half the rate (in more bits than the model says)", [](Variant& variant) {
             for (FamilyEfficiency& family : variant.calibration.families) family.tensor_cores /= 2;
           }}};
}

std::vector<Difference> faster_ones() {
  return {{"the network between machines at twice its bandwidth", on_links(2, 1, 1)},
          {"links inside machines at twice their bandwidth", on_links(1, 2, 1)},
          {"GPUs a tenth faster (no power limit)", at_speed(1.1)},
          {"products in 8 bits", [](Variant& variant) { variant.calibration.fp8_products = true; }},
          {"pointwise kernels and updates that are fused",
           [](Variant& variant) {
             variant.calibration.fuses_pointwise = variant.calibration.fuses_updates = true;
           }},
          {"processes start kernels ahead of the GPU (CUDA graphs)",
           [](Variant& variant) {
             variant.calibration.host_kernel_us = variant.calibration.host_collective_us = 0;
           }},
          {"nothing computed again in the backward pass",
           [](Variant& variant) { variant.strategy.recomputed.clear(); }}};
}

}  // namespace

ThroughputCauses::ThroughputCauses(const Problem& problem, const Strategy& strategy,
                                   const Calibration& calibration)
    : problem_(problem), strategy_(strategy), calibration_(calibration) {
  seconds_ = simulated(problem.cluster, strategy, calibration);
}

double ThroughputCauses::simulated(const std::shared_ptr<const Cluster>& cluster,
                                   const Strategy& strategy, const Calibration& calibration) const {
  Problem problem = problem_;
  problem.cluster = cluster;
  problem.cost = make_analytic_cost_model(problem.graph, cluster,
                                          std::make_shared<const Calibration>(calibration));
  const Outcome outcome = simulate_outline(problem, strategy, false);
  return to_seconds(outcome.score.step_time) + calibration.step_us * 1e-6;
}

std::vector<ThroughputCause> ThroughputCauses::find(bool slower,
                                                    const std::stop_token& stop) const {
  constexpr double kLeast = 0.01;  // of the step
  std::vector<ThroughputCause> causes;
  for (const Difference& difference : slower ? slower_ones(*problem_.graph) : faster_ones()) {
    if (stop.stop_requested()) break;
    try {
      Variant variant{problem_.cluster, strategy_, calibration_};
      difference.make(variant);
      const double then = simulated(variant.cluster, variant.strategy, variant.calibration);
      const double by = slower ? then / seconds_ - 1 : 1 - then / seconds_;
      if (by > kLeast) causes.push_back({difference.words, then});
    } catch (const InputError&) {  // a cluster that has no such links
    }
  }
  std::ranges::stable_sort(causes, std::greater(), [&](const ThroughputCause& cause) {
    return std::abs(cause.seconds - seconds_);
  });
  return causes;
}

}  // namespace strato::cli
