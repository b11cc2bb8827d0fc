#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <mutex>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/inspection.h"
#include "app/cli/output.h"
#include "app/cli/samples.h"
#include "app/cli/trace/report.h"
#include "core/base/error.h"
#include "core/cluster/read/equal_machines.h"
#include "core/cluster/read/machine_text.h"
#include "core/graph/train/training_graph.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/plugin/use/model_file.h"

namespace strato::cli {
namespace {

struct InspectOptions {
  std::string subject;
  ModelOptions model;
};

// What machines or Slurm write, JSON that describes no model, or the name of a bundled cluster, or
// of equal machines. Anything else is a model, if it is anything.
bool is_cluster(const std::string& subject) {
  const std::filesystem::path path = cluster_path(subject);
  if (is_cluster_text(path) || names_equal_machines(path)) return true;
  std::error_code error;
  if (path.extension() != ".json") return false;
  if (!std::filesystem::is_regular_file(path, error)) return true;  // whose reader says so
  return !describes_model(JsonView::parse(read_file(path), path.string()));
}

// Without --batch a symbolic batch dimension counts as one sample, and the answer says so.
LoadedModel load_any_batch(const ModelOptions& options, bool& assumed) {
  try {
    return load_model(options);
  } catch (const InputError&) {
    if (options.batch) throw;
    ModelOptions one = options;
    one.batch = 1;
    try {
      LoadedModel model = load_model(one);
      assumed = true;
      return model;
    } catch (const InputError&) {  // the batch was not what is wrong
    }
    throw;
  }
}

int inspect_model(const InspectOptions& options, const Command& command) {
  bool assumed = false;
  const LoadedModel model = load_any_batch(options.model, assumed);
  Graph graph = simplify(*model.graph, options.model.inference);
  if (!options.model.inference) graph = make_training_graph(graph, model.options.optimizer);
  GraphInspection inspection = inspect_graph(*model.graph, graph, assumed);
  inspection.remarks = model.remarks;
  inspection.untrainable = !options.model.inference && !graph.is_training();
  print(command.json ? json_text(inspection_json(inspection)) + "\n" : inspection_text(inspection));
  return Done;
}

int inspect_traces(const std::string& path, const Command& command) {
  ProgressLine progress;
  std::mutex mutex;
  int read = 0;
  const trace::TraceSet set =
      trace::read_traces(path, [&](const std::filesystem::path& file, std::size_t of_files) {
        const std::scoped_lock lock(mutex);
        progress.show(
            fmt::format("{} of {} traces read: {}", ++read, of_files, file.filename().string()));
      });
  progress.clear();
  const trace::Analysis analysis = trace::analyse(set.traces);
  print(command.json ? json_text(traces_json(set, analysis)) + "\n" : traces_text(set, analysis));
  return Done;
}

int inspect(InspectOptions options, const Command& command) {
  if (std::filesystem::path(options.subject).extension() == ".strata")
    throw InputError(options.subject, "", "is a workspace: it holds models, clusters and runs",
                     "list them with: stratoscope-cli runs --workspace " + options.subject);
  if (trace::holds_traces(options.subject)) return inspect_traces(options.subject, command);
  if (std::error_code error; std::filesystem::is_directory(options.subject, error))
    throw InputError(options.subject, "", "is a folder without a trace that is known here",
                     "give a model's or a cluster's file, or a folder of a profiler's traces");
  if (is_cluster(options.subject)) {
    const auto cluster = load_cluster(options.subject);
    print(command.json ? json_text(cluster_json(*cluster)) + "\n" : cluster_text(*cluster));
    return Done;
  }
  options.model.graph = options.subject;
  if (std::error_code error; std::filesystem::is_regular_file(options.subject, error) &&
                             !has_importer(plugins(), options.subject))
    refuse_unknown_file(options.subject);
  return inspect_model(options, command);
}

}  // namespace

void add_inspect(CLI::App& app, Command& command) {
  CLI::App* sub =
      add_command(app, command, "inspect", "What is in a model, a cluster or a recorded trace");
  const auto options = std::make_shared<InspectOptions>();
  sub->add_option(
         "file", options->subject,
         "Model or cluster: a file, or the name of a sample; or a trace, or a folder of them")
      ->required();
  options->model.declare_without_graph(*sub);
  sub->callback([options, &command] {
    command.action = [=, &command] { return inspect(*options, command); };
  });
}

}  // namespace strato::cli
