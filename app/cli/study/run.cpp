#include "app/cli/study/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/cli/context.h"
#include "app/cli/study/cluster.h"
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/graph/train/training_graph.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"

namespace strato::cli {
namespace {

constexpr std::string_view kHost = "store";

bool is_embedding(const Op& op) { return op.family == OpFamily::Embedding; }

// Update ops of tables that are only looked up in: frameworks exchange the rows in use
// (TensorFlow's IndexedSlices), so that these variables, their lookups and gradients stay together.
bool updates_a_table(const Graph& graph, OpId update) {
  for (const TensorId input : graph.op(update).inputs) {
    if (!input.valid() || graph.update_of(input) != update) continue;
    const auto readers = graph.consumers(input);
    return std::all_of(readers.begin(), readers.end(), [&](OpId reader) {
      return reader == update || is_embedding(graph.op(reader));
    });
  }
  return false;
}

enum Part : std::int32_t { Replicas, Variables, Tables };

std::shared_ptr<const Grouping> grouping_of(const Graph& graph) {
  std::vector<std::int32_t> part(graph.op_count(), Replicas);
  for (std::size_t i = 0; i < part.size(); ++i) {
    const Op& op = graph.op(OpId(i));
    if (op.phase == Phase::Update)
      part[i] = updates_a_table(graph, OpId(i)) ? Tables : Variables;
    else if (is_embedding(op))
      part[i] = Tables;
  }
  const std::vector<Nanos> times(part.size(), Nanos(1));
  return std::make_shared<const Grouping>(graph, part, times);
}

// The part of a group: that of its first op.
Part part_of(const Graph& graph, const OpGroup& group) {
  const Op& op = graph.op(group.ops.front());
  if (is_embedding(op)) return Tables;
  if (op.phase != Phase::Update) return Replicas;
  return updates_a_table(graph, group.ops.front()) ? Tables : Variables;
}

// Adds the host's memory as a machine that is wired to the first one, and computes updates. Two
// GPUs share an uplink of the PCI bus, as in the servers of that time; a tensor takes all uplinks
// at once.
Json with_host(Json json, const Calibration& calibration) {
  const Json& first = json["machines"][0];
  const int uplinks = (first["gpus"][0].value("count", 1) + 1) / 2;
  const double bandwidth = calibration.host_port_GBps * uplinks;
  std::string name = first["name"];
  if (first.value("count", 1) > 1) name += "-0";
  json["gpu_types"].push_back({{"name", kHost},
                               {"memory_bytes", std::int64_t{256} << 30},
                               {"memory_bandwidth_GBps", calibration.host_memory_GBps},
                               {"peak_tflops", {{"fp32", 2}}}});
  Json host = {{"name", kHost}, {"gpus", Json::array({{{"type", kHost}, {"count", 1}}})}};
  host["host_link"] = {{"bandwidth_GBps", bandwidth}, {"latency_us", 0}};
  if (first.contains("nic")) host["nic"] = first["nic"];
  json["machines"].push_back(std::move(host));
  json["links"].push_back({{"between", Json::array({name, kHost})},
                           {"bandwidth_GBps", bandwidth},
                           {"latency_us", calibration.host_latency_us / uplinks}});
  return json;
}

std::shared_ptr<const Cluster> cluster_of(const StudyCase& study_case,
                                          const Calibration& calibration) {
  std::string text = study_case.cluster;
  if (study_case.exchange() == Exchange::Host)
    text = with_host(Json::parse(text), calibration).dump();
  return std::make_shared<const Cluster>(
      parse_cluster(text, study_case.column().cluster, GpuCatalogue()));
}

// All samples over the GPUs; variables at the host, divided over the GPUs or on each.
Strategy strategy_of(const StudyCase& study_case, const Cluster& cluster) {
  const Exchange exchange = study_case.exchange();
  Decision replicas{exchange == Exchange::AllReduce ? Mode::ReplicateAllReduce : Mode::ReplicatePs,
                    {}};
  Decision apart{Mode::Duplicate, {}};
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    if (cluster.gpu(DeviceId(d)).name == kHost)
      apart = {Mode::ModelParallel, {{DeviceId(d), 1}}};
    else
      replicas.devices.push_back({DeviceId(d), 1});
  }
  if (apart.devices.empty()) apart.devices = replicas.devices;
  Strategy strategy;
  for (const OpGroup& group : study_case.grouping->groups()) {
    const Part part = part_of(*study_case.graph, group);
    const bool at_host = exchange == Exchange::Host && part != Replicas;
    strategy.groups.push_back(at_host || part == Tables ? apart : replicas);
  }
  return strategy;
}

// A replica reads its samples one after the other; a step's samples come from one process, in which
// kReaders replicas read at once.
double input_seconds(const StudyCase& study_case, const Calibration& calibration) {
  constexpr int kReaders = 2;
  double bytes = 0;
  for (const Tensor& tensor : study_case.graph->tensors())
    if (tensor.role == TensorRole::Input) bytes += static_cast<double>(tensor.bytes().value);
  double seconds =
      static_cast<double>(study_case.graph->batch()) * calibration.input_sample_us * 1e-6;
  if (calibration.input_GBps > 0) seconds += bytes / (calibration.input_GBps * 1e9);
  return seconds / std::min(kReaders, study_case.gpus);
}

struct ModelKey {
  std::string model;
  std::int64_t batch;
  std::map<std::string, std::int64_t> dimensions;
  auto operator<=>(const ModelKey&) const = default;
};

std::shared_ptr<const Graph> training_graph(const ModelKey& key) {
  ModelOptions options;
  options.graph = key.model;
  options.batch = key.batch;
  for (const auto& [name, value] : key.dimensions)
    options.dimensions.push_back(fmt::format("{}={}", name, value));
  const LoadedModel model = load_model(options);
  return std::make_shared<const Graph>(
      make_training_graph(simplify(*model.graph, false), model.options.optimizer));
}

}  // namespace

double kernels_of_a_process(const StudyCase& study_case, const Program& program) {
  double kernels = 0;
  for (const Task& task : program.tasks) {
    if (is_communication(task.kind) || program.cluster->gpu(task.device).name == kHost) continue;
    const bool whole = task.kind == TaskKind::Compute || task.kind == TaskKind::Update;
    kernels += whole ? program.graph->op(task.op).work.kernels : 1;
  }
  return kernels / study_case.machines;
}

double StudyCase::speed(double step_seconds) const {
  return static_cast<double>(graph->batch()) * row().items / step_seconds;
}

double StudyCase::in_unit(double step_seconds) const {
  return study->in_seconds ? step_seconds : speed(step_seconds);
}

double StudyCase::reported_seconds() const {
  const double value = cell.seconds_or_speed.value_or(0);
  return study->in_seconds ? value : speed(1) / value;
}

std::string StudyCase::strategy() const {
  if (gpus == 1) return "single-device";
  return exchange() == Exchange::Host ? "dp-host"
         : exchange() == Exchange::Ps ? "dp-ps"
                                      : "dp-allreduce";
}

namespace {

// The models of studies, each made once.
class StudyModels {
 public:
  StudyCase case_of(const Study& study, const StudyCell& cell) {
    StudyCase made{&study, cell, nullptr, nullptr, {}, 1, 1};
    const StudyColumn& column = made.column();
    const RestrictedCluster cluster =
        restricted_cluster(column.cluster, column.gpus_per_machine, column.label);
    made.cluster = cluster.json;
    made.machines = cluster.machines;
    made.gpus = cluster.gpus;
    const std::int64_t batch = made.row().batch * (study.per_gpu_batch ? made.gpus : 1);
    Model& model = models_[{made.row().model, batch, made.row().dimensions}];
    if (!model.graph) {
      model.graph = training_graph({made.row().model, batch, made.row().dimensions});
      model.grouping = grouping_of(*model.graph);
    }
    made.graph = model.graph;
    made.grouping = model.grouping;
    return made;
  }

 private:
  struct Model {
    std::shared_ptr<const Graph> graph;
    std::shared_ptr<const Grouping> grouping;
  };
  std::map<ModelKey, Model> models_;
};

// What is wrong with a model or a cluster that the study names is wrong with the study.
InputError blamed_on(const Study& study, const InputError& error) {
  if (error.file() == study.file) return error;
  const char* separator = error.file().empty() || error.place().empty() ? "" : ": ";
  return {study.file, error.file() + separator + error.place(), error.problem(), error.remedy()};
}

}  // namespace

std::vector<StudyCase> prepare(std::span<const Study> studies) {
  StudyModels models;
  std::vector<StudyCase> cases;
  for (const Study& study : studies) {
    try {
      for (const StudyCell& cell : study.cells) cases.push_back(models.case_of(study, cell));
    } catch (const InputError& error) {
      throw blamed_on(study, error);
    }
  }
  return cases;
}

Digest simulation_key(const StudyCase& study_case, const Calibration& calibration) {
  Calibration used = Calibration::standard();  // but for what the case depends on
  used.launch_scale = calibration.launch_scale;
  used.issue_us = calibration.issue_us;
  used.matrix_units = calibration.matrix_units;
  for (const Op& op : study_case.graph->ops()) {
    used.of(op.family) = calibration.of(op.family);
    if (op.family == OpFamily::Convolution) used.winograd = calibration.winograd;
  }
  if (study_case.exchange() == Exchange::Host) {
    used.host_port_GBps = calibration.host_port_GBps;
    used.host_latency_us = calibration.host_latency_us;
    used.host_memory_GBps = calibration.host_memory_GBps;
  }
  if (study_case.gpus > 1) {
    used.transfer_scale = calibration.transfer_scale;
    if (study_case.exchange() == Exchange::AllReduce)
      used.collective_scale = calibration.collective_scale;
  }
  return used.digest();
}

Simulated simulate(const StudyCase& study_case, const Calibration& calibration) {
  Problem problem;
  problem.graph = study_case.graph;
  problem.grouping = study_case.grouping;
  problem.cluster = cluster_of(study_case, calibration);
  problem.cost = make_cost_model(problem.graph, problem.cluster,
                                 {std::make_shared<Calibration>(calibration), nullptr});
  SimulateOptions options;  // the bus and the network are shared by all transfers to the host
  options.fair_links = study_case.exchange() == Exchange::Host;
  const Outcome outcome =
      simulate_strategy(problem, strategy_of(study_case, *problem.cluster), false, options);
  return {to_seconds(outcome.timeline->step_time),
          kernels_of_a_process(study_case, *outcome.program), outcome.timeline->feasible};
}

Prediction predict(const StudyCase& study_case, const Simulated& simulated,
                   const Calibration& calibration) {
  Prediction result;
  result.devices = simulated.seconds;
  result.fits = simulated.fits;
  result.dispatch = simulated.kernels * calibration.dispatch_us * 1e-6;
  result.input = input_seconds(study_case, calibration);
  result.seconds =
      std::max(result.devices, result.input) + result.dispatch + calibration.step_us * 1e-6;
  return result;
}

std::vector<Prediction> predict_all(std::span<const StudyCase> cases,
                                    const Calibration& calibration) {
  std::vector<Prediction> result(cases.size());
  parallel_for(cases.size(), 0, [&](std::size_t i) {
    result[i] = predict(cases[i], simulate(cases[i], calibration), calibration);
  });
  return result;
}

}  // namespace strato::cli
