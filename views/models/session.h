// The session: what the window shows, as snapshots, and the only way to change it. All views hold a Session and redraw
// on its signals. It lives in the GUI thread and never blocks it: imports, simulations and searches run on
// worker threads; a result whose job id is no longer the latest is dropped; the last good snapshot stays meanwhile.
#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/plugin/plugin.h"
#include "core/search/planner.h"
#include "core/store/workspace.h"
#include "views/models/selection.h"

namespace strato {

// Everything about one strategy on one problem; immutable, shared between views and threads.
struct Snapshot {
  std::shared_ptr<const Problem> problem;  // null: nothing is open
  Strategy strategy;                       // complete
  QString label;                           // "mcts #3, edited"
  std::shared_ptr<const Outcome> outcome;
  std::shared_ptr<const Outcome> baseline; // data parallel with AllReduce on all devices
  std::shared_ptr<const Outcome> before;   // the outcome before the last edit, or null
  Nanos lower_bound;
};

enum class SearchState { Idle, Running, Paused };

struct SearchStatus {
  SearchState state = SearchState::Idle;
  QString planner;
  Progress progress;
  std::int64_t target_iterations = 0;      // 0: a time budget
  double target_seconds = 0;
  std::vector<HistoryPoint> history;       // of this run
};

class Session : public QObject {
  Q_OBJECT
 public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  const Snapshot& snapshot() const { return snapshot_; }
  Selection& selection() { return selection_; }
  const PluginRegistry& plugins() const { return plugins_; }
  QUndoStack& undo_stack() { return undo_stack_; }
  bool busy() const;                        // an import or simulation is under way
  QString busy_text() const;

  // --- files (asynchronous; `failed` tells errors) ---------------------------------------------------
  void open_model(const std::filesystem::path& file, const ImportOptions& import,
                  const ProblemOptions& options);
  void open_cluster(const std::filesystem::path& file);
  void open_workspace(const std::filesystem::path& file);  // creates when there is none
  void open_plan(const std::filesystem::path& file);
  Workspace* workspace() const;             // null until one is open
  void show_strategy(StrategyRow strategy); // from the workspace, with its model and cluster
  void show_run(RunRow run);                // its best strategy, history and tree
  void regroup(int max_groups);

  // --- edits ------------------------------------------------------------------------------------------
  // Replaces decisions; one undoable step. Re-lowers and re-simulates in the background at once.
  void edit(const Strategy& strategy, const QString& label);
  void decide(const std::vector<GroupId>& groups, const Decision& decision, const QString& label);
  void show_found(const Strategy& strategy, const QString& label);  // e.g. from the search tree; undoable too

  // --- search -----------------------------------------------------------------------------------------
  void start_search(const QString& planner, const PlannerOptions& options);
  void pause_search();
  void continue_search();                   // after a pause, or more iterations for a finished tree
  void stop_search();
  const SearchStatus& search() const { return search_; }
  std::shared_ptr<const SearchTree> tree() const { return tree_; }

  // --- exports ----------------------------------------------------------------------------------------
  void export_plan(const std::filesystem::path& file);
  void export_with(const QString& exporter, const std::filesystem::path& file);

 signals:
  void problem_changed();    // another model, cluster or grouping: everything is new
  void strategy_changed();   // at once after an edit, before it is simulated
  void outcome_changed();    // a new outcome is in the snapshot
  void search_changed();     // state or progress
  void tree_changed();
  void workspace_changed();
  void busy_changed();
  void message(const QString& text);                       // for the status line
  void failed(const QString& text);                        // an InputError's one line

 private:
  struct State;
  std::unique_ptr<State> state_;
  Snapshot snapshot_;
  Selection selection_;
  PluginRegistry plugins_;
  QUndoStack undo_stack_;
  SearchStatus search_;
  std::shared_ptr<const SearchTree> tree_;
};

}  // namespace strato
