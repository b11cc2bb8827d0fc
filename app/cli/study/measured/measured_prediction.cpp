#include "app/cli/study/measured/measured_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
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

// A row that is laid out as it was measured.
struct LaidOutRow {
  Problem problem;
  PlanResult plan;
};

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
  // Each GPU has its part of the machine's ports, as where it has one of its own.
  const double port = machines.network_gbps / machines.gpus_per_machine;
  const Json json = {
      {"format", "stratoscope-cluster"},
      {"version", 1},
      {"name", machines.name()},
      {"gpu_types", Json::array({gpu_to_json(gpu)})},
      {"machines",
       Json::array({Json{
           {"name", "machine"},
           {"count", machines.count},
           {"gpus", Json::array({Json{{"type", gpu.name}, {"count", machines.gpus_per_machine}}})},
           {"fabric", link("nvlink", machines.fabric_gbps, 2)},
           {"host_link", link("pcie", port, 4)},
           {"nic", link("infiniband", machines.network_gbps, 3)}}})},
      {"network", {{"latency_us", 1}}}};
  return std::make_shared<const Cluster>(
      parse_cluster(json.dump(), machines.name(), GpuCatalogue::bundled()));
}

LaidOutRow lay_out(const MeasuredRow& row, const fs::path& file,
                   const std::shared_ptr<const Calibration>& calibration, Planner& planner) {
  write_file(file, row.config.dump());
  ModelOptions model;
  model.graph = file.string();
  model.batch = row.batch;
  model.dimensions = {fmt::format("sequence={}", row.sequence),
                      fmt::format("flash={}", row.flash ? 1 : 0)};
  ProblemOptions options = model.problem_options();
  options.costs.calibration = calibration;
  const LoadedModel loaded = load_model(model);
  PlannerOptions planner_options;
  planner_options.set = {row.layout.begin(), row.layout.end()};
  planner_options.floor = false;
  planner_options.threads = 1;
  Observer observer;
  LaidOutRow result{problem_of(*loaded.graph, cluster_of(row.machines), options), {}};
  result.plan = run_planner(planner, result.problem, planner_options, observer, {});
  return result;
}

double with_step(Nanos devices, const Calibration& calibration) {
  return to_seconds(devices) + calibration.step_us * 1e-6;
}

MeasuredPrediction prediction_of(const MeasuredRow& row, const LaidOutRow& laid_out,
                                 const Calibration& calibration) {
  const Problem& problem = laid_out.problem;
  const Strategy& strategy = laid_out.plan.strategy;
  MeasuredPrediction prediction;
  prediction.seconds = with_step(laid_out.plan.score.step_time, calibration);
  if (!row.bytes) return prediction;
  const Outcome outcome = simulate_outline(problem_for(problem, strategy), strategy, false);
  for (const DeviceUse& device : outcome.timeline->devices)
    prediction.bytes = std::max(prediction.bytes, static_cast<double>(device.peak.value));
  return prediction;
}

// Calls `use` with each row that can be laid out, on all cores, from any thread; `refuse` with
// why one cannot.
void lay_out_all(std::span<const MeasuredRow> rows, const MeasuredCalibrations& calibrations,
                 const std::function<void(std::size_t, LaidOutRow)>& use,
                 const std::function<void(std::size_t, std::string)>& refuse,
                 const std::stop_token& stop) {
  const ModelFolder folder;
  std::mutex loading;
  parallel_for(rows.size(), 0, [&](std::size_t i) {
    if (stop.stop_requested()) return refuse(i, "interrupted");
    std::unique_ptr<Planner> planner;
    {
      const std::scoped_lock lock(loading);
      planner = plugins().planner("pipeline");
    }
    try {
      use(i, lay_out(rows[i], folder.file(i), calibrations.of(rows[i]), *planner));
    } catch (const InputError& error) {
      refuse(i, fmt::format("{}: {}; {}", error.place(), error.problem(), error.remedy()));
    }
  });
}

std::shared_ptr<const Calibration> in_precision(const MeasuredRow& row, Calibration calibration) {
  calibration.fp8_products |= row.fp8;
  return std::make_shared<const Calibration>(std::move(calibration));
}

constexpr std::array<std::string_view, 4> kBundled = {"megatron-deepspeed", "megatron",
                                                      "torchtitan", "torchtitan-compiled"};

}  // namespace

MeasuredCalibrations::MeasuredCalibrations(const std::string& given) {
  const auto found = [&](std::string_view bundled) {
    std::error_code error;
    const std::string name = given.empty() ? std::string(bundled) : given;
    return std::make_shared<const Calibration>(
        fs::is_regular_file(name, error) ? read_calibration(name) : bundled_calibration(name));
  };
  for (std::size_t i = 0; i < kBundled.size(); ++i)
    by_framework_[static_cast<MeasuredFramework>(i)] = found(kBundled[i]);
  of_collectives_ = found("nccl");
}

std::shared_ptr<const Calibration> MeasuredCalibrations::of(MeasuredFramework framework) const {
  return by_framework_.at(framework);
}

std::shared_ptr<const Calibration> MeasuredCalibrations::of(const MeasuredRow& row) const {
  return in_precision(row, *by_framework_.at(row.framework));
}

std::vector<MeasuredPrediction> predict_measured(std::span<const MeasuredRow> rows,
                                                 const MeasuredCalibrations& calibrations,
                                                 const std::function<void(std::size_t)>& done,
                                                 const std::stop_token& stop) {
  std::vector<MeasuredPrediction> predictions(rows.size());
  std::atomic<std::size_t> ready = 0;
  lay_out_all(
      rows, calibrations,
      [&](std::size_t i, const LaidOutRow& laid_out) {
        predictions[i] = prediction_of(rows[i], laid_out, *calibrations.of(rows[i]));
        done(++ready);
      },
      [&](std::size_t i, std::string why) { predictions[i].refused = std::move(why); }, stop);
  return predictions;
}

struct MeasuredSteps::Case {
  LaidOutRow laid_out;
  MeasuredRow row;
};

MeasuredSteps::MeasuredSteps(std::span<const MeasuredRow> rows,
                             const MeasuredCalibrations& calibrations) {
  std::vector<std::optional<Case>> found(rows.size());
  lay_out_all(
      rows, calibrations,
      [&](std::size_t i, LaidOutRow laid_out) {
        if (rows[i].seconds) found[i] = {std::move(laid_out), rows[i]};
      },
      [](std::size_t, const std::string&) {}, {});
  for (std::optional<Case>& one : found)
    if (one) cases_.push_back(std::move(*one));
  if (cases_.empty())
    throw InputError("", "", "no step time can be predicted", "give tables of measured steps");
}

MeasuredSteps::~MeasuredSteps() = default;

std::vector<double> MeasuredSteps::errors(const Calibration& calibration) const {
  std::vector<double> errors(cases_.size());
  parallel_for(cases_.size(), 0, [&](std::size_t i) {
    const auto& [laid_out, row] = cases_[i];
    Problem problem = problem_for(laid_out.problem, laid_out.plan.strategy);
    problem.cost =
        make_analytic_cost_model(problem.graph, problem.cluster, in_precision(row, calibration));
    const Outcome outcome = simulate_outline(problem, laid_out.plan.strategy, false);
    errors[i] = std::log(with_step(outcome.score.step_time, calibration) / *row.seconds);
  });
  return errors;
}

std::vector<double> predict_collectives(std::span<const MeasuredCollective> collectives,
                                        const MeasuredCalibrations& calibrations) {
  std::vector<double> result;
  const auto graph = std::make_shared<const Graph>(GraphBuilder("collectives", 1).build());
  for (const MeasuredCollective& one : collectives) {
    const auto cluster = cluster_of(one.machine);
    const auto cost = make_analytic_cost_model(graph, cluster, calibrations.of_collectives());
    std::vector<DeviceId> devices;
    for (std::int32_t d = 0; d < one.machine.gpus_per_machine; ++d) devices.emplace_back(at(d));
    result.push_back(
        to_seconds(cost->collective(Collective::AllReduce, devices, Bytes(one.bytes)).duration));
  }
  return result;
}

}  // namespace strato::cli
