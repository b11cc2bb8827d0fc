#include "app/cli/study/measured/measured_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>

#include "app/cli/context.h"
#include "core/base/at.h"
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/graph/build/graph_builder.h"
#include "core/io/file.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"

namespace strato::cli {
namespace {

namespace fs = std::filesystem;

// A folder of its own for models, which importers read from files.
class ModelFolder {
 public:
  ModelFolder() {
    std::string name = (fs::temp_directory_path() / "stratoscope-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw InputError(name, "", "cannot be made", "free space there, or set TMPDIR");
    path_ = name;
  }
  ~ModelFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  fs::path file(std::size_t number) const { return path_ / fmt::format("{}.json", number); }

 private:
  fs::path path_;
};

std::shared_ptr<const Cluster> cluster_of(const MeasuredMachines& machines) {
  const GpuType* known = GpuCatalogue::bundled().find(machines.gpu);
  CHECK(known != nullptr, "tables name GPUs of the catalogue");
  GpuType gpu = *known;
  if (machines.memory_gbps) gpu.memory_bandwidth = *machines.memory_gbps * 1e9;
  if (machines.memory_gib)
    gpu.memory = Bytes(static_cast<std::int64_t>(*machines.memory_gib * 1073741824));
  const auto link = [](const char* kind, double bandwidth, double latency) {
    return Json{{"kind", kind}, {"bandwidth_GBps", bandwidth}, {"latency_us", latency}};
  };
  const Json json = {{"format", "stratoscope-cluster"},
                     {"version", 1},
                     {"name", machines.name()},
                     {"gpu_types", Json::array({gpu_to_json(gpu)})},
                     {"machines", Json::array({Json{
                                      {"name", "machine"},
                                      {"count", machines.count},
                                      {"gpus", Json::array({Json{
                                                   {"type", gpu.name},
                                                   {"count", machines.gpus_per_machine}}})},
                                      {"fabric", link("nvlink", machines.fabric_gbps, 2)},
                                      {"host_link", link("pcie", 25, 4)},
                                      {"nic", link("infiniband", machines.network_gbps, 3)}}})},
                     {"network", {{"latency_us", 1}}}};
  return std::make_shared<const Cluster>(
      parse_cluster(json.dump(), machines.name(), GpuCatalogue::bundled()));
}

MeasuredPrediction predict(const MeasuredRow& row, const fs::path& file,
                           const std::shared_ptr<const Calibration>& calibration,
                           Planner& planner) {
  write_file(file, row.config.dump());
  ModelOptions model;
  model.graph = file.string();
  model.batch = row.batch;
  model.dimensions = {fmt::format("sequence={}", row.sequence),
                      fmt::format("flash={}", row.flash ? 1 : 0)};
  ProblemOptions options = model.problem_options();
  options.costs.calibration = calibration;
  const LoadedModel loaded = load_model(model);
  const Problem problem = problem_of(*loaded.graph, cluster_of(row.machines), options);
  PlannerOptions planner_options;
  planner_options.set = {row.layout.begin(), row.layout.end()};
  planner_options.floor = false;
  planner_options.threads = 1;
  Observer observer;
  const PlanResult plan = run_planner(planner, problem, planner_options, observer, {});
  MeasuredPrediction prediction;
  prediction.seconds = to_seconds(plan.score.step_time) + calibration->step_us * 1e-6;
  if (row.bytes) {
    const Outcome outcome =
        simulate_outline(problem_for(problem, plan.strategy), plan.strategy, false);
    for (const DeviceUse& device : outcome.timeline->devices)
      prediction.bytes = std::max(prediction.bytes, static_cast<double>(device.peak.value));
  }
  return prediction;
}

constexpr std::array<std::string_view, 4> kBundled = {"megatron-deepspeed", "megatron",
                                                      "torchtitan", "torchtitan-compiled"};

}  // namespace

MeasuredCalibrations::MeasuredCalibrations(const std::string& given) {
  for (std::size_t i = 0; i < kBundled.size(); ++i) {
    std::error_code error;
    const std::string name = given.empty() ? std::string(kBundled[i]) : given;
    by_framework_[static_cast<MeasuredFramework>(i)] = std::make_shared<const Calibration>(
        fs::is_regular_file(name, error) ? read_calibration(name) : bundled_calibration(name));
  }
}

const std::shared_ptr<const Calibration>& MeasuredCalibrations::of(
    MeasuredFramework framework) const {
  return by_framework_.at(framework);
}

std::vector<MeasuredPrediction> predict_measured(std::span<const MeasuredRow> rows,
                                                 const MeasuredCalibrations& calibrations,
                                                 const std::function<void(std::size_t)>& done,
                                                 const std::stop_token& stop) {
  const ModelFolder folder;
  std::vector<MeasuredPrediction> predictions(rows.size());
  std::atomic<std::size_t> ready = 0;
  std::mutex loading;
  parallel_for(rows.size(), 0, [&](std::size_t i) {
    if (stop.stop_requested()) {
      predictions[i].refused = "interrupted";
      return;
    }
    std::unique_ptr<Planner> planner;
    {
      const std::scoped_lock lock(loading);
      planner = plugins().planner("pipeline");
    }
    try {
      predictions[i] = predict(rows[i], folder.file(i), calibrations.of(rows[i].framework),
                               *planner);
    } catch (const InputError& error) {
      predictions[i].refused = error.what();
    }
    done(++ready);
  });
  return predictions;
}

std::vector<double> predict_collectives(std::span<const MeasuredCollective> collectives,
                                        const MeasuredCalibrations& calibrations) {
  std::vector<double> result;
  const auto graph = std::make_shared<const Graph>(GraphBuilder("collectives", 1).build());
  for (const MeasuredCollective& one : collectives) {
    const bool newer = one.gpu == "a100";
    const auto cluster = cluster_of({.gpu = newer ? "A100-SXM4-80GB" : "V100-SXM2-32GB",
                                     .count = 1,
                                     .gpus_per_machine = one.gpus,
                                     .fabric_gbps = newer ? 300.0 : 150.0});
    const auto cost = make_analytic_cost_model(graph, cluster,
                                               calibrations.of(MeasuredFramework::Megatron));
    std::vector<DeviceId> devices;
    for (std::int32_t d = 0; d < one.gpus; ++d) devices.emplace_back(at(d));
    result.push_back(to_seconds(
        cost->collective(Collective::AllReduce, devices, Bytes(one.bytes)).duration));
  }
  return result;
}

}  // namespace strato::cli
