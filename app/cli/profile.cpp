// Measures the ops of a model on a device of this machine and writes what they took.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/interrupt.h"
#include "app/cli/measure.h"
#include "app/cli/output.h"
#include "app/cli/profile_report.h"
#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/graph/transform.h"

namespace strato::cli {
namespace {

struct ProfileCommand {
  ModelOptions model;
  std::string device = "cpu", merged, output;
  std::vector<std::int64_t> batches;
  int repetitions = 5, threads = 1;
  std::uint64_t seed = 1;
};

struct Choice {
  std::unique_ptr<Engine> engine;
  EngineDevice device;
};

Choice engine_for(const std::string& device) {
  std::vector<std::string> known;
  for (const PluginInfo& plugin : plugins().list(PluginKind::Engine)) {
    auto engine = plugins().engine(plugin.name);
    for (const EngineDevice& each : engine->devices()) {
      if (each.name == device) return {std::move(engine), each};
      known.push_back(each.name);
    }
  }
  if (known.empty()) {
    throw InputError("", "--device", "this Stratoscope has no compute engine",
                     "install LibTorch (libtorch-dev) and build again");
  }
  throw InputError("", "--device", fmt::format("there is no device \"{}\" here", device),
                   fmt::format("use one of: {}", fmt::join(known, ", ")));
}

LoadedModel load_with_batch(ModelOptions options, std::optional<std::int64_t> batch) {
  if (batch) options.batch = batch;
  return load_model(options);
}

std::shared_ptr<const Graph> graph_of(const LoadedModel& model) {
  Graph forward = simplify(*model.graph, !model.options.training);
  if (!model.options.training) return std::make_shared<const Graph>(std::move(forward));
  return std::make_shared<const Graph>(make_training_graph(forward, model.options.optimizer));
}

// The batch, its half, its quarter and its eighth, as far as they are whole.
std::vector<std::int64_t> halves(std::int64_t batch) {
  std::vector<std::int64_t> result = {batch};
  while (result.size() < 4 && result.back() > 1) result.push_back(result.back() / 2);
  return result;
}

// Graphs by falling batch size. A model that cannot be bound to a smaller batch than its own is
// measured at the others.
std::vector<std::shared_ptr<const Graph>> graphs_of(const ProfileCommand& options,
                                                    std::string& name) {
  std::vector<std::int64_t> wanted = options.batches;
  std::sort(wanted.rbegin(), wanted.rend());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  const LoadedModel first =
      load_with_batch(options.model, wanted.empty() ? options.model.batch : wanted.front());
  name = first.name;
  std::vector<std::shared_ptr<const Graph>> graphs = {graph_of(first)};
  if (wanted.empty()) wanted = halves(first.graph->batch());
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    try {
      graphs.push_back(graph_of(load_with_batch(options.model, wanted[i])));
    } catch (const InputError& error) {
      if (!options.batches.empty()) throw;
      remark(fmt::format("batch {} is left out: {}", wanted[i], error.what()));
    }
  }
  return graphs;
}

void add_to(Profile& profile, const Measured& measured, const std::string& model,
            const std::string& gpu, bool largest_batch) {
  for (const OpTime& op : measured.ops) {
    // Its time does not depend on the batch; beside the largest one it is measured best.
    if (!op.follows_batch && !largest_batch) continue;
    profile.ops.push_back({op.signature, gpu, {op.measurement}});
  }
  if (!measured.ops.empty()) {
    profile.memory.push_back({model, gpu, measured.step.batch, measured.step.peak});
  }
}

std::string device_type(const std::string& device) {  // "cuda:0" -> "cuda"
  return device.substr(0, device.find(':'));
}

// What the op with the largest tensors holds at once: less than a step takes.
Bytes largest_op(const Graph& graph) {
  Bytes largest;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    Bytes held;
    for (const auto* tensors : {&graph.op(OpId(i)).inputs, &graph.op(OpId(i)).outputs})
      for (const TensorId id : *tensors)
        if (id.valid()) held += graph.tensor(id).bytes();
    largest = std::max(largest, held);
  }
  return largest;
}

// The engine's library would refuse it in its own words, which lead elsewhere.
void check_memory(const Graph& graph, const EngineDevice& device) {
  const Bytes needed = largest_op(graph);
  if (needed <= device.memory) return;
  throw InputError("", fmt::format("batch {}", graph.batch()),
                   fmt::format("one op alone holds {}, and {} has {}", bytes_text(needed),
                               device.name, bytes_text(device.memory)),
                   "give smaller batches with --batches");
}

ProfileResult measure_all(const ProfileCommand& options, const Choice& choice,
                          Interrupt& interrupt) {
  ProfileResult result;
  const auto graphs = graphs_of(options, result.model);
  result.graph = graphs.front();
  for (const auto& graph : graphs) check_memory(*graph, choice.device);
  result.device = options.device;
  MeasureOptions how;
  how.repetitions = options.repetitions;
  how.engine.device = options.device;
  how.engine.threads = options.threads;
  how.engine.seed = options.seed;
  ProgressLine line;
  interrupt.arm();
  for (std::size_t i = 0; i < graphs.size() && !interrupt.requested(); ++i) {
    const auto progress = [&](double share) {
      line.show(fmt::format("batch {} ({} of {}): {:.0f} %", graphs[i]->batch(), i + 1,
                            graphs.size(), 100 * share));
    };
    const Measured measured = measure(*choice.engine, graphs[i], how, interrupt.token(), progress);
    add_to(result.profile, measured, result.model, device_type(options.device), i == 0);
    if (i == 0) result.ops = measured.ops;
    if (!measured.ops.empty()) result.steps.push_back(measured.step);
  }
  result.stopped = interrupt.requested();
  return result;
}

// More threads than cores wait for each other: some are fair to try, a thousand measure nothing.
void check_threads(int threads) {
  constexpr int kPerCore = 4;
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  if (threads <= kPerCore * cores) return;
  throw InputError(
      "", "--threads",
      fmt::format("{} threads are too many for the {} cores of this machine", threads, cores),
      fmt::format("give 1 to {}", cores));
}

int profile(const ProfileCommand& options, const Command& command) {
  Interrupt interrupt;
  check_threads(options.threads);
  check_writable(options.output, {model_path(options.model.graph), options.merged});
  optimizer_from(options.model.optimizer);
  const Profile other = options.merged.empty() ? Profile() : read_profile(options.merged);
  const Choice choice = engine_for(options.device);
  ProfileResult result = measure_all(options, choice, interrupt);
  result.profile.host = fmt::format("{}, {} thread{}", choice.device.hardware, options.threads,
                                    options.threads == 1 ? "" : "s");
  result.profile.software = choice.engine->software();
  if (result.steps.empty()) {
    remark("stopped before a step was measured: nothing is written");
    return Infeasible;
  }
  result.profile.name = profile_name(result);
  result.profile = normalised(std::move(result.profile));
  if (const std::string warning = mixture_warning(result.profile, other); !warning.empty()) {
    result.warnings.push_back(warning);
    remark(warning);
  }
  const Profile all = other.empty() ? result.profile : merge(result.profile, other);
  if (!options.output.empty()) write_profile(options.output, all);
  result.output = options.output;
  print(command.json ? profile_json(result, command.wall_seconds()).dump() + "\n"
                     : profile_text(result));
  return Done;
}

void declare_measuring(CLI::App& sub, ProfileCommand& options) {
  sub.add_option("--device", options.device, "Where: cpu")->capture_default_str();
  sub.add_option("--batches", options.batches,
                 "Batch sizes to measure at; else the batch, its half, quarter and eighth")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, (std::int64_t{1} << 31) - 1));
  sub.add_option("--repetitions", options.repetitions,
                 "Steps at each batch size; short ones are repeated for a second")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  sub.add_option("--threads", options.threads, "CPU threads for one op")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  sub.add_option("--seed", options.seed, "Of parameters and synthetic inputs")
      ->capture_default_str();
  sub.add_option("--merge", options.merged, "Another profile, whose measurements are kept too");
  sub.add_option("-o,--output", options.output, "Profile file to write");
}

}  // namespace

void add_profile(CLI::App& app, Command& command) {
  CLI::App* sub =
      add_command(app, command, "profile", "Measure the ops of a model on this machine");
  const auto options = std::make_shared<ProfileCommand>();
  sub->add_option("--graph", options->model.graph, "Model file, or the name of a sample")
      ->required();
  options->model.declare_binding(*sub);
  declare_measuring(*sub, *options);
  sub->callback([options, &command] {
    command.action = [=, &command] { return profile(*options, command); };
  });
}

}  // namespace strato::cli
