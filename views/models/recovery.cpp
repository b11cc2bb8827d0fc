#include "views/models/recovery.h"

#include <charconv>
#include <ctime>
#include <string>

#include "core/base/error.h"
#include "core/store/run_lock.h"

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

StrategyRow row_from(const std::string& text) {
  StrategyRow row = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), row);
  return error == std::errc() && end == text.data() + text.size() ? row : 0;
}

}  // namespace

void keep_shown(Workspace& workspace, StrategyRow strategy) {
  const std::string row = std::to_string(strategy);
  if (workspace.setting(kShown) != row) workspace.set_setting(kShown, row);
}

std::optional<LastShown> last_shown(const Workspace& workspace) {
  const auto setting = workspace.setting(kShown);
  const auto stored = setting ? workspace.strategy(row_from(*setting)) : std::nullopt;
  if (!stored) return std::nullopt;
  LastShown last{stored->id, std::nullopt, false};
  std::optional<StoredStrategy> at = stored;
  for (int steps = 0; at && !at->run && at->parent && steps < 10'000; ++steps)
    at = workspace.strategy(*at->parent);
  if (!at || !at->run) return last;
  const auto run = workspace.run(*at->run);
  if (!run) return last;
  last.run = run->id;
  last.edited = run->best != last.strategy;
  return last;
}

void end_orphaned_runs(Workspace& workspace) {
  const std::string before = moment_ago();
  for (StoredRun run : workspace.runs()) {
    if (run.state != RunState::Running && run.state != RunState::Paused) continue;
    if (run.created > before) continue;
    try {
      const RunLock lock(workspace.file(), run.id);
      const auto now = workspace.run(run.id);  // it may have ended just before
      if (!now || (now->state != RunState::Running && now->state != RunState::Paused)) continue;
      run = *now;
      run.state = RunState::Stopped;
      if (run.note.empty()) run.note = "the program that searched ended before it was done";
      workspace.update(run);
    } catch (const InputError&) {  // somebody searches it
    }
  }
}

}  // namespace strato
