// Writes what happens in a session into its workspace, on a thread of its own: problems, strategies
// with their parents, runs with history and tree. Calls return at once and are done in order; what
// is queued at the end is still written. A run is locked (core/store/run_lock.h) while it is searched
// and whenever its tree is written. Without an open workspace everything is silently dropped.
// One thread calls it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/search/planner.h"
#include "core/search/run_record.h"
#include "core/store/workspace.h"
#include "views/models/problem_source.h"
#include "views/models/worker.h"

namespace strato {

struct RecordedStrategy {
  Strategy strategy;
  std::string label;
  Origin origin = Origin::Edit;
  std::optional<Digest> parent;  // of the strategy that it was edited from
  Score score;
};

class Recorder {
 public:
  struct Callbacks {  // called on the recorder's thread
    std::function<void()> written;
    std::function<void(const std::string& error)> failed;
    std::function<void(RunRow)> run_started;
  };
  explicit Recorder(Callbacks callbacks);
  ~Recorder();

  void open(const std::filesystem::path& file);
  void problem(const ModelSource& model, const ClusterSource& cluster,
               std::shared_ptr<const Problem> problem);
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
  // thread. `run`: planner, options, state, figures and history's end; `best` is its strategy.
  void kept_run(const StoredRun& run, const HistoryPoint& end, const RecordedStrategy& best,
                const std::vector<PlanResult::Curve>& curves, std::function<void(RunRow)> kept);
  // Of that strategy; `kept` is called on the recorder's thread.
  void launch(const RecordedStrategy& recorded, const StoredLaunch& launch,
              std::function<void(LaunchRow)> kept);
  void change(std::function<void(Workspace&)> change);  // renames, removals
  void wait();

 private:
  struct State;
  void post(std::function<void(State&)> job);
  static void keep_if_shown(State& state);
  StrategyRow add(State& state, const RecordedStrategy& recorded, std::optional<RunRow> run);

  std::unique_ptr<State> state_;
  Callbacks callbacks_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace strato
