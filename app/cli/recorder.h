// Watches a search: draws the progress line and writes the run into a workspace, at least once a
// second while the planner reports, so that a crash loses little.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/search/api/planner.h"
#include "core/search/tree/search_tree.h"
#include "core/store/workspace.h"

namespace strato::cli {

class Recorder final : public Observer {
 public:
  // Shows progress only.
  Recorder(const Problem& problem, std::string planner, const PlannerOptions& options);

  // Records from now on, as a new run, or as more of an old one.
  void record(Workspace& workspace, const LoadedModel& model, Nanos baseline);
  // The caller holds its RunLock.
  void continue_run(Workspace& workspace, const StoredRun& run);
  // What data parallelism took, once that was measured.
  void set_baseline(Nanos baseline) { run_.baseline_ns = baseline.value; }
  // A focus is for this search only: the tree is stored without it.
  void forget_focus() { keeps_focus_ = false; }
  // The last word; `result` is null when the search failed.
  void finish(const PlanResult* result, RunState state);
  std::optional<RunRow> run() const;

  void on_progress(const Progress& progress) override;
  void on_improvement(const Strategy& strategy, const Score& score,
                      const Progress& progress) override;
  void on_tree(std::shared_ptr<const SearchTree> tree) override;

 private:
  using Clock = std::chrono::steady_clock;

  void draw(const Progress& progress);
  void note(const Progress& progress);
  void write(const Progress& progress);
  void write_pending();
  void save(const SearchTree& tree);
  StrategyRow add(const Strategy& strategy, const Score& score, const std::string& label);

  const Problem& problem_;
  std::string planner_;
  PlannerOptions options_;
  ProgressLine line_;
  Clock::time_point start_ = Clock::now(), drawn_{}, write_next_{};
  Workspace* workspace_ = nullptr;
  std::optional<RunLock> lock_;  // of a new run
  bool keeps_focus_ = true;
  StoredRun run_;
  double seconds_before_ = 0;  // of the searches that this one continues
  std::int64_t evaluations_before_ = 0;
  std::optional<std::pair<Strategy, Score>> pending_best_;
  std::shared_ptr<const SearchTree> pending_tree_;
  std::vector<HistoryPoint> pending_history_;
};

}  // namespace strato::cli
