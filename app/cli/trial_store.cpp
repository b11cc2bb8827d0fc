#include "app/cli/trial_store.h"

#include <map>
#include <memory>

#include "app/cli/stored_launch.h"
#include "app/cli/stored_run.h"
#include "core/base/error.h"
#include "core/store/workspace.h"

namespace strato::cli {
namespace {

std::map<StrategyRow, Digest> digests_of(const Workspace& workspace, ModelRow model,
                                         ClusterRow cluster) {
  std::map<StrategyRow, Digest> digests;
  for (const StoredStrategy& strategy : workspace.strategies().all())
    if (strategy.model == model && strategy.cluster == cluster)
      digests[strategy.id] = strategy.digest;
  return digests;
}

bool is_locked(const Workspace& workspace, RunRow run) {
  try {
    const RunLock lock(workspace.file(), run);
    return false;
  } catch (const InputError&) {
    return true;
  }
}

}  // namespace

KnownTrial known_trials(Workspace& workspace, const LaunchOptions& options,
                        const LoadedModel& model, const Problem& problem) {
  const auto digests = digests_of(workspace, workspace.add(row_of(model, problem)),
                                  workspace.add(row_of(*problem.cluster)));
  const std::string as = launch_options_text(options, *problem.cost);
  const auto known = std::make_shared<std::map<Digest, Nanos>>();
  for (const StoredLaunch& launch : workspace.launches().all()) {
    const auto digest = digests.find(launch.strategy);
    const bool ended = launch.state == LaunchState::Finished || launch.state == LaunchState::Failed;
    if (digest == digests.end() || !ended || launch.launcher != options.launcher ||
        launch.options != as)
      continue;
    const bool good = launch.state == LaunchState::Finished;
    (*known)[digest->second] = Nanos(good ? launch.measured_ns : 0);
  }
  return [known](const Strategy& strategy) -> std::optional<Nanos> {
    const auto at = known->find(strategy.digest());
    return at == known->end() ? std::nullopt : std::optional(at->second);
  };
}

void remove_unfinished_runs(Workspace& workspace, const std::string& planner,
                            const PlannerOptions& options, const LoadedModel& model,
                            const Problem& problem) {
  const ModelRow model_row = workspace.add(row_of(model, problem));
  const ClusterRow cluster_row = workspace.add(row_of(*problem.cluster));
  const std::string text = options_text(options, model);
  for (const StoredRun& run : workspace.runs().all()) {
    if (run.state == RunState::Finished || run.planner != planner || run.options != text ||
        run.model != model_row || run.cluster != cluster_row || is_locked(workspace, run.id))
      continue;
    workspace.runs().remove(run.id);
  }
}

}  // namespace strato::cli
