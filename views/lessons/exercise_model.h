// An exercise in a session: beat the planner by hand. The optimum and hints are computed in the
// background; what became stale is dropped. Lives in the GUI thread.
#pragma once

#include <QObject>
#include <memory>
#include <stop_token>

#include "views/lessons/exercise.h"
#include "views/lessons/lesson.h"
#include "views/models/session.h"
#include "views/models/worker.h"

namespace strato {

class ExerciseModel : public QObject {
  Q_OBJECT
 public:
  explicit ExerciseModel(Session& session, QObject* parent = nullptr);
  ~ExerciseModel() override;

  // About the problem that is open now.
  void begin();
  void leave();
  bool active() const { return problem_ != nullptr; }

  // The best found so far; `final`: nothing better will come.
  const std::optional<Optimum>& optimum() const { return optimum_; }
  bool final() const { return final_; }
  std::optional<std::uint64_t> strategies() const { return strategies_; }
  std::optional<int> points() const;       // of the strategy shown; nothing while it is computed
  std::optional<int> best_points() const;  // since it began, until the best was shown
  // The optimum in all views: from now on what is shown is nobody's own.
  void show_best(const QString& label);
  bool was_shown() const { return was_shown_; }

  // Looks for the best single change of the strategy shown; hint_ready tells.
  void want_hint();
  bool looking() const { return looking_; }
  const std::optional<SingleChange>& hint() const { return hint_; }
  bool hint_known() const { return hint_known_; }  // hint() is about the strategy shown
  void wait();  // for tests: until nothing is computed any more. Runs no events.

 signals:
  void changed();
  void hint_ready();

 private:
  void look_at_outcome();
  void drop_hint();
  template <class Function>
  void post(std::uint64_t job, Function function);

  Session& session_;
  std::shared_ptr<const Problem> problem_;
  std::optional<Optimum> optimum_;
  std::optional<std::uint64_t> strategies_;
  std::optional<Nanos> best_time_;
  bool final_ = false, looking_ = false, hint_known_ = false, was_shown_ = false;
  std::optional<SingleChange> hint_;
  std::uint64_t job_ = 0, hint_job_ = 0;
  std::stop_source stop_, stop_hint_;
  Worker search_{Worker::OnExit::DropQueued}, hints_{Worker::OnExit::DropQueued};
};

}  // namespace strato
