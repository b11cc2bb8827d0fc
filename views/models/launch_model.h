// The launch of the strategy shown: starts it on a thread of its own, follows it, and keeps what it
// told (state, steps, losses, logs) and in the end what was measured, which all views then show.
// A launch that the workspace has is shown the same way, and one whose job goes on without this
// program is followed again. Destroying it cancels what runs, unless it was left, and waits for its
// end. GUI thread only.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QTemporaryDir>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/launch/job/job_result.h"
#include "views/models/launch_run.h"
#include "views/models/session.h"
#include "views/models/worker.h"

namespace strato {

class LaunchModel : public QObject {
  Q_OBJECT
 public:
  enum class State { Idle, Staging, Waiting, Running, Finished, Failed, Cancelled };
  struct Step {
    std::int64_t step = 0;
    Nanos time;
    std::optional<double> loss;
  };
  // What the cost model learned from a finished launch.
  struct Learned {
    double error_before = 0, error_after = 0;  // of the predicted step time; 0.1: 10 % slower
    std::size_t kinds = 0;                     // of ops, each on one type of device
    std::filesystem::path file;                // the profile
    bool used = false;                         // the window simulates with it
  };

  // `session` must outlive this.
  LaunchModel(Session& session, LauncherFactory make, QObject* parent = nullptr);
  ~LaunchModel() override;

  // Nothing without an outcome, or while one runs.
  void start(const LaunchChoice& choice);
  void cancel();  // what runs ends within seconds
  // The job that runs goes on when this program has ended; the workspace knows it as running.
  bool can_be_left() const;
  void leave();  // follows it no more

  // --- launches of the workspace (launch_model_stored.cpp)
  // Shows its strategy in all views, and what it took here. Nothing while one runs.
  void show_stored(LaunchRow launch);
  // Follows the job of one that was left running, with its strategy in all views.
  void follow_stored(LaunchRow launch);
  LaunchRow stored_row() const { return row_; }  // of what is shown here; 0: of none
  bool from_workspace() const { return from_workspace_; }
  const std::string& job() const { return job_name_; }  // "slurm:4711"; empty: not launched yet

  State state() const { return state_; }
  bool running() const;
  bool cancelling() const { return running() && stop_.stop_requested(); }
  QString problem() const { return problem_; }      // of one that failed: rank and cause
  int failed_rank() const { return failed_rank_; }  // -1: not known
  QString label() const { return label_; }    // "mcts #3 on 4 ranks"; empty: nothing was launched
  QString folder() const { return folder_; }  // of the job; empty: a temporary one
  const std::vector<Step>& steps() const { return steps_; }
  int steps_asked() const { return plan_.choice.options.steps; }
  const LaunchChoice& choice() const { return plan_.choice; }
  int ranks() const { return static_cast<int>(logs_.size()); }
  QString log(int rank) const;
  double seconds() const;   // since the start, until the end
  Nanos predicted() const;  // step time of what was launched
  const std::shared_ptr<const MeasuredStep>& measured() const { return measured_; }

  // Why nothing can be learned from what was measured; empty: something can.
  QString why_not_learned() const;
  // In the background; changed() tells. Nothing before something was measured, or where nothing can
  // be learned.
  void learn();
  bool learning() const { return learning_; }
  const std::optional<Learned>& learned() const { return learned_; }
  void use_learned();

 signals:
  void changed();  // state(), measured(), learned() and what goes with them
  void stepped();
  void logged(int rank);

 private:
  friend class LaunchSender;
  void reset(const LaunchChoice& choice);
  bool make_folder(const LaunchChoice& choice);
  void take_state(std::uint64_t job, JobState state);
  void take_event(std::uint64_t job, const JobEvent& event);
  void take_log(std::uint64_t job, int rank, const QString& text);
  void take_end(std::uint64_t job, const LaunchEnd& end);
  void take_launched(std::uint64_t job, const std::string& name);
  void store(const LaunchEnd& end);
  StoredLaunch stored_launch() const;
  void keep(const StoredLaunch& launch);
  void post_run();
  void open_stored(LaunchRow launch, bool follow);
  void take_opened(const StoredLaunch& launch, bool follow);
  void take_pending();
  void take_stored(std::uint64_t job, const StoredLaunch& launch,
                   std::shared_ptr<const MeasuredStep> measured, const QString& error);
  void fail(const QString& problem);
  std::filesystem::path profile_file() const;

  Session& session_;
  const LauncherFactory make_;
  State state_ = State::Idle;
  QString problem_, label_, strategy_label_, folder_;
  int failed_rank_ = -1;
  std::vector<Step> steps_;
  std::vector<QString> logs_;  // by rank
  LaunchPlan plan_;
  std::shared_ptr<const Problem> problem_of_plan_;
  Strategy strategy_;
  Simulation simulation_;
  Score score_;
  std::unique_ptr<QTemporaryDir> temporary_;
  std::shared_ptr<const MeasuredStep> measured_;
  std::optional<Learned> learned_;
  bool learning_ = false;
  QElapsedTimer since_;
  double took_ = 0;
  std::uint64_t job_ = 0, asked_ = 0;  // asked_: for a stored launch
  struct Pending {
    StoredLaunch launch;
    bool follow = false;
    std::shared_ptr<const Problem> problem;
    Digest strategy;
  };
  std::optional<Pending> pending_;  // its strategy is shown; until that is simulated
  std::shared_ptr<std::optional<LaunchEnd>> ended_;  // what the worker saw of the latest run's end
  std::optional<StoredLaunch> end_;                  // to be stored as soon as its row is known
  std::filesystem::path stored_in_;                  // the workspace of row_
  LaunchRow row_ = 0;
  bool keeping_ = false, from_workspace_ = false, left_ = false, launched_ = false;
  std::string job_name_;
  std::stop_source stop_, leave_;
  Worker worker_{Worker::OnExit::DropQueued};  // last: ends first
};

}  // namespace strato
