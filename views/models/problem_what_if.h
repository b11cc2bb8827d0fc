// What if the problem were another: the strategy shown, and data parallelism beside it, on a
// changed problem, simulated in the background while a person moves sliders. A newer change drops
// the older one's results; what was found last stays until the new figures are there. In the GUI
// thread.
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "core/search/run/what_if_curve.h"
#include "views/models/session.h"
#include "views/models/worker.h"

namespace strato {

struct ReplanFound;  // what_if_replan.h

// Of one change: the strategy today, then, and data parallelism then.
struct WhatIfFound {
  ProblemChange change;
  StepFigures today, then, data_parallel;
  QString fullest_today, fullest_then, fullest_data_parallel;  // devices' names
  std::size_t devices = 0;
  QString remark;   // what of the problem could not be taken along; may be empty
  QString problem;  // why there are no figures of then; empty: there are
};

struct WhatIfCurve {
  WhatIfAxis axis = WhatIfAxis::NetworkBandwidth;
  std::size_t wanted = 0;  // points that the curve will have
  std::vector<double> values;
  std::vector<WhatIfPoint> points;  // as many as are found, ascending
};

struct ScalingRow {
  ScalingPoint at;
  std::int64_t strong_batch = 0, weak_batch = 0;
  WhatIfPoint strong, weak;
};
struct WhatIfScaling {
  QString kind;
  std::int64_t today = 0;  // machines of the kind
  std::size_t wanted = 0;
  std::vector<ScalingRow> rows;  // as many as are found
};

class ProblemWhatIf : public QObject {
  Q_OBJECT
 public:
  explicit ProblemWhatIf(Session& session, QObject* parent = nullptr);
  ~ProblemWhatIf() override;

  // Only while it is seen does it work; what changed meanwhile is found when it is seen again.
  void set_active(bool active);

  const ProblemChange& change() const { return change_; }
  void set_change(const ProblemChange& change);
  WhatIfAxis axis() const { return axis_; }
  void set_axis(WhatIfAxis axis);
  const QString& kind() const { return kind_; }  // of machines, of the scaling table
  void set_kind(const QString& kind);

  const std::vector<MachineKind>& kinds() const { return kinds_; }  // of the open cluster
  const std::optional<WhatIfFound>& found() const { return found_; }
  const WhatIfCurve& curve() const { return curve_; }
  const WhatIfScaling& scaling() const { return scaling_; }
  bool busy() const { return busy_; }

  // The changed cluster as a file, in the background; the session tells how it went. Nothing
  // without a problem.
  void save_cluster(const std::filesystem::path& file);
  // Opens the changed problem in the session, in the background, with this strategy for it (see
  // WhatIfReplan), else with the one that is shown, carried over. The session tells what failed.
  // False: there is nothing to open, nothing is changed, or one is being opened. A strategy that is
  // edited meanwhile is taken as it is then.
  bool go_on(const std::shared_ptr<const ReplanFound>& replanned = nullptr);
  bool opening() const { return opening_ != Opening::No; }
  void settle();  // until nothing is computed any more: for tests. Runs the event loop.

 signals:
  void inputs_changed();  // another problem: other kinds, and everything as it is
  void found_changed();
  void curve_changed();  // another point is there, or none any more
  void scaling_changed();
  void busy_changed();
  void opening_changed();

 private:
  struct Job;
  enum class Opening { No, Prepared, Loaded };
  void take_problem();
  void refresh();
  void run(const std::shared_ptr<Job>& job);
  void find_figures(const Job& job);
  void find_curve(const Job& job);
  void find_scaling(const Job& job);
  void prepare(const ProblemChange& change, const std::shared_ptr<const ReplanFound>& replanned);
  void set_opening(Opening opening);
  bool stale(const Job& job) const;
  template <class Function>
  void post(const Job& job, Function function);

  Session& session_;
  bool active_ = false, stale_ = true, busy_ = false;
  Opening opening_ = Opening::No;
  ProblemChange change_;
  WhatIfAxis axis_ = WhatIfAxis::NetworkBandwidth;
  QString kind_;
  std::vector<MachineKind> kinds_;
  std::shared_ptr<const Problem> problem_;   // what changer_ is about
  std::shared_ptr<ProblemChanger> changer_;  // used on the worker only
  std::optional<WhatIfFound> found_;
  WhatIfCurve curve_;
  WhatIfScaling scaling_;
  std::atomic<std::uint64_t> job_ = 0;
  // Last: they end before what their jobs use. What a person waits for has one of its own.
  Worker worker_{Worker::OnExit::DropQueued}, files_{Worker::OnExit::DropQueued};
};

}  // namespace strato
