#include "core/store/workspace_lists.h"

#include <algorithm>
#include <utility>

namespace strato {
namespace {

template <class Stored>
const Stored* find_row(const std::vector<Stored>& rows, std::int64_t id) {
  const auto found = std::ranges::lower_bound(rows, id, {}, &Stored::id);
  return found != rows.end() && found->id == id ? &*found : nullptr;
}

}  // namespace

WorkspaceLists::WorkspaceLists(std::filesystem::path file) : file_(std::move(file)) {}

WorkspaceLists::WorkspaceLists(const Workspace& workspace, std::string_view settings)
    : file_(workspace.file()) {
  workspace.read_at_one_moment([&] {
    version_ = workspace.data_version();
    models_ = workspace.problems().models();
    clusters_ = workspace.problems().clusters();
    strategies_ = workspace.strategies().all();
    runs_ = workspace.runs().all();
    launches_ = workspace.launches().all();
    annotations_ = workspace.annotations().all();
    settings_ = workspace.settings().with_prefix(settings);
  });
}

std::vector<const StoredStrategy*> WorkspaceLists::strategies_of(const Digest& model,
                                                                 const Digest& cluster) const {
  std::vector<ModelRow> models;
  for (const StoredModel& each : models_)
    if (each.digest == model) models.push_back(each.id);
  std::vector<const StoredStrategy*> found;
  for (const StoredStrategy& each : strategies_) {
    const StoredCluster* on = find_row(clusters_, each.cluster);
    if (on && on->digest == cluster && std::ranges::find(models, each.model) != models.end())
      found.push_back(&each);
  }
  return found;
}

const StoredRun* WorkspaceLists::run(RunRow id) const { return find_row(runs_, id); }

const StoredStrategy* WorkspaceLists::strategy(StrategyRow id) const {
  return find_row(strategies_, id);
}

const std::string* WorkspaceLists::setting(const std::string& key) const {
  const auto found = settings_.find(key);
  return found != settings_.end() ? &found->second : nullptr;
}

}  // namespace strato
