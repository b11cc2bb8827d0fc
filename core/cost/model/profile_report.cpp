#include "core/cost/model/profile_report.h"

#include <algorithm>
#include <memory>

#include "core/cost/analytic/analytic_cost_model.h"
#include "core/cost/measured/measured_compute.h"

namespace strato {
namespace {

// A view of a value that outlives it.
template <class T>
std::shared_ptr<const T> borrowed(const T& value) {
  return {std::shared_ptr<const void>(), &value};
}

struct Missing {
  Nanos time;
  std::string text;
};

// Counts what one GPU type's measurements cover of the graph, and appends what is missing.
ProfileReport::Gpu cover(const MeasuredCompute& compute, const Graph& graph, GpuTypeId gpu,
                         const std::string& name, std::vector<Missing>& missing) {
  ProfileReport::Gpu result;
  result.name = name;
  Nanos all, covered;
  std::vector<const MeasuredOp*> seen;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    if (graph.op(OpId(i)).view) continue;
    ++result.ops;
    const Nanos time = compute.time(OpId(i), gpu, graph.batch());
    all += time;
    if (const MeasuredOp* measured = compute.measured(OpId(i), gpu)) {
      ++result.measured;
      covered += time;
      if (measured->curved() && !measured->level) seen.push_back(measured);
    } else {
      missing.push_back({time, graph.op(OpId(i)).name + " on " + name});
    }
  }
  if (all > Nanos(0)) result.time_covered = covered / all;
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  std::vector<double> errors;
  for (const MeasuredOp* op : seen) errors.push_back(op->left_out_error);
  std::sort(errors.begin(), errors.end());
  if (!errors.empty()) {
    result.median_error = errors[errors.size() / 2];
    result.worst_error = errors.back();
  }
  return result;
}

}  // namespace

ProfileReport report(const Profile& profile, const Graph& graph, const Cluster& cluster) {
  std::vector<std::string> warnings;
  const MeasuredCompute compute(profile, graph, cluster,
                                make_analytic_cost_model(borrowed(graph), borrowed(cluster)),
                                warnings);
  ProfileReport result;
  result.unused = compute.unused();
  std::vector<Missing> missing;
  for (std::size_t i = 0; i < cluster.gpu_types().size(); ++i) {
    const GpuTypeId gpu(i);
    result.gpus.push_back(cover(compute, graph, gpu, cluster.gpu_types()[gpu].name, missing));
  }
  std::stable_sort(missing.begin(), missing.end(),
                   [](const Missing& a, const Missing& b) { return a.time > b.time; });
  for (Missing& op : missing) result.missing.push_back(std::move(op.text));
  return result;
}

}  // namespace strato
