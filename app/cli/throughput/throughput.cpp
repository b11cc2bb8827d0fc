// check-throughput: is what was measured of a training step what can be expected of it, and where
// may the difference come from.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/samples.h"
#include "app/cli/study/measured/measured_prediction.h"
#include "app/cli/throughput/published_rows.h"
#include "app/cli/throughput/throughput_causes.h"
#include "app/cli/throughput/throughput_figure.h"
#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/search/run/run_planner.h"

namespace strato::cli {
namespace {

constexpr std::size_t kPublished = 16;
constexpr std::size_t kFewRows = 5;     // fewer say nothing
constexpr double kUnknownError = 0.15;  // where no row is like it: what calibrations have had

struct ThroughputOptions {
  std::string file, measured, cluster;
  ModelOptions model;
  CostOptions costs;
  std::vector<std::string> set;
};

// The step as it is laid out, with the constants of its framework.
struct CheckedStep {
  Problem problem;  // in the groups of the strategy
  Strategy strategy;
  std::shared_ptr<const Calibration> calibration;
  MeasuredFramework framework = MeasuredFramework::Megatron;
  std::string framework_name;
  std::vector<PlanResult::Fact> facts;  // what of the configuration was read how
};

bool is_plan(const std::string& file) {
  if (!file.ends_with(".json")) return false;
  const std::optional<JsonView> format = JsonView::parse(read_file(file), file).find("format");
  return format && format->is_string() && format->string() == "stratoscope-plan";
}

MeasuredFramework framework_from(const std::string& name, const std::string& text) {
  if (name == "Megatron-LM") return MeasuredFramework::Megatron;
  if (name == "DeepSpeed") return MeasuredFramework::MegatronDeepSpeed;
  return text.find("compile") != std::string::npos ? MeasuredFramework::TorchTitanCompiled
                                                   : MeasuredFramework::TorchTitan;
}

// Without --calibration: that of the framework.
std::shared_ptr<const Calibration> calibration_of(const ThroughputOptions& options,
                                                  MeasuredFramework framework) {
  return MeasuredCalibrations(options.costs.calibration).of(framework);
}

Problem costed(Problem problem, const std::shared_ptr<const Calibration>& calibration,
               const CostOptions& costs) {
  CostSources sources = costs.sources();
  sources.calibration = calibration;
  problem.cost = make_cost_model(problem.graph, problem.cluster, sources);
  return problem;
}

CheckedStep of_plan(const ThroughputOptions& options) {
  const LoadedPlan plan =
      load_plan({options.file, options.model.graph, options.cluster, options.costs});
  for (const std::string& line : plan.unmatched) remark(line);
  CheckedStep step{plan.problem,
                   plan.strategy,
                   {},
                   MeasuredFramework::Megatron,
                   "Megatron-LM (a plan names no framework)",
                   {}};
  step.calibration = calibration_of(options, step.framework);
  step.problem = costed(plan.problem, step.calibration, options.costs);
  return step;
}

CheckedStep of_configuration(const ThroughputOptions& options) {
  if (options.model.graph.empty() || options.cluster.empty())
    throw InputError("", "check-throughput", "is given no model and cluster",
                     "add --graph MODEL --cluster CLUSTER --batch N, as the run had them");
  const LoadedModel model = load_model(options.model);
  const Problem problem = problem_of(model, load_cluster(options.cluster));
  PlannerOptions given;
  given.floor = false;
  given.set = {{"file", options.file}};
  for (const std::string& text : options.set) {
    const std::size_t equals = text.find('=');
    given.set[text.substr(0, equals)] = equals == std::string::npos ? "" : text.substr(equals + 1);
  }
  Observer observer;
  const PlanResult result =
      run_planner(*plugins().planner("configuration"), problem, given, observer, {});
  CheckedStep step{problem, result.strategy, {}, MeasuredFramework::Megatron, {}, result.facts};
  for (const PlanResult::Fact& fact : result.facts)
    if (fact.name == "configuration of") step.framework_name = fact.value;
  step.framework = framework_from(step.framework_name, read_file(options.file));
  step.calibration = calibration_of(options, step.framework);
  step.problem = problem_for(costed(problem, step.calibration, options.costs), result.strategy);
  return step;
}

// Of products in 16 bits, as utilisation is counted; of GPUs that have none such, in 32.
double peak_of_products(const GpuType& gpu) {
  for (const Precision precision : {Precision::Bf16, Precision::Fp16, Precision::Fp32})
    if (const double peak = gpu.peak_flops[static_cast<std::size_t>(precision)]; peak > 0)
      return peak;
  return 1;
}

StepWork work_of(const Problem& problem) {
  StepWork work;
  work.samples = problem.graph->batch();
  work.devices = static_cast<std::int64_t>(problem.cluster->device_count());
  for (const Tensor& tensor : problem.graph->tensors())
    if (tensor.role == TensorRole::Input && !is_floating(tensor.type) && tensor.shape.size() > 1)
      work.tokens = std::max(work.tokens, tensor.elements());
  for (const Op& op : problem.graph->ops()) work.flops += op.work.flops;
  for (const DeviceId device : problem.cluster->devices().ids())
    work.peak += peak_of_products(problem.cluster->gpu(device));
  return work;
}

// How far measured times of rows like this are from what is predicted: their middle four fifths.
struct ExpectedRatio {
  double low = 1 - kUnknownError, middle = 1, high = 1 + kUnknownError;
};
ExpectedRatio expected_ratio(std::vector<double> ratios) {
  if (ratios.size() < kFewRows) return {};
  std::ranges::sort(ratios);
  const auto at = [&](double share) {
    return ratios[static_cast<std::size_t>(
        std::lround(share * static_cast<double>(ratios.size() - 1)))];
  };
  return {at(0.1), at(0.5), at(0.9)};
}

std::string seconds_of(double seconds) { return time_text(nanos_from_seconds(seconds)); }

struct ThroughputReport {
  std::string model, cluster, framework;
  StepWork work;
  double measured = 0, predicted = 0;
  std::vector<PublishedRow> rows;
  ExpectedRatio expected;
  std::vector<ThroughputCause> causes;
  std::vector<PlanResult::Fact> facts;
  bool stopped = false;

  double ratio() const { return measured / predicted; }
  std::size_t faster_rows() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(rows, [&](const PublishedRow& row) { return row.ratio < ratio(); }));
  }
  std::string verdict() const;
};

std::string ThroughputReport::verdict() const {
  if (ratio() > expected.high)
    return fmt::format("slower than expected by {}",
                       seconds_of(measured - expected.high * predicted));
  if (ratio() < expected.low)
    return fmt::format("faster than expected by {}",
                       seconds_of(expected.low * predicted - measured));
  return "as expected";
}

std::string throughput_report_text(const ThroughputReport& report) {
  std::string text = fmt::format("{} on {}, batch {}, {}\n", report.model, report.cluster,
                                 report.work.samples, report.framework);
  text += fmt::format("  measured   {} ({})\n", seconds_of(report.measured),
                      throughput_text(report.measured, report.work));
  text += fmt::format("  predicted  {} ({})\n", seconds_of(report.predicted),
                      throughput_text(report.predicted, report.work));
  text += fmt::format("  expected   {} to {}\n", seconds_of(report.expected.low * report.predicted),
                      seconds_of(report.expected.high * report.predicted));
  text += fmt::format("  verdict    {}\n", report.verdict());
  for (const PlanResult::Fact& fact : report.facts)
    if (fact.name != "configuration of") text += fmt::format("  {}: {}\n", fact.name, fact.value);
  if (report.rows.size() >= kFewRows)
    text += fmt::format(
        "\nOf {} published measurements most like this one the middle four fifths took {:.2f} to "
        "{:.2f} times as long as predicted; this one {:.2f} times: it is number {} of {}.\n",
        report.rows.size(), report.expected.low, report.expected.high, report.ratio(),
        report.faster_rows() + 1, report.rows.size() + 1);
  else
    text += fmt::format(
        "\nFew published measurements are like this one ({}): what is expected is a guess of ± "
        "{}.\n",
        report.rows.size(), percent_text(kUnknownError));
  const double difference = report.measured - report.predicted;
  Table table({difference > 0 ? "what makes a step slower" : "what makes a step faster",
               "step time", "by", "of the difference"});
  for (const ThroughputCause& cause : report.causes) {
    const double by = cause.seconds - report.predicted;
    table.add({cause.words, seconds_of(cause.seconds),
               fmt::format("{}{}", by > 0 ? "+" : "-", seconds_of(std::abs(by))),
               percent_text(by / difference)});
  }
  if (!table.empty()) text += "\n" + table.text();
  if (report.stopped) text += "Stopped: not everything was looked at.\n";
  return text;
}

Json throughput_json(const ThroughputReport& report, double wall_seconds) {
  Json json = {{"model", report.model},
               {"cluster", report.cluster},
               {"framework", report.framework},
               {"measured_s", report.measured},
               {"predicted_s", report.predicted},
               {"expected_s",
                {report.expected.low * report.predicted, report.expected.high * report.predicted}},
               {"verdict", report.verdict()},
               {"mfu", report.work.flops / report.measured / report.work.peak},
               {"published", Json::array()},
               {"causes", Json::array()},
               {"facts", Json::array()},
               {"stopped", report.stopped},
               {"wall_s", wall_seconds}};
  for (const PublishedRow& row : report.rows)
    json["published"].push_back({{"row", row.label}, {"measured_over_predicted", row.ratio}});
  for (const PlanResult::Fact& fact : report.facts)
    json["facts"].push_back({{"name", fact.name}, {"value", fact.value}});
  for (const ThroughputCause& cause : report.causes)
    json["causes"].push_back({{"what", cause.words}, {"step_time_s", cause.seconds}});
  return json;
}

int check_throughput(const ThroughputOptions& options, const Command& command) {
  Interrupt interrupt;
  step_seconds(options.measured, {1, 1, 1, 1, 1});  // no text that is none is worth the wait
  const CheckedStep step = is_plan(options.file) ? of_plan(options) : of_configuration(options);
  interrupt.arm();
  ThroughputReport report;
  report.model = step.problem.graph->name();
  report.cluster = step.problem.cluster->name();
  report.framework = step.framework_name;
  report.facts = step.facts;
  report.work = work_of(step.problem);
  report.measured = step_seconds(options.measured, report.work);
  const ThroughputCauses causes(step.problem, step.strategy, *step.calibration);
  report.predicted = causes.seconds();
  report.causes = causes.find(report.measured > report.predicted, interrupt.token());
  const GpuType& gpu = step.problem.cluster->gpu(DeviceId(0));
  ProgressLine line;
  report.rows = published_rows(
      {gpu.name, report.work.devices, step.framework}, kPublished,
      [&](std::size_t done) { line.show(fmt::format("{} published rows predicted", done)); },
      interrupt.token());
  line.clear();
  std::vector<double> ratios;
  for (const PublishedRow& row : report.rows) ratios.push_back(row.ratio);
  report.expected = expected_ratio(std::move(ratios));
  report.stopped = interrupt.requested();
  print(command.json ? json_text(throughput_json(report, command.wall_seconds())) + "\n"
                     : throughput_report_text(report));
  return Done;
}

}  // namespace

void add_check_throughput(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "check-throughput",
                              "Is a measured throughput what can be expected, and if not, why");
  const auto options = std::make_shared<ThroughputOptions>();
  sub->add_option("config", options->file,
                  "What ran: a training framework's configuration, or a plan")
      ->required();
  sub->add_option("--measured", options->measured,
                  "\"1.93 s\" a step, \"5762 tokens/s/GPU\", \"52300 tokens/s\", \"12 samples/s\", "
                  "\"410 TFLOP/s\" (of a GPU), \"41 % MFU\"")
      ->required();
  sub->add_option("--graph", options->model.graph, "Model: a file, or the name of a sample");
  sub->add_option("--cluster", options->cluster, "Cluster: a file, or the name of a sample");
  options->model.declare_without_graph(*sub);
  options->costs.declare(*sub);
  sub->add_option("--set", options->set,
                  "Of the planner configuration: stages=N, micro_batch_size=N, recompute=WHAT");
  sub->callback([options, &command] {
    command.action = [=, &command] { return check_throughput(*options, command); };
  });
}

}  // namespace strato::cli
