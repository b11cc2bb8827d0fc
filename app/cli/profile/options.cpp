#include "app/cli/profile/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/graph/train/training_graph.h"

namespace strato::cli {
namespace {

LoadedModel load_with_batch(ModelOptions options, std::optional<std::int64_t> batch) {
  if (batch) options.batch = batch;
  return load_model(options);
}

std::shared_ptr<const Graph> graph_of(const LoadedModel& model) {
  Graph forward = simplify(*model.graph, !model.options.training);
  if (!model.options.training) return std::make_shared<const Graph>(std::move(forward));
  return std::make_shared<const Graph>(make_training_graph(forward, model.options.optimizer));
}

void declare_cluster(CLI::App& sub, ProfileOptions& options) {
  CLI::Option* cluster = sub.add_option(
      "--cluster", options.cluster,
      "Measure over this cluster, by one process a device: the ops on every GPU type, and messages "
      "between all devices");
  sub.add_option("--launcher", options.launch.launcher, "Of --cluster; see: list launchers")
      ->capture_default_str()
      ->needs(cluster);
  sub.add_option("--set", options.launch.set, "A launcher's own setting: key=value")
      ->needs(cluster);
  sub.add_option("--engine", options.launch.job.engine, "Of --cluster: measures the ops")
      ->capture_default_str()
      ->needs(cluster);
  sub.add_option("--transport", options.launch.job.transport, "Of --cluster; see: list transports")
      ->capture_default_str()
      ->needs(cluster);
  sub.add_option("--budget", options.budget,
                 "Of --cluster: time for all measurements; what does not fit is left out")
      ->capture_default_str()
      ->needs(cluster);
  sub.add_option("--largest", options.largest,
                 "Of --cluster: bytes of the largest message; from 1 KB on sizes double")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{2048}, std::int64_t{1} << 40))
      ->needs(cluster);
  sub.add_option("--timeout", options.launch.timeout,
                 "Of --cluster: a rank without progress for so long is hung")
      ->capture_default_str()
      ->needs(cluster);
  sub.add_option("--job", options.folder,
                 "Of --cluster: folder of the job, which all nodes see; else a temporary one")
      ->needs(cluster);
}

}  // namespace

std::vector<std::shared_ptr<const Graph>> graphs_of(
    const ProfileOptions& options, std::string& name,
    const std::function<std::vector<std::int64_t>(std::int64_t)>& by_default) {
  std::vector<std::int64_t> wanted = options.batches;
  std::sort(wanted.rbegin(), wanted.rend());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  const LoadedModel first =
      load_with_batch(options.model, wanted.empty() ? options.model.batch : wanted.front());
  name = first.name;
  std::vector<std::shared_ptr<const Graph>> graphs = {graph_of(first)};
  if (wanted.empty()) wanted = by_default(first.graph->batch());
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

void ProfileOptions::declare(CLI::App& sub) {
  sub.add_option("--graph", model.graph,
                 "Model file, or the name of a sample; over a cluster also none: communication");
  model.declare_binding(sub);
  sub.add_option("--device", device, "Where: cpu; over a cluster also cuda")->capture_default_str();
  sub.add_option("--batches", batches,
                 "Batch sizes to measure at; else the batch, its half, quarter and eighth")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, (std::int64_t{1} << 31) - 1));
  sub.add_option("--repetitions", repetitions,
                 "Steps at each batch size; short ones are repeated for a second")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  sub.add_option("--threads", threads, "CPU threads for one op")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  sub.add_option("--seed", seed, "Of parameters and synthetic inputs")->capture_default_str();
  sub.add_option("--merge", merged, "Another profile, whose measurements are kept too");
  sub.add_option("-o,--output", output, "Profile file to write");
  declare_cluster(sub, *this);
}

}  // namespace strato::cli
