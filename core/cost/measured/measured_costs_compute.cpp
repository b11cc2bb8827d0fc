#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/base/quantity_text.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cost/measured/measured_costs.h"
#include "core/cost/value/calibration.h"

namespace strato {
namespace {

constexpr std::size_t kEnoughRatios = 3;

double nanos(Nanos time) { return static_cast<double>(time.value); }

double noise_of(const OpMeasurement& point) {
  if (point.repetitions < 3) return 0.1;
  return std::max(0.01, 1.4826 * (point.spread / point.time));
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::string samples_text(std::int64_t samples) {
  return samples == 1 ? "1 sample" : fmt::format("{} samples", samples);
}

std::string spread_text(const OpMeasurement& point) {
  if (point.repetitions == 1) return "run once";
  return fmt::format("median of {}, {} spread", point.repetitions,
                     percent_text(point.spread / point.time));
}

}  // namespace

// The op measurements on the cluster's GPU types, under the types' own names (a profile may use an
// alias), pooled where that joins them; ops of the graph that do not follow the batch have one
// measurement, at one sample. Says what cannot be used in `warnings`.
struct BoundProfile {
  BoundProfile(const Profile& profile, const Graph& graph, const Cluster& cluster,
               std::vector<std::string>& warnings) {
    for (std::size_t i = 0; i < graph.op_count(); ++i)
      if (!graph.op(OpId(i)).view) ops[op_signature(graph, OpId(i))].push_back(OpId(i));
    GpuCatalogue catalogue;
    std::vector<std::string_view> names;
    for (const GpuType& gpu : cluster.gpu_types()) {
      catalogue.add(gpu);
      names.push_back(gpu.name);
    }
    Profile bound;
    std::set<std::string> unknown_gpus, measured_signatures, unknown;
    for (const OpProfile& op : profile.ops) {
      const GpuType* gpu = catalogue.find(op.gpu);
      if (gpu == nullptr) {
        unknown_gpus.insert(op.gpu);
        continue;
      }
      bound.ops.push_back({op.signature, gpu->name, op.measurements});
      measured_signatures.insert(op.signature);
      const auto found = ops.find(op.signature);
      if (found == ops.end())
        unknown.insert(op.signature);
      else if (!follows_batch(graph, found->second.front()))
        for (OpMeasurement& point : bound.ops.back().measurements) point.samples = 1;
    }
    measured = normalised(std::move(bound)).ops;
    for (const std::string& gpu : unknown_gpus)
      warnings.push_back(
          fmt::format("the profile's op times on {} are not used: the cluster has {}", gpu,
                      fmt::join(names, ", ")));
    unused.assign(unknown.begin(), unknown.end());
    if (!unused.empty())
      warnings.push_back(
          fmt::format("{} of the profile's {} measured kinds of op are not in {}: {}",
                      unused.size(), measured_signatures.size(), graph.name(),
                      unused.front() + (unused.size() > 1 ? ", …" : "")));
  }

  const OpProfile* find(const std::string& gpu, const std::string& signature) const {
    const auto key = std::tie(gpu, signature);
    const auto key_of = [](const OpProfile& op) { return std::tie(op.gpu, op.signature); };
    const auto at = std::ranges::lower_bound(measured, key, {}, key_of);
    return at != measured.end() && key_of(*at) == key ? &*at : nullptr;
  }

  std::map<std::string, std::vector<OpId>> ops;  // of the graph, views left out, by signature
  std::vector<OpProfile> measured;               // ascending by (GPU type's name, signature)
  std::vector<std::string> unused;               // signatures that the graph does not have
};

double MeasuredCompute::analytic(OpId op, GpuTypeId gpu, std::int64_t samples) const {
  return std::max(nanos(analytic_->compute(op, gpu, samples)), 1.0);
}

MeasuredCompute::MeasuredCompute(const Profile& profile, const Graph& graph, const Cluster& cluster,
                                 std::shared_ptr<const CostModel> analytic,
                                 std::vector<std::string>& warnings)
    : graph_(graph),
      cluster_(cluster),
      analytic_(std::move(analytic)),
      types_(cluster.gpu_types().size()),
      sources_(graph.op_count() * types_),
      ratios_(kOpFamilies * types_) {
  if (profile.ops.empty()) return;
  const BoundProfile bound(profile, graph, cluster, warnings);
  unused_ = bound.unused;
  for (std::size_t gpu = 0; gpu < types_; ++gpu) {
    bind(GpuTypeId(gpu), bound, warnings);
    find_ratios(GpuTypeId(gpu), bound);
  }
}

void MeasuredCompute::bind(GpuTypeId gpu, const BoundProfile& profile,
                           std::vector<std::string>& warnings) {
  const std::string& name = cluster_.gpu_types()[gpu].name;
  std::size_t missing = 0;
  const std::string* example = nullptr;
  for (const auto& [signature, ops] : profile.ops) {
    const OpProfile* found = profile.find(name, signature);
    if (found == nullptr) {
      if (++missing == 1) example = &signature;
      continue;
    }
    const bool level = !follows_batch(graph_, ops.front());
    const double error = level ? 0 : left_out_error(ops.front(), gpu, found->measurements);
    const MeasuredOp& measured = measured_.emplace_back(
        MeasuredOp{found->measurements, SampleCurve(found->measurements), level, error});
    const OpMeasurement& point = measured.points.back();  // the greatest size is never disturbed
    const double through = nanos(point.time) / analytic(ops.front(), gpu, point.samples);
    for (const OpId op : ops)
      sources_[at(op, gpu)] = {measured.curved() ? &measured.curve : nullptr, through, &measured};
  }
  if (missing == 0) return;
  warnings.push_back(fmt::format(
      "{} of {} kinds of op in {} were not measured on {}: analytic times "
      "stand in for them ({}{})",
      missing, profile.ops.size(), graph_.name(), name, *example, missing > 1 ? ", …" : ""));
}

double MeasuredCompute::left_out_error(OpId op, GpuTypeId gpu,
                                       const std::vector<OpMeasurement>& points) const {
  if (points.size() < 2) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<OpMeasurement> others = points;
    others.erase(others.begin() + static_cast<long>(i));
    const double told = others.size() > 1
                            ? SampleCurve(others).nanos(static_cast<double>(points[i].samples))
                            : nanos(others[0].time) * analytic(op, gpu, points[i].samples) /
                                  analytic(op, gpu, others[0].samples);
    const double off = told / nanos(points[i].time) - 1;
    sum += off * off;
  }
  return std::sqrt(sum / static_cast<double>(points.size()));
}

// Ratios come from the greatest size measured of each signature: there the launch weighs least.
void MeasuredCompute::find_ratios(GpuTypeId gpu, const BoundProfile& profile) {
  std::array<std::vector<double>, kOpFamilies> ratios;
  for (const auto& [signature, ops] : profile.ops) {
    const MeasuredOp* op = measured(ops.front(), gpu);
    if (op == nullptr) continue;
    const OpMeasurement& point = op->points.back();
    const std::int64_t samples = op->level ? graph_.batch() : point.samples;
    ratios[static_cast<std::size_t>(graph_.op(ops.front()).family)].push_back(
        nanos(point.time) / analytic(ops.front(), gpu, samples));
  }
  for (std::size_t family = 0; family < kOpFamilies; ++family) {
    if (ratios[family].size() < kEnoughRatios) continue;
    FamilyRatio& result = ratios_[at(static_cast<OpFamily>(family), gpu)];
    result.median = median_of(ratios[family]);
    result.count = ratios[family].size();
    for (double& value : ratios[family]) value = std::abs(value / result.median - 1);
    result.spread = 1.4826 * median_of(ratios[family]);
  }
  for (const auto& [signature, ops] : profile.ops)
    for (const OpId op : ops)
      if (measured(op, gpu) == nullptr)
        sources_[at(op, gpu)].scale = ratios_[at(graph_.op(op).family, gpu)].median;
}

Estimate MeasuredCompute::explain(OpId op, GpuTypeId gpu, std::int64_t samples) const {
  const Source& source = sources_[at(op, gpu)];
  const std::string& name = cluster_.gpu_types()[gpu].name;
  Estimate result = analytic_->explain_compute(op, gpu, samples);
  if (source.curve != nullptr) {
    result = explain_curve(*source.measured, name, samples);
  } else if (source.measured != nullptr) {
    const OpMeasurement& point = source.measured->points.back();
    const bool exact = point.samples == samples;
    const double away =
        std::abs(std::log2(static_cast<double>(samples) / static_cast<double>(point.samples)));
    result.source = exact ? CostSource::Profile : CostSource::Fit;
    result.error = std::hypot(noise_of(point), result.error * std::min(1.0, away / 4));
    result.detail = fmt::format("measured: {} at {} on {} ({})", time_text(point.time),
                                samples_text(point.samples), name, spread_text(point));
    if (!exact) result.detail = "roofline scaled through one point, " + result.detail;
  } else if (source.scale != 1) {
    const OpFamily family = graph_.op(op).family;
    const FamilyRatio& ratio = ratios_[at(family, gpu)];
    result.error = std::max(ratio.spread, std::min(result.error, 0.1));
    result.detail +=
        fmt::format("; times {}, the median of {} measured {} ops on {}",
                    significant_text(ratio.median), ratio.count, name_of(family), name);
  }
  result.time = time(op, gpu, samples);
  return result;
}

Estimate MeasuredCompute::explain_curve(const MeasuredOp& op, const std::string& gpu,
                                        std::int64_t samples) const {
  Estimate result;
  result.source = CostSource::Fit;
  const auto at =
      op.level ? op.points.begin() : std::ranges::find(op.points, samples, &OpMeasurement::samples);
  if (at != op.points.end() && op.curve.keeps(*at)) {
    result.source = CostSource::Profile;
    result.error = noise_of(*at);
    result.detail =
        fmt::format("measured: {} at {} on {} ({})", time_text(at->time),
                    op.level ? "any batch size" : samples_text(samples), gpu, spread_text(*at));
    return result;
  }
  double noise = 0;
  for (const OpMeasurement& point : op.points) noise = std::max(noise, noise_of(point));
  const double outside =
      doublings_outside(op.points.front().samples, op.points.back().samples, samples);
  result.error = std::min(1.0, std::hypot(noise, op.left_out_error) * (1 + outside));
  result.detail =
      fmt::format("fit of {} measurements from {} to {} on {}; leaving one out misses it by {}",
                  op.points.size(), op.points.front().samples,
                  samples_text(op.points.back().samples), gpu, percent_text(op.left_out_error));
  if (outside > 0) result.detail += "; beyond them";
  if (at != op.points.end())
    result.detail += fmt::format("; {} measured here do not fit the rest", time_text(at->time));
  return result;
}

}  // namespace strato
