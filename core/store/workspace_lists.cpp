#include "core/store/workspace_lists.h"

#include <algorithm>
#include <utility>

namespace strato {
namespace {

template <class Row>
const Row* find_row(const std::vector<Row>& rows, std::int64_t id) {
  const auto found = std::ranges::lower_bound(rows, id, {}, &Row::id);
  return found != rows.end() && found->id == id ? &*found : nullptr;
}

}  // namespace

WorkspaceLists::WorkspaceLists(std::filesystem::path file) : file_(std::move(file)) {}

WorkspaceLists::WorkspaceLists(const Workspace& workspace, std::string_view settings)
    : file_(workspace.file()) {
  workspace.read_at_one_moment([&] {
    version_ = workspace.data_version();
    models_ = workspace.models();
    clusters_ = workspace.clusters();
    strategies_ = workspace.strategies();
    runs_ = workspace.runs();
    launches_ = workspace.launches();
    annotations_ = workspace.annotations();
    settings_ = workspace.settings(settings);
  });
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
