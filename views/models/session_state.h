// The private half of the session. Include in session*.cpp only.
#pragma once

#include <QPointer>
#include <QTimer>
#include <QUndoCommand>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

#include "core/cost/model/measured_cost_model.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/tree/search_tree.h"
#include "views/models/problem_source.h"
#include "views/models/recorder.h"
#include "views/models/session.h"
#include "views/models/worker.h"

namespace strato {

// What a load delivers: a problem and the strategy to show on it.
struct LoadedProblem {
  ModelSource model;
  ClusterSource cluster;
  PreparedProblem prepared;
  Strategy strategy;
  QString label;
  std::filesystem::path workspace;  // that a strategy or run is a row of; else empty
  Simulation simulation;            // of the two outcomes
  std::shared_ptr<const Outcome> outcome, baseline;
  CostSources costs;
  CostFiles cost_files;
  std::optional<StoredRun> run;  // the run shown, with its history and tree
  PlannerOptions run_options;
  std::vector<HistoryPoint> history;
  std::shared_ptr<const SearchTree> tree;
  QString tree_error;               // why there is none
  bool searched_elsewhere = false;  // under way, here or in another program
  std::vector<PlanResult::Curve> curves;
  std::vector<std::string> unmatched;  // what of a stored strategy or plan did not fit
};

struct ShownStrategy {
  Strategy strategy;
  QString label;
  std::vector<GroupId> edited = {};  // decided by hand since it was found
  bool by_hand = false;              // changed by hand since then, in any way
};

// Lives on the load worker. Sources are kept from job to job, so that a model and a cluster opened
// one after the other meet.
struct Loader {
  std::optional<ModelSource> model;
  std::optional<ClusterSource> cluster;
  CostSources costs;
  CostFiles cost_files;                     // where they came from
  std::optional<PreparedProblem> prepared;  // of model, cluster and costs as they are
  ShownStrategy last;                       // what the latest load has chosen on it
  // Makes the strategy to show from the prepared problem; empty: data parallel.
  std::function<void(LoadedProblem&)> choose;

  // There is another one, for which nothing that was to be shown is meant.
  void forget_problem() {
    prepared.reset();
    choose = {};
  }
  LoadedProblem load(Simulation simulation);
  void simulate(LoadedProblem& loaded, Simulation simulation);
};

// A workspace, and what is demanded there since it is open, by model and cluster.
struct OpenWorkspace {
  std::shared_ptr<const WorkspaceLists> lists;  // null: none is open
  std::map<std::string, Constraints> constraints;
};

struct OutcomeKey {
  Digest strategy;
  Simulation simulation;
  friend bool operator==(const OutcomeKey&, const OutcomeKey&) = default;
};

// Outcomes of the strategies seen last: undo and redo show theirs at once.
class OutcomeCache {
 public:
  std::shared_ptr<const Outcome> find(const OutcomeKey& key) const;
  void put(const OutcomeKey& key, std::shared_ptr<const Outcome> outcome);
  void clear() { entries_.clear(); }

 private:
  static constexpr std::size_t kCapacity = 12;
  std::deque<std::pair<OutcomeKey, std::shared_ptr<const Outcome>>> entries_;
};

// Shared by the GUI thread and the search thread.
struct SearchControl {
  std::mutex mutex;
  std::condition_variable changed;
  bool paused = false;
  double paused_seconds = 0;
  std::stop_source stop;

  void wait_while_paused();
  void set_paused(bool value);
  void request_stop();
};

struct SearchRequest {
  std::uint64_t job = 0;
  QString planner;
  PlannerOptions options;
  std::shared_ptr<const SearchTree> resume;
  std::shared_ptr<SearchControl> control;
  std::int64_t iterations_before = 0, evaluations_before = 0;
  double seconds_before = 0;
};

// What a plan file says of how its strategy was found.
struct FoundBy {
  Digest strategy;
  std::string planner, note;
  std::uint64_t seed = 0;
  std::int64_t evaluations = 0;
  std::optional<std::int64_t> evaluations_to_beat_data_parallel = {};
  std::vector<PlanResult::Fact> facts = {};
  std::shared_ptr<const Constraints> constraints = {};
};

struct Session::State {
  explicit State(Recorder::Callbacks callbacks) : recorder(std::move(callbacks)) {}

  std::optional<ModelSource> model;
  std::optional<ClusterSource> cluster;
  // What the recorder has open, then what it is still to open, in that order; the last is shown.
  std::deque<OpenWorkspace> workspaces = std::deque<OpenWorkspace>(1);
  OpenWorkspace& shown() { return workspaces.back(); }
  int asked = 0;  // questions to the workspace on their way
  QTimer look;    // whether others have written
  int busy = 0;
  // Strategies that are still to be scored before they are stored, in the order of their edits.
  std::map<std::uint64_t, RecordedStrategy> to_record;
  std::uint64_t record_job = 0;
  // Without waiting for their scores: before the problem or the workspace is another one, or gone.
  void store_what_waits();
  QString busy_text;
  std::atomic<std::uint64_t> load_job = 0;
  std::uint64_t loads_begun = 0;
  std::uint64_t openings = 0;  // those of them that bring a model of their own
  // What is on its way is dropped; loads begin with what is shown again.
  void drop_loads(const Snapshot& shown);
  std::atomic<std::uint64_t> outcome_job = 0;
  OutcomeCache outcomes;
  std::map<Simulation, std::shared_ptr<const Outcome>> baselines;  // of the problem shown
  std::uint64_t explain_job = 0;
  std::stop_source explain_stop;
  std::int64_t runs_without_workspace = 0;

  // Asked for while the workspace was being opened, which knows what is demanded of it.
  struct WaitingSearch {
    QString planner;
    PlannerOptions options;
    std::shared_ptr<const Problem> problem;
  };
  std::optional<WaitingSearch> to_start;
  SearchRequest request;        // the latest
  bool follows = false;         // the window shows the best of the running search as it improves
  ShownStrategy followed_from;  // what was shown when it began
  std::shared_ptr<const Outcome> outcome_followed_from;
  std::shared_ptr<const Outcome>
      next_before;              // what the outcome under way is compared with, or null
  bool search_stopped = false;  // by a person
  bool order_taken = false;     // of the search's strategies, once
  std::optional<std::pair<Strategy, Score>> best_found;
  std::optional<FoundBy> found_by;  // of the latest search that has ended
  Digest best_recorded;
  // Of the run as it is stored, whatever was steered since: what is found later may be worse.
  std::optional<std::pair<Digest, Score>> best_of_run;
  bool is_worse(const Score& score) const {
    return best_of_run && best_of_run->second.better_than(score);
  }
  // Not the run's best itself, which may be simulated otherwise by now.
  bool found_worse() const {
    return best_found && is_worse(best_found->second) &&
           best_found->first.digest() != best_of_run->first;
  }
  QString run_label;                 // "mcts #3"
  std::uint64_t tree_epoch = 0;      // changes with the run that the tree belongs to
  std::optional<Steering> to_steer;  // taken as soon as the running search has stopped
  std::uint64_t compare_job = 0;
  std::optional<RunRow> shown_run;  // whose tree is shown, once it is stored
  double last_heartbeat = -1;

  std::shared_ptr<const Problem> constrained;  // that the session's constraints are bound to

  Recorder recorder;
  Loader loader;
  Worker simulate{Worker::OnExit::DropQueued};
  Worker explain{Worker::OnExit::DropQueued};
  Worker edit{Worker::OnExit::DropQueued};
  Worker load{Worker::OnExit::DropQueued};
  std::thread search_thread;
};

// One undoable step from strategy to strategy. Pushing it applies it, unless `shown` already.
class StrategyCommand : public QUndoCommand {
 public:
  StrategyCommand(Session& session, ShownStrategy before, ShownStrategy after, const QString& text,
                  bool shown = false);
  void undo() override;
  void redo() override;

 private:
  Session& session_;
  ShownStrategy before_, after_;
  bool skip_redo_;
};

// One undoable step of what is demanded of strategies. Without effect on another problem.
class ConstrainCommand : public QUndoCommand {
 public:
  ConstrainCommand(Session& session, Constraints before, Constraints after, const QString& text);
  void undo() override;
  void redo() override;

 private:
  void apply(const Constraints& constraints);

  Session& session_;
  const std::shared_ptr<const Graph> graph_;
  const std::shared_ptr<const Cluster> cluster_;
  Constraints before_, after_;
};

// One undoable step of steering. Without effect once another run's tree is shown.
class SteerCommand : public QUndoCommand {
 public:
  SteerCommand(Session& session, Steering before, Steering after, const QString& text);
  void undo() override;
  void redo() override;

 private:
  void apply(const Steering& steering);

  Session& session_;
  const std::uint64_t epoch_;
  Steering before_, after_;
};

}  // namespace strato
