// The runs of a workspace with their histories and search trees. Its errors and threads are those
// of the workspace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/table/rows.h"

namespace strato {

enum class RunState : std::uint8_t { Running, Paused, Finished, Stopped, Failed };
std::string_view name_of(RunState state);  // "running", ...
struct StoredRun {
  RunRow id = 0;
  ModelRow model = 0;
  ClusterRow cluster = 0;
  std::string planner;
  std::string options;  // JSON: iterations, budget, seed, set
  RunState state = RunState::Running;
  std::optional<StrategyRow> best;
  std::int64_t baseline_ns = 0, best_ns = 0, evaluations = 0;
  double wall_seconds = 0;
  std::string note, created;
};

struct HistoryPoint {  // one improvement, or one heartbeat, of a run
  std::int64_t evaluations = 0;
  double elapsed_seconds = 0;
  std::int64_t best_ns = 0;
};

class RunTable {
 public:
  explicit RunTable(store::Connection& connection) : connection_(connection) {}

  RunRow add(const StoredRun& run);
  void update(const StoredRun& run);  // state, best, figures, note
  void remove(RunRow run);  // with its history, tree, tags, note and settings; strategies stay
  std::vector<StoredRun> all() const;
  std::optional<StoredRun> find(RunRow id) const;

  void add_history(RunRow run, const HistoryPoint& point);
  std::vector<HistoryPoint> history(RunRow run) const;
  void save_tree(RunRow run, std::string_view bytes);
  // Throws InputError when it is damaged; all else of the run stays usable.
  std::optional<std::string> tree(RunRow run) const;

 private:
  store::Connection& connection_;
};

}  // namespace strato
