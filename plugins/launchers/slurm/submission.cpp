#include "plugins/launchers/slurm/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/launch/job/run_files.h"
#include "core/launch/process/process.h"
#include "core/plugin/use/launching.h"

namespace strato::slurm {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* kScript = "slurm-job.sh";
constexpr const char* kRanks = "slurm-ranks.txt";
constexpr auto kMost = 60s;  // a busy controller takes its time

// Runs in the job's folder. SLURM_HOSTFILE has the node of each rank, in their order.
constexpr const char* kScriptText = R"(#!/bin/sh
# Written by the launcher "slurm": starts the ranks, with the arguments that it is given.
set -eu
scontrol show hostnames "$SLURM_JOB_NODELIST" >slurm-nodes.txt
while read -r number; do
  sed -n "${number}p" slurm-nodes.txt
done <slurm-ranks.txt >slurm-hosts.txt
export SLURM_HOSTFILE=slurm-hosts.txt
exec srun --mpi=none --distribution=arbitrary --kill-on-bad-exit=1 \
  --output=0 --error=log-%t.txt --open-mode=append "$@"
)";

struct Layout {
  std::vector<int> nodes;  // by rank
  int node_count = 0;
  int most = 0;  // ranks on one node
};

Layout layout_of(const LaunchRequest& request) {
  Layout layout;
  layout.nodes = nodes_of(request, count_of(request.settings, "nodes"));
  std::map<int, int> ranks;
  for (const int node : layout.nodes) layout.most = std::max(layout.most, ++ranks[node]);
  layout.node_count = static_cast<int>(ranks.size());
  if (count_of(request.settings, "nodes") > layout.node_count) {
    throw InputError("", "--set nodes", fmt::format("the plan has {} machines", layout.node_count),
                     "give at most so many nodes");
  }
  return layout;
}

void write_files(const LaunchRequest& request, const Layout& layout) {
  std::error_code ignored;
  for (const char* name : {kEvents, kLog, kId, "result.json"})
    fs::remove(request.folder / name, ignored);
  for (int rank = 0; rank < request.ranks; ++rank)
    fs::remove(request.folder / fmt::format("log-{}.txt", rank), ignored);
  clear_run_files(request.folder);
  std::string ranks;
  for (const int node : layout.nodes) ranks += fmt::format("{}\n", node + 1);
  write_file(request.folder / kRanks, ranks);
  write_file(request.folder / kScript, kScriptText);
}

// Both sbatch and srun have to know them.
std::vector<std::string> of_each_task(const LaunchRequest& request) {
  std::vector<std::string> result;
  for (const char* name : {"gpus-per-task", "cpus-per-task"}) {
    if (const int count = count_of(request.settings, name))
      result.push_back(fmt::format("--{}={}", name, count));
  }
  return result;
}

bool exclusive(const LaunchRequest& request) {
  const std::string text = setting_of(request.settings, "exclusive");
  if (!text.empty() && text != "yes" && text != "no")
    throw InputError("", "--set exclusive", "\"" + text + "\" is neither yes nor no", "write yes");
  return text == "yes";
}

// Every node is asked for as much as the fullest one needs: Slurm may then choose any.
std::vector<std::string> sbatch_arguments(const LaunchRequest& request, const Layout& layout) {
  std::vector<std::string> result = {"sbatch",
                                     "--parsable",
                                     "--no-requeue",
                                     "--job-name=stratoscope",
                                     "--chdir=" + request.folder.string(),
                                     fmt::format("--output={}", kEvents),
                                     fmt::format("--error={}", kLog),
                                     fmt::format("--nodes={}", layout.node_count),
                                     fmt::format("--ntasks={}", layout.node_count * layout.most),
                                     fmt::format("--ntasks-per-node={}", layout.most)};
  for (const char* name : {"partition", "account", "time"}) {
    if (const std::string value = setting_of(request.settings, name); !value.empty())
      result.push_back(fmt::format("--{}={}", name, value));
  }
  if (exclusive(request)) result.push_back("--exclusive");
  append(result, of_each_task(request));
  return result;
}

std::vector<std::string> srun_arguments(const LaunchRequest& request, const Layout& layout) {
  std::vector<std::string> result = {fmt::format("--ntasks={}", request.ranks)};
  append(result, of_each_task(request));
  append(result, {request.worker.string(), "--job", request.folder.string()});
  std::string interface = setting_of(request.settings, "interface");
  if (interface.empty() && layout.node_count == 1) interface = "127.0.0.1";
  if (!interface.empty()) append(result, {"--interface", interface});
  return result;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& settings() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"partition", "where the job is queued"},
      {"account", "which account it is charged to"},
      {"time", "limit, as Slurm writes it: 30, 1:00:00"},
      {"nodes", "fewer than the plan has machines: they share nodes"},
      {"gpus-per-task", "GPUs of each rank"},
      {"cpus-per-task", "CPU cores of each rank"},
      {"exclusive", "yes: nodes for this job alone"},
      {"interface", "network that ranks use: ib0, eth0, or an address"},
  };
  return all;
}

std::string submit(const LaunchRequest& request) {
  const Layout layout = layout_of(request);
  std::vector<std::string> arguments = sbatch_arguments(request, layout);
  arguments.push_back((request.folder / kScript).string());
  append(arguments, srun_arguments(request, layout));
  write_files(request, layout);
  const ProgramResult said = run_program(arguments, kMost);
  const std::string id = said.output.substr(0, said.output.find_first_not_of("0123456789"));
  if (!said.problem.empty() || id.empty()) {
    const std::string cause = last_line(said.error);
    throw InputError("", "", "sbatch refuses the job: " + (cause.empty() ? said.problem : cause),
                     "see sinfo, and give --set partition=..., account=..., time=...");
  }
  write_file(request.folder / kId, id + "\n");
  return id;
}

}  // namespace strato::slurm
