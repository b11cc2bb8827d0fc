#include "app/cli/context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "app/cli/output.h"
#include "app/cli/samples.h"
#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/calibration.h"
#include "core/cost/value/profile.h"
#include "core/graph/build/copy_graph.h"
#include "core/graph/build/graph_file.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/plugin/use/import_model.h"
#include "core/plugin/use/import_note.h"
#include "core/strategy/file/named_strategy.h"

namespace strato::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kNoOptimizer = "none";  // in a plan: a forward graph

// "name=N" -> (name, text of N).
std::pair<std::string, std::string> key_and_value(const std::string& text,
                                                  const std::string& option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError("", option, fmt::format("\"{}\" is not of the form name=value", text),
                     fmt::format("write {} name=value", option));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::int64_t whole_number(const std::string& text, const std::string& option) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || errno != 0 || value < 0) {
    throw InputError("", option, fmt::format("\"{}\" is not a whole number", text),
                     "give 0 or more");
  }
  return value;
}

std::shared_ptr<const Graph> import_graph(const fs::path& path, const ImportOptions& options,
                                          std::vector<std::string>* remarks = nullptr) {
  return std::make_shared<const Graph>(import_model(plugins(), path, options, remarks));
}

// A plan that was made with other costs than those at hand is simulated all the same.
void note_other_costs(const JsonView& result, const CostSources& sources) {
  const auto noted = result.find("costs");
  const auto named = [](const std::string& text) {
    return text.empty() ? std::string("the standard calibration") : text;
  };
  const std::string then = noted ? noted->string() : "", now = describe(sources);
  if (then == now) return;
  remark(fmt::format("the plan was made with the costs of {}; these are of {}", named(then),
                     named(now)));
}

JsonView result_of(const PlanFile& plan, const std::string& file) {
  return JsonView::parse(plan.result_json, file + ": result");
}

Problem problem_by(GroupingMethod method, const Graph& graph,
                   std::shared_ptr<const Cluster> cluster, const ProblemOptions& options) {
  std::vector<std::string> warnings;
  Problem problem = make_problem(graph, std::move(cluster), options, method, &warnings);
  if (options.costs.profile != nullptr && options.costs.profile->ops.empty()) {
    warnings.push_back(fmt::format("profile \"{}\" has no op: all op times are analytic",
                                   options.costs.profile->name));
  }
  for (const std::string& warning : warnings) remark(warning);
  return problem;
}

}  // namespace

void CostOptions::declare(CLI::App& command) {
  command.add_option("--profile", profiles, "Measured costs, from 'profile'; may be given again");
  command.add_option("--calibration", calibration,
                     "Constants of the analytic costs: a file, or the name of a bundled set");
}

CostSources CostOptions::sources() const {
  std::vector<std::string> warnings;
  CostSources sources = read_costs(*this, &warnings);
  for (const std::string& warning : warnings) remark(warning);
  return sources;
}

std::vector<fs::path> CostOptions::files() const {
  std::vector<fs::path> files(profiles.begin(), profiles.end());
  files.emplace_back(calibration);
  return files;
}

Problem problem_of(const Graph& graph, std::shared_ptr<const Cluster> cluster,
                   const ProblemOptions& options) {
  return problem_by(GroupingMethod::Metis, graph, std::move(cluster), options);
}

Problem problem_of(const LoadedModel& model, std::shared_ptr<const Cluster> cluster) {
  for (const std::string& text : model.remarks) remark(fmt::format("{}: {}", model.name, text));
  return problem_by(model.grouping, *model.graph, std::move(cluster), model.options);
}

void ModelOptions::declare(CLI::App& command) {
  command.add_option("--graph", graph, "Model file, or the name of a sample (see list models)")
      ->required();
  declare_without_graph(command);
}

void ModelOptions::declare_without_graph(CLI::App& command) {
  declare_binding(command);
  command.add_option("--groups", groups, "Op groups at most")
      ->capture_default_str()
      ->check(CLI::Range(1, kMostGroups));
  command
      .add_option("--grouping", grouping,
                  "How ops are grouped: metis, or fusion along a topological order (Celeritas)")
      ->capture_default_str()
      ->check(CLI::IsMember({"metis", "fusion"}));
}

void ModelOptions::declare_binding(CLI::App& command) {
  command.add_option("--batch", batch, "Samples in one step, over all devices")
      ->check(CLI::Range(std::int64_t{1}, (std::int64_t{1} << 31) - 1));
  command.add_option(
      "--set-dim", dimensions,
      "Bind another symbolic dimension, or an input of one whole number or boolean; or say what an "
      "input of fixed size is (0: data, 1: parameter): name=N");
  command
      .add_option("--batch-axis", batch_axis,
                  "Axis of the samples, where the model does not name it")
      ->capture_default_str()
      ->check(CLI::Range(0, 7));
  command.add_option("--optimizer", optimizer, "adam, momentum or sgd")->capture_default_str();
  command.add_flag("--inference", inference, "Plan the forward graph alone");
  command.add_option("--precision", precision,
                     "Of what is computed: float32, bfloat16 or float16. Parameters, gradients and "
                     "optimizer states stay in 32 bits. If none is given: as the model has it");
  command.add_option("--trainable", trainable,
                     "Train these parameters alone, as with adapters (LoRA): names, or patterns "
                     "as \"*lora*\"");
  command.add_option("--freeze", frozen, "Do not train these parameters: names or patterns");
}

ImportOptions ModelOptions::import_options() const {
  ImportOptions options;
  options.batch = batch;
  options.batch_axis = batch_axis;
  if (!precision.empty()) options.precision = precision_from(precision);
  options.trainable = trainable;
  options.frozen = frozen;
  for (const std::string& text : dimensions) {
    const auto [name, value] = key_and_value(text, "--set-dim");
    options.dimensions[name] = whole_number(value, "--set-dim " + name);
  }
  return options;
}

ProblemOptions ModelOptions::problem_options() const {
  ProblemOptions options;
  options.training = !inference;
  options.optimizer = optimizer_from(optimizer);
  options.grouping.max_groups = groups;
  return options;
}

void PlannerChoice::declare(CLI::App& command, bool with_planner) {
  if (with_planner)
    command
        .add_option("--planner", planner,
                    planner.empty()
                        ? "See: list planners; NAME+sfb: see list refiners. If none is named: "
                          "meshes for more than 64 devices, and for equal ones that data "
                          "parallelism does not fit on; else mcts"
                        : "See: list planners; NAME+sfb: see list refiners")
        ->capture_default_str();
  auto* count = command.add_option("--iterations", iterations, "Evaluations of a search")
                    ->capture_default_str()
                    ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  command.add_option("--budget", budget, "Time for a search instead: 10s, 2m, 1h")->excludes(count);
  // strtoull(), which parses it, takes "-1" for the largest number.
  command.add_option("--seed", seed, "Same seed, same result")
      ->capture_default_str()
      ->check([](const std::string& text) {
        return text.starts_with('-') ? text + " is negative" : std::string();
      });
  command.add_option("--threads", threads, "0: one for each core; does not change the result")
      ->check(CLI::Range(0, 4096));
  command.add_option("--set", set, "A planner's own option: key=value");
  command
      .add_option("--micro-batches", micro_batches,
                  "Equal parts of the batch that follow each other; groups on other devices are "
                  "stages of a pipeline then")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  command
      .add_option("--schedule", schedule,
                  fmt::format("What a stage does next of its micro-batches: {}, or a CSV file of "
                              "cells, a row for each stage, as PyTorch has them",
                              fmt::join(kPipelineSchedules, ", ")))
      ->capture_default_str();
  command
      .add_option("--tensor", tensor,
                  "Tensor parallelism: so many devices, which follow each other, compute each op "
                  "together, where that divides the devices of an op group")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  command
      .add_option(
          "--recompute", recompute,
          "What the backward pass computes again instead of keeping it: blocks of the model, "
          "or of these what is cheap (no products or convolutions)")
      ->capture_default_str()
      ->check(CLI::IsMember(std::vector<std::string>(kRecompute.begin(), kRecompute.end())));
  command
      .add_option("--offload", offload,
                  "What waits in the memory of hosts, where the cluster has it: optimizer states "
                  "between their updates, activations until the backward pass, or all of these")
      ->capture_default_str()
      ->check(CLI::IsMember(std::vector<std::string>(kOffload.begin(), kOffload.end())));
  constraints.declare(command);
}

// `given`: a name, or a file. Of 1 micro-batch, as nothing was said: as many as a file's table has.
static MicroBatches schedule_from(const std::string& given, std::int32_t count) {
  if (const auto known = pipeline_schedule_from(given)) return {count, *known};
  if (!fs::is_regular_file(given))
    throw InputError(
        "", "--schedule", fmt::format("\"{}\" is no schedule, and no file", given),
        fmt::format("give a CSV file, or one of {}", fmt::join(kPipelineSchedules, ", ")));
  constexpr std::uintmax_t kMostOfATable = std::uintmax_t{64} << 20;
  MicroBatches made = by_hand(parse_schedule_csv(read_file(given, kMostOfATable), given), count);
  naming_file(given, [&] { check_table(made.table, made.count); });
  return made;
}

PlannerOptions PlannerChoice::options() const {
  PlannerOptions options;
  options.iterations = iterations;
  if (budget) options.budget_seconds = parse_duration(*budget, "--budget");
  options.seed = seed;
  options.threads = threads;
  for (const std::string& text : set) options.set.insert(key_and_value(text, "--set"));
  options.constraints = constraints.read();
  options.micro_batches = schedule_from(schedule, micro_batches);
  options.tensor = tensor;
  options.recompute = *recompute_from(recompute);
  options.offload = *offload_from(offload);
  return options;
}

const PluginRegistry& plugins() {
  static const PluginRegistry registry;
  static const bool told = [] {
    for (const std::string& warning : registry.warnings()) remark("plugin left out: " + warning);
    return true;
  }();
  (void)told;
  return registry;
}

LoadedModel load_model(const ModelOptions& options) {
  LoadedModel model;
  model.options = options.problem_options();
  model.grouping = grouping_method_from(options.grouping);
  model.import = options.import_options();
  model.path = found_model(options.graph);
  model.graph = import_graph(model.path, model.import, &model.remarks);
  model.name = model.graph->name();
  return model;
}

LoadedModel load_model(const ModelOptions& options, const CostOptions& costs) {
  LoadedModel model = load_model(options);
  model.cost_files = costs;
  model.options.costs = costs.sources();
  return model;
}

std::shared_ptr<const Cluster> load_cluster(const std::string& given) {
  return std::make_shared<const Cluster>(
      read_cluster(found_cluster(given), GpuCatalogue::bundled()));
}

void PlanSource::declare(CLI::App& command) {
  command.add_option("--plan", plan, "Plan file")->required();
  command.add_option("--graph", graph, "Another model than the plan's");
  command.add_option("--cluster", cluster, "Another cluster than the plan's");
  costs.declare(command);
}

std::vector<fs::path> PlanSource::files() const {
  std::vector<fs::path> files = {plan, model_path(graph), cluster_path(cluster)};
  for (const fs::path& file : costs.files()) files.push_back(file);
  return files;
}

LoadedPlan load_plan(const PlanSource& source) {
  const PlanFile file = read_plan(source.plan);
  const fs::path path =
      source.graph.empty() ? find_model(file, source.plan) : model_path(source.graph);
  ProblemOptions options;
  options.training = file.optimizer != kNoOptimizer;
  if (options.training) options.optimizer = optimizer_from(file.optimizer);
  options.grouping.max_groups = 1;  // the plan brings its own grouping
  const ImportOptions import = noted_import(result_of(file, source.plan), file.batch);
  const auto model = import_graph(path, import);
  auto cluster = source.cluster.empty()
                     ? std::make_shared<const Cluster>(plan_cluster(file, source.plan))
                     : load_cluster(source.cluster);
  LoadedPlan loaded;
  options.costs = source.costs.sources();
  const Problem whole = problem_of(*model, std::move(cluster), options);
  check_same_model(file, source.plan, *whole.graph);
  const auto times = mean_op_times(*whole.graph, *whole.cluster, *whole.cost);
  BoundPlan bound = naming_file(
      source.plan, [&] { return bind_plan(file, *whole.graph, *whole.cluster, times); });
  loaded.problem = with_grouping(whole, std::move(bound.grouping));
  loaded.strategy = std::move(bound.strategy);
  loaded.unmatched = std::move(bound.unmatched);
  if (!bound.same_graph)
    loaded.unmatched.insert(loaded.unmatched.begin(), "the model is not the plan's");
  const JsonView result = result_of(file, source.plan);
  note_other_costs(result, options.costs);
  options.grouping.max_groups = static_cast<int>(file.strategy.groups.size());
  loaded.model = {{path, model->name(), model, import, options}, source.costs};
  if (const auto planner = result.find("planner")) loaded.planner = planner->string();
  if (const auto seed = result.find("seed"); seed && seed->json().is_number_unsigned()) {
    loaded.seed = seed->json().get<std::uint64_t>();
  }
  return loaded;
}

double parse_duration(const std::string& text, const std::string& option) {
  const std::pair<const char*, double> units[] = {
      {"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  for (const auto& [unit, seconds] : units) {
    if (end != text.c_str() && std::string_view(end) == unit && number > 0 &&
        number * seconds < 1e9) {
      return number * seconds;
    }
  }
  throw InputError("", option, fmt::format("\"{}\" is not a time", text),
                   "write 500ms, 10s, 2m or 1h");
}

void check_writable(const fs::path& file, const std::vector<fs::path>& inputs) {
  if (file.empty()) return;
  std::error_code error;
  for (const fs::path& input : inputs) {
    if (file != input && !fs::equivalent(file, input, error)) continue;
    throw InputError(file.string(), "", "is written and also another file of this command",
                     "choose another file name");
  }
  if (is_special_file(file)) return;
  if (fs::is_directory(file, error))
    throw InputError(file.string(), "", "is a folder", "give a file name");
  std::string probe = file.string() + ".probe-XXXXXX";
  const int handle = ::mkstemp(probe.data());
  if (handle < 0) {
    throw InputError(file.string(), "", fmt::format("cannot be written: {}", std::strerror(errno)),
                     "choose a folder that you may write to");
  }
  ::close(handle);
  ::unlink(probe.c_str());
}

}  // namespace strato::cli
