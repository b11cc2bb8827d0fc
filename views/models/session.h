// The session: what the window shows, as snapshots, and the only way to change it. All views hold a
// Session and redraw on its signals. It lives in the GUI thread and never blocks it: imports,
// simulations and searches run on worker threads; a result whose job id is no longer the latest is
// dropped; the last good snapshot stays meanwhile. The workspace is read and written on one thread
// of its own (recorder.h): what it has is here as lists, and questions to it are answered by a
// call.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QUndoStack>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/cost/model/measured_cost_model.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/search/api/planner.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/tree/search_tree.h"
#include "core/store/workspace.h"
#include "core/strategy/file/named_strategy.h"
#include "views/models/regroup.h"
#include "views/models/selection.h"
#include "views/models/simulation.h"
#include "views/models/steering.h"

namespace strato {

class BoundConstraints;  // core/search/constraints/bound_constraints.h
struct Explanation;      // explanation.h
struct MeasuredStep;     // launch_run.h
struct ModelSource;      // problem_source.h

// Everything about one strategy on one problem; immutable, shared between views and threads.
struct Snapshot {
  std::shared_ptr<const Problem> problem;  // in the strategy's groups; null: nothing is open
  // In the groups that it was opened with: what searches and their trees are about. Is `problem`
  // unless the strategy has groups of its own.
  std::shared_ptr<const Problem> opened;
  Strategy strategy;            // complete; its grouping, when it has one, is problem's
  QString label;                // "mcts #3, edited"
  std::vector<GroupId> edited;  // decided by hand since it was found, ascending
  bool by_hand = false;         // changed by hand since it was found, in any way
  std::shared_ptr<const Outcome> outcome;
  std::shared_ptr<const Outcome> baseline;         // data parallel with AllReduce, simulated alike
  std::shared_ptr<const Outcome> before;           // the outcome before the last edit, or null
  Nanos lower_bound;                               // holds for every way of simulating
  std::shared_ptr<const Explanation> explanation;  // of the outcome; null: not there yet
  CostSources costs;                               // what was opened beside the analytic model
  CostFiles cost_files;                            // where it came from
  QString coverage;                                // what the profile knows of the model
  QStringList warnings;                            // of the problem: what could not be used

  // Divided otherwise: names of their own alone do not make groups others.
  bool has_own_groups() const {
    return problem != opened && !(problem->grouping->digest() == opened->grouping->digest());
  }
};

enum class SearchPhase { Idle, Running, Paused };

struct SearchStatus {
  SearchPhase state = SearchPhase::Idle;
  QString planner;
  QString run;                            // "mcts #3"; empty: nothing was searched yet
  QString note;                           // of the finished run: e.g. that a baseline won
  std::vector<PlanResult::Fact> facts;    // that its planner told, when it was searched here
  std::vector<PlanResult::Curve> curves;  // that its planner drew of its own course
  bool can_continue = false;              // finished or stopped with a tree to go on from
  QString tree_error;                     // why the stored run is shown without its tree
  Progress progress;
  std::int64_t target_iterations = 0;  // 0: a time budget
  double target_seconds = 0;
  std::vector<HistoryPoint> history;  // of this run
};

// Another run of the same problem, beside the one that is shown.
struct ComparedRun {
  RunRow run = 0;
  QString name;  // "tag #4"
  std::shared_ptr<const SearchTree> tree;
};

// What a planner has found outside of the session's own search.
struct KeptResult {
  QString planner;
  PlannerOptions options;
  PlanResult result;
  double seconds = 0, seconds_to_best = 0;
  bool stopped = false;
  // Its best while it was searched; empty: only its end is known.
  std::vector<HistoryPoint> course = {};
};

// A model cannot be opened without an extent that only a person knows.
struct WantedDimension {
  QString file, input, name;
  int axis = 0;                                   // of the input; -1: its rank is asked for
  std::function<void(std::int64_t extent)> open;  // with it, what was being opened; GUI thread
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
  bool busy() const;                  // an import or simulation is under way
  std::uint64_t loads_begun() const;  // what was begun to be opened so far, shown or not
  QString busy_text() const;

  // --- files (asynchronous; `failed` tells errors)
  // ---------------------------------------------------
  void open_model(const std::filesystem::path& file, const ImportOptions& import,
                  const ProblemOptions& options);
  void open_cluster(const std::filesystem::path& file);
  // Creates it when there is none. `show_latest`: then shows its latest run or strategy. Not
  // `keep_open`: the problem that is open is another workspace's and leaves no trace in this one.
  // Where it cannot be opened, the one before stays open.
  void open_workspace(const std::filesystem::path& file, bool show_latest = true,
                      bool keep_open = true);
  // Its model with `dimensions` where the plan says nothing of them.
  void open_plan(const std::filesystem::path& file,
                 const std::map<std::string, std::int64_t>& dimensions = {});
  // A model and a cluster that are at hand, with a strategy for them, by names; what of it does not
  // fit is dropped and told.
  void open_problem(const ModelSource& model, std::shared_ptr<const Cluster> cluster,
                    const NamedStrategy& strategy, const QString& label);
  // Null until one is opened; then not read for a moment. Valid until workspace_changed.
  const WorkspaceLists* workspace() const;
  // That other machines see, too: beside the workspace, else the working folder.
  std::filesystem::path shared_folder() const;
  // From the workspace, with its model and cluster. `shown` is called when the snapshot has it, and
  // never when it cannot be shown, or something else is opened meanwhile.
  void show_strategy(StrategyRow strategy, std::function<void()> shown = {});
  // Its best strategy, history and tree; `shown` as above.
  void show_run(RunRow run, std::function<void()> shown = {});
  void show_model(ModelRow model);        // on the cluster that is open
  void show_cluster(ClusterRow cluster);  // under the model that is open
  void regroup(int max_groups);
  // The open model again, imported or trained otherwise: from its file, which must still be there,
  // unless it is imported alike.
  void reopen_model(const ImportOptions& import, const ProblemOptions& options);
  void rename_strategy(StrategyRow strategy, const QString& label);
  void remove_run(RunRow run);
  // On the recorder's thread, after all that is to be written; workspace_changed tells when it is
  // done, `failed` what it threw. Of `file`, whichever is open; else of the one that is shown, and
  // nothing while there is none or it is still being opened.
  void in_workspace(std::function<void(Workspace&)> change, const std::filesystem::path& file = {});
  // Asked there, too; the function that the question returns runs in the GUI thread, unless
  // `receiver` is gone or another workspace is open by then.
  using WorkspaceQuestion = std::function<std::function<void()>(const Workspace&)>;
  void ask_workspace(QObject* receiver, WorkspaceQuestion question);
  void look_at_workspace();  // another program may have written; workspace_changed tells
  // Sends all that was found and edited to the workspace; false: after `patience` it is not all
  // there yet. For the end: a search that runs is stopped.
  bool store_all(std::chrono::milliseconds patience);
  const ProblemOptions* problem_options() const;  // of the open model; null without one
  const ModelSource* model_source() const;        // null without one
  QString model_name() const;
  QString cluster_name() const;
  // Measured costs, or other constants of the analytic ones, for this and later models. The
  // strategy stays and is simulated again.
  void open_profile(const std::filesystem::path& file);
  void open_calibration(const std::filesystem::path& file);
  void close_costs();  // back to the standard analytic model

  // --- how strategies are simulated
  // -------------------------------------------------------------------
  const Simulation& simulation() const { return simulation_; }
  void set_simulation(const Simulation& simulation);  // simulates again in the background at once

  // --- edits
  // ------------------------------------------------------------------------------------------
  // Replaces decisions; one undoable step. Re-lowers and re-simulates in the background at once.
  void edit(const Strategy& strategy, const QString& label);
  // The same of what `change` makes of the strategy shown, on a thread of its own: other groups
  // take a while on large graphs, and so does finding out what cannot be. `message` says why where
  // there is nothing to do, and where something else is shown by then: nothing is done.
  void edit_later(StrategyChange change, const QString& label);
  void decide(const std::vector<GroupId>& groups, const Decision& decision, const QString& label);
  void show_found(const Strategy& strategy,
                  const QString& label);  // e.g. from the search tree; undoable too

  // --- constraints (session_constraints.cpp)
  // ---------------------------------------------------------------------------------
  // What a person demands of strategies for the open model on the open cluster, stored with the
  // workspace. Searches and tournaments that begin from now on keep to them; edits by hand need
  // not. Null: nothing is demanded. Where they contradict each other in the groups that are open,
  // they are there without being bound, and nobody keeps to them.
  const std::shared_ptr<const Constraints>& constraints() const { return constraints_; }
  // The same on snapshot().opened; null: there is nothing to keep to.
  const std::shared_ptr<const BoundConstraints>& bound_constraints() const { return bound_; }
  // One undoable step. False, and `failed` says why, where no strategy could keep to them.
  bool constrain(const Constraints& wanted, const QString& label);

  // --- search
  // -----------------------------------------------------------------------------------------
  void start_search(const QString& planner, const PlannerOptions& options);
  void pause_search();
  // After a pause goes on; a finished tree gets more iterations or time (of `more`, else as many as
  // before).
  void continue_search(const PlannerOptions* more = nullptr);
  void stop_search();
  void show_best_found();  // of the latest search; nothing without one
  const SearchStatus& search() const { return search_; }
  std::shared_ptr<const SearchTree> tree() const { return tree_; }
  const PlannerOptions& search_options() const;  // that the tree was made with
  // Of the latest search, when it was made here and its planner records them; about the ops of
  // snapshot().problem's graph.
  std::shared_ptr<const PlanningSteps> planning_steps() const { return planning_steps_; }

  // --- steering the tree (session_steer.cpp)
  // ------------------------------------------------------------------
  Steering steering() const;  // as it is, or will be as soon as the running search has taken it
  // One undoable step, stored with the run at once. A running search goes on with it.
  void steer(const Steering& wanted, const QString& label);
  // Goes on from the tree with what was decided by hand (snapshot().edited) pinned.
  void continue_with_edits(const PlannerOptions* more = nullptr);
  std::vector<StoredRun> runs_to_compare() const;  // others of this problem, the latest first
  void compare_with(RunRow run);                   // asynchronous; compared_changed tells
  void stop_comparing();
  const std::optional<ComparedRun>& compared() const { return compared_; }

  // --- results of tournaments (session_tournament.cpp)
  // ------------------------------------------------------------------------------------------
  // In all views, as the end of a search is; one undoable step. Of the problem that is open.
  void show_result(const Strategy& strategy, const QString& label);
  // In the workspace, as a run of its own beside those that were searched; `kept` gets its name
  // ("heft #3") once it is stored. False without a workspace.
  bool keep_result(const KeptResult& result, std::function<void(const QString&)> kept);

  // --- launches (session_launch.cpp)
  // -----------------------------------------------------------------------------------------
  // What the latest launch took; null: none. Views show it over the outcome while that has the same
  // tasks: an edit hides it, undo brings it back, other costs stay beside it.
  void show_measured(std::shared_ptr<const MeasuredStep> measured);
  // Beside the outcome as it is now; null: the strategy shown is not the one that was launched.
  const std::shared_ptr<const MeasuredStep>& measured() const { return measured_; }
  // In the workspace, with its strategy; `kept` gets its row, and the workspace where it is one.
  // Nothing without a workspace.
  void keep_launch(const Strategy& strategy, const QString& label, const Score& score,
                   const StoredLaunch& launch,
                   std::function<void(LaunchRow, const std::filesystem::path&)> kept = {});
  void update_launch(const StoredLaunch& launch,  // one that is kept there
                     const std::filesystem::path& file = {});
  void remove_launch(LaunchRow launch);  // one undoable step

  // --- exports
  // ----------------------------------------------------------------------------------------
  void export_plan(const std::filesystem::path& file);
  // Of an exporter that makes a folder: `file` is the folder.
  void export_with(const QString& exporter, const std::filesystem::path& file);

  // Blocks until loading, simulating, explaining and storing are done and shown (a search may go
  // on): for tests and captures, which have nothing else to do. Runs the event loop.
  void settle();

 signals:
  // Another model, cluster or grouping (a strategy with groups of its own is shown, or no longer):
  // everything is new.
  void problem_changed();
  void strategy_changed();     // at once after an edit, before it is simulated
  void outcome_changed();      // a new outcome is in the snapshot, not yet explained
  void explanation_changed();  // all or a part of the explanation is in the snapshot
  void simulation_changed();   // another way of simulating was chosen
  void constraints_changed();
  void search_changed();  // state or progress
  void tree_changed();
  void planning_steps_changed();
  void compared_changed();
  void measured_changed();
  void workspace_changed();
  void busy_changed();
  void message(const QString& text);                     // for the status line
  void written(const QString& file);                     // by hand's order; `message` tells it, too
  void failed(const QString& text);                      // an InputError's one line
  void dimension_wanted(const WantedDimension& wanted);  // `failed` where nobody listens

 private:
  struct State;
  friend class StrategyCommand;
  friend class SteerCommand;
  friend class ConstrainCommand;
  friend class SearchObserver;
  using LoadJob = std::function<void(struct Loader&)>;

  // The function runs in the GUI thread, unless the session is gone by then.
  void post(std::function<void()> function);
  void load(const QString& text, LoadJob prepare, std::function<void()> shown = {});
  // The same for what brings a model of its own.
  void load_model(const QString& text, LoadJob prepare, std::function<void()> shown = {});
  void ask_dimension(std::uint64_t opening, WantedDimension wanted);
  // Where a dimension is not bound `again` is called with it, once a person has said it.
  ModelSource import_asking(const std::filesystem::path& file, const ImportOptions& import,
                            const ProblemOptions& options,
                            std::function<void(const ImportOptions&)> again);
  void show_loaded(struct LoadedProblem loaded);
  void take_snapshot(const struct LoadedProblem& loaded);
  void show_same_problem(const struct LoadedProblem& loaded);
  void take_opened(std::uint64_t epoch, const struct OpenedWorkspace& opened);
  void take_lists(std::shared_ptr<const WorkspaceLists> lists);
  void show_history(const struct LoadedProblem& loaded);
  void forget_before();
  struct ShownStrategy shown() const;
  void apply(const ShownStrategy& shown);
  void take_groups();
  void simulate();
  void show_outcome(std::shared_ptr<const Outcome> outcome);
  void take_order(const Strategy& strategy);
  void recost(const QString& text, std::function<void(CostSources&, CostFiles&)> change);
  void explain();
  void explain_the_rest();
  void record(const Strategy& strategy, const QString& label, const Digest& parent, Origin origin);
  void begin_busy(const QString& text);
  void end_busy();
  void fit_measured();

  void apply_constraints(const Constraints& constraints);
  void find_constraints();

  void run_search(double budget_seconds);
  void abandon_search();
  bool resume_after_pause();
  bool resume_after_steering();
  void apply_steering(const Steering& steering);
  void take_tree(std::shared_ptr<const SearchTree> tree);
  void take_planning_steps(std::shared_ptr<const PlanningSteps> steps);
  void go_on_from_tree(double budget_seconds);
  void begin_following();
  void end_following();
  void search_progress(std::uint64_t job, const Progress& progress);
  void search_found(std::uint64_t job, const Strategy& strategy, const Score& score);
  void search_finished(std::uint64_t job, const PlanResult& result);
  void search_failed(std::uint64_t job, const QString& text);
  void record_best();
  void record_worse();
  QString name_of_found() const;
  void add_history(HistoryPoint point, const Score& best);
  void follow_best();
  void write_later(const std::filesystem::path& file, std::function<void()> write);

  std::unique_ptr<State> state_;
  Snapshot snapshot_;
  Simulation simulation_;
  Selection selection_;
  PluginRegistry plugins_;
  QUndoStack undo_stack_;
  SearchStatus search_;
  std::shared_ptr<const SearchTree> tree_;
  std::shared_ptr<const PlanningSteps> planning_steps_;
  std::optional<ComparedRun> compared_;
  std::shared_ptr<const MeasuredStep> launched_, measured_;  // as it was, and beside the outcome
  std::shared_ptr<const Constraints> constraints_;
  std::shared_ptr<const BoundConstraints> bound_;
};

}  // namespace strato
