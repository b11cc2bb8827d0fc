#include "views/models/recovery.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/store/workspace.h"

namespace strato {
namespace {

constexpr const char* kShown = "window/shown";

// One that has just begun may not have its lock yet.
std::string moment_ago() {
  const std::time_t then = std::time(nullptr) - 10;
  std::tm utc{};
  gmtime_r(&then, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

StrategyRow row_from(const std::string& text) { return number_from<StrategyRow>(text).value_or(0); }

// Of whose best strategy it is an edit.
std::optional<StoredRun> run_behind(const Workspace& workspace, StoredStrategy at) {
  if (!at.run && at.parent) {
    std::map<StrategyRow, StoredStrategy> all;  // without what they are
    for (StoredStrategy& strategy : workspace.strategies().all())
      all.emplace(strategy.id, std::move(strategy));
    for (std::size_t steps = 0; !at.run && at.parent && steps <= all.size(); ++steps) {
      const auto parent = all.find(*at.parent);
      if (parent == all.end()) return std::nullopt;
      at = parent->second;
    }
  }
  return at.run ? workspace.runs().find(*at.run) : std::nullopt;
}

// Also another row's, found before.
bool is_best_of(const StoredRun& run, const StoredStrategy& strategy, const Workspace& workspace) {
  const auto best = run.best ? workspace.strategies().find(*run.best) : std::nullopt;
  return best && best->digest == strategy.digest;
}

}  // namespace

void keep_shown(Workspace& workspace, StrategyRow strategy, std::optional<RunRow> run) {
  std::string rows = std::to_string(strategy);
  if (run) rows = std::to_string(*run) + "/" + rows;
  if (workspace.settings().find(kShown) != rows) workspace.settings().set(kShown, rows);
}

std::optional<LastShown> last_shown(const Workspace& workspace) try {
  const std::string rows = workspace.settings().find(kShown).value_or("");
  const std::size_t slash = rows.find('/');
  const bool names_run = slash != std::string::npos;
  const auto stored =
      workspace.strategies().find(row_from(names_run ? rows.substr(slash + 1) : rows));
  if (!stored) return std::nullopt;
  LastShown last{stored->id, std::nullopt, false};
  auto run = workspace.runs().find(row_from(names_run ? rows.substr(0, slash) : ""));
  if (run && (run->model != stored->model || run->cluster != stored->cluster)) run.reset();
  if (!run) run = run_behind(workspace, *stored);
  if (!run) return last;
  last.run = run->id;
  last.edited = run->best != last.strategy && !is_best_of(*run, *stored, workspace);
  return last;
} catch (const InputError&) {  // what else is there may be whole
  return std::nullopt;
}

std::optional<LastShown> latest_to_show(const Workspace& workspace) {
  if (const auto left = last_shown(workspace)) return left;
  const std::vector<StoredRun> runs = workspace.runs().all();
  const auto run = std::max_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return std::pair(a.best.has_value(), a.id) < std::pair(b.best.has_value(), b.id);
  });
  if (run != runs.end()) return LastShown{0, run->id, false};
  const std::vector<StoredStrategy> strategies = workspace.strategies().all();
  if (strategies.empty()) return std::nullopt;
  return LastShown{strategies.back().id, std::nullopt, false};
}

void end_orphaned_runs(Workspace& workspace) {
  const std::string before = moment_ago();
  for (StoredRun run : workspace.runs().all()) {
    if (run.state != RunState::Running && run.state != RunState::Paused) continue;
    if (run.created > before) continue;
    try {
      const RunLock lock(workspace.file(), run.id);
      const auto now = workspace.runs().find(run.id);  // it may have ended just before
      if (!now || (now->state != RunState::Running && now->state != RunState::Paused)) continue;
      run = *now;
      run.state = RunState::Stopped;
      // What it told after the last strategy that it kept is lost.
      if (const auto kept = run.best ? workspace.strategies().find(*run.best) : std::nullopt)
        run.best_ns = kept->step_time_ns;
      if (run.note.empty()) run.note = "the program that searched ended before it was done";
      workspace.update(run);
    } catch (const InputError&) {  // somebody searches it
    }
  }
}

}  // namespace strato
