// Writes what happens in a session into its workspace, on a thread of its own: problems, strategies
// with their parents, runs with history and tree. Calls return at once and are done in order; what
// is queued at the end is still written. A run is locked (core/store/workspace.h) while it is
// searched and whenever its tree is written. Without an open workspace everything is silently
// dropped. One thread calls it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/search/api/planner.h"
#include "core/search/run/run_record.h"
#include "core/search/tree/search_tree.h"
#include "core/store/workspace.h"
#include "views/models/problem_source.h"
#include "views/models/recovery.h"
#include "views/models/worker.h"

namespace strato {

struct RecordedStrategy {
  Strategy strategy;
  std::string label;
  Origin origin = Origin::Edit;
  std::optional<Digest> parent;  // of the strategy that it was edited from
  Score score;
};

struct RecordedProblem {
  ModelSource model;
  ClusterSource cluster;
  std::shared_ptr<const Problem> problem;
};

struct OpenedWorkspace {
  std::shared_ptr<const WorkspaceLists> lists;  // null: it could not be opened
  std::optional<LastShown> latest;  // to show, where that was asked for and there is some
  std::string error;                // why it could not be opened
};

struct WorkspaceOpening {
  std::filesystem::path file;
  bool looks_for_latest = false;
  // Stored there at once where nothing else is shown from there; otherwise when it is edited first.
  std::optional<RecordedProblem> keep;
  std::function<void(const OpenedWorkspace&)> opened;  // called on the recorder's thread
};

class Recorder {
 public:
  struct Callbacks {  // called on the recorder's thread
    std::function<void()> written;
    std::function<void(const std::string& error)> failed;
    std::function<void(RunRow)> run_started;
    // What the workspace has, whenever that has changed; empty: nobody wants to know.
    std::function<void(std::shared_ptr<const WorkspaceLists>)> lists = {};
  };
  explicit Recorder(Callbacks callbacks);
  ~Recorder();

  // Throws away what is known of another workspace.
  void open(const std::filesystem::path& file);
  // Where it cannot be opened, the one before stays open. Until a problem is given, edits go where
  // their problem is stored; the run that is under way ends where it began.
  void open(const WorkspaceOpening& opening);
  void problem(const ModelSource& model, const ClusterSource& cluster,
               std::shared_ptr<const Problem> problem);
  // From the workspace that was opened, after all: what is kept open is stored there.
  void nothing_comes();
  void strategy(const RecordedStrategy& recorded);
  // Of the problem; found again when the workspace is opened (recovery.h), once it is stored.
  void shown(const Digest& strategy);
  void start_run(const std::string& planner, const RunOptions& options, Nanos baseline);
  void adopt_run(const StoredRun& run);  // later calls go on with a run that is there already
  void progress(const HistoryPoint& point, RunState state);
  void best(const RecordedStrategy& recorded);  // of the run; becomes its best strategy
  void tree(std::shared_ptr<const SearchTree> tree);
  void finish_run(RunState state, const std::string& note,
                  const std::vector<PlanResult::Curve>& curves = {});
  // A run that is done already, beside the one that is searched; `kept` is called on the recorder's
  // thread. `run`: planner, options, state and figures; `best` is its strategy.
  void kept_run(const StoredRun& run, const std::vector<HistoryPoint>& course,
                const RecordedStrategy& best, const std::vector<PlanResult::Curve>& curves,
                std::function<void(RunRow)> kept);
  // Of that strategy; `kept` is called on the recorder's thread.
  void launch(const RecordedStrategy& recorded, const StoredLaunch& launch,
              std::function<void(LaunchRow, const std::filesystem::path&)> kept);
  // Renames, removals. Of `file`, whichever is open; empty: of that which is open.
  void change(std::function<void(Workspace&)> change, const std::filesystem::path& file = {});
  void ask(std::function<void(const Workspace*)> question);  // null: none is open
  void look();  // whether another program has changed it; a failure is not worth a word
  void
  tell_no_more();  // what the workspace has: nobody will see it, and storing does not wait for it
  void wait();
  bool wait_for(std::chrono::milliseconds patience);  // false: there is still something to do

 private:
  struct State;
  void post(std::function<void(State&)> job);
  void wrote();
  void take_problem(State& state, const RecordedProblem& problem);
  State& state_for_edits(State& state);
  static State* state_of_run(State& state);
  static void keep_if_shown(State& state);
  StrategyRow add(State& state, const RecordedStrategy& recorded, std::optional<RunRow> run);

  std::unique_ptr<State> state_;
  Callbacks callbacks_;
  std::atomic<bool> ending_ = false;      // tells no more
  std::atomic<bool> look_waits_ = false;  // on a slow disk there is one at a time
  std::unique_ptr<Worker> worker_;
};

}  // namespace strato
