#include "core/cost/model/measured_cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "core/cost/analytic/analytic_cost_model.h"
#include "core/cost/measured/measured_costs.h"
#include "core/cost/value/calibration.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& calibration) {
  std::error_code error;
  return fs::exists(calibration, error) || calibration.find('/') != std::string::npos ||
         calibration.ends_with(".json");
}

// A view of a value that outlives it.
template <class T>
std::shared_ptr<const T> borrowed(const T& value) {
  return {std::shared_ptr<const void>(), &value};
}

using Missing = std::pair<Nanos, std::string>;  // what it takes, and what it is

// Counts what one GPU type's measurements cover of the graph, and appends what is missing.
ProfileReport::Gpu cover(const MeasuredCompute& compute, const Graph& graph, GpuTypeId gpu,
                         const std::string& name, std::vector<Missing>& missing) {
  ProfileReport::Gpu result;
  result.name = name;
  Nanos all, covered;
  std::set<const MeasuredOp*> seen;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    if (graph.op(OpId(i)).view) continue;
    ++result.ops;
    const Nanos time = compute.time(OpId(i), gpu, graph.batch());
    all += time;
    if (const MeasuredOp* measured = compute.measured(OpId(i), gpu)) {
      ++result.measured;
      covered += time;
      if (measured->curved() && !measured->level) seen.insert(measured);
    } else {
      missing.emplace_back(time, graph.op(OpId(i)).name + " on " + name);
    }
  }
  if (all > Nanos(0)) result.time_covered = covered / all;
  std::vector<double> errors;
  for (const MeasuredOp* op : seen) errors.push_back(op->left_out_error);
  std::ranges::sort(errors);
  if (!errors.empty()) {
    result.median_error = errors[errors.size() / 2];
    result.worst_error = errors.back();
  }
  return result;
}

}  // namespace

std::shared_ptr<const CostModel> make_cost_model(std::shared_ptr<const Graph> graph,
                                                 std::shared_ptr<const Cluster> cluster,
                                                 const CostSources& sources,
                                                 std::vector<std::string>* warnings) {
  auto analytic = make_analytic_cost_model(graph, cluster, sources.calibration);
  if (!sources.profile || sources.profile->empty()) return analytic;
  std::vector<std::string> unheard;
  return std::make_shared<MeasuredCosts>(*sources.profile, *graph, *cluster, std::move(analytic),
                                         warnings != nullptr ? *warnings : unheard);
}

CostSources read_costs(const CostFiles& files, std::vector<std::string>* warnings) {
  CostSources sources;
  Profile all;
  for (const std::string& file : files.profiles) {
    Profile profile = read_profile(file);
    const std::string warning = mixture_warning(all, profile);
    if (warnings != nullptr && !warning.empty()) warnings->push_back(warning);
    all = all.empty() ? std::move(profile) : merge(all, profile);
  }
  if (!files.profiles.empty()) sources.profile = std::make_shared<const Profile>(std::move(all));
  if (files.calibration.empty()) return sources;
  sources.calibration = std::make_shared<const Calibration>(
      is_file(files.calibration) ? read_calibration(files.calibration)
                                 : bundled_calibration(files.calibration));
  return sources;
}

CostFiles absolute(CostFiles files) {
  const auto whole = [](const std::string& file) {
    return fs::absolute(file).lexically_normal().string();
  };
  for (std::string& file : files.profiles) file = whole(file);
  if (!files.calibration.empty() && is_file(files.calibration))
    files.calibration = whole(files.calibration);
  return files;
}

std::string mixture_warning(const Profile& a, const Profile& b) {
  const bool same_host = a.host == b.host, same_software = a.software == b.software;
  if (same_host && same_software) return "";
  std::set<std::pair<std::string_view, std::string_view>> measured;
  for (const OpProfile& op : a.ops) measured.emplace(op.gpu, op.signature);
  const auto shared = std::ranges::count_if(b.ops, [&](const OpProfile& op) {
    return measured.contains({op.gpu, op.signature});
  });
  if (shared == 0) return "";
  const auto origin = [&](const Profile& each) {
    const auto named = [](const std::string& text) { return text.empty() ? "unknown" : text; };
    return same_software ? named(each.host)
                         : fmt::format("{} with {}", named(each.host), named(each.software));
  };
  return fmt::format("{} kinds of op were measured on {} and on {}: the mean of both counts",
                     shared, origin(a), origin(b));
}

std::string describe(const CostSources& sources) {
  std::vector<std::string> parts;
  const auto add = [&](const char* what, const auto& source) {
    parts.push_back(
        fmt::format("{} \"{}\" ({})", what, source.name, source.digest().hex().substr(0, 8)));
  };
  const bool standard = sources.calibration == nullptr ||
                        sources.calibration->digest() == Calibration::standard().digest();
  if (!standard) add("calibration", *sources.calibration);
  if (sources.profile != nullptr) add("profile", *sources.profile);
  return fmt::format("{}", fmt::join(parts, " and "));
}

ProfileReport report(const Profile& profile, const Graph& graph, const Cluster& cluster) {
  std::vector<std::string> warnings;
  const MeasuredCompute compute(profile, graph, cluster,
                                make_analytic_cost_model(borrowed(graph), borrowed(cluster)),
                                warnings);
  ProfileReport result;
  result.unused = compute.unused();
  std::vector<Missing> missing;
  for (const GpuTypeId gpu : cluster.gpu_types().ids()) {
    result.gpus.push_back(cover(compute, graph, gpu, cluster.gpu_types()[gpu].name, missing));
  }
  std::ranges::stable_sort(missing, std::greater(), &Missing::first);
  for (Missing& op : missing) result.missing.push_back(std::move(op.second));
  return result;
}

}  // namespace strato
