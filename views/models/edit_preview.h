// What an edit would do, before it is made: the step time and memory of a strategy near the one
// that is shown, found on a thread of its own by delta simulation (core/sim/engine/delta.h). The
// latest question wins; answers to others, and those about what is no longer shown, are dropped.
// GUI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <memory>
#include <optional>

#include "views/models/session.h"
#include "views/models/worker.h"

namespace strato {

// Of a strategy, beside the one that it would replace.
struct EditEffect {
  Strategy strategy;
  Nanos before, after;  // step times
  bool feasible_before = true, feasible = true;
  // Of the device whose peak changes most.
  DeviceId device;
  Bytes memory_change;
  bool breaks_constraints = false;  // more of them than before

  double relative() const;  // -0.032: 3.2 % faster
  // "−6.1 ms (−3.2 %), +0.4 GB on v100:0", with what is wrong behind it.
  QString text(const Cluster& cluster) const;
};

struct StepUse {  // of one simulation
  Nanos step_time;
  bool feasible = true;
  Bytes overflow;
  IdVector<DeviceId, Bytes> peaks;
  bool better_than(const StepUse& other) const;  // as Score has it
};
StepUse use_of(const Timeline& timeline);
EditEffect effect_of(const Strategy& strategy, const StepUse& before, const StepUse& after);

// Simulates strategies near each other, as the session would. One thread at a time.
class NearSimulator {
 public:
  // `problem`: in whose groups most of them are.
  NearSimulator(std::shared_ptr<const Problem> problem, const Simulation& simulation);
  ~NearSimulator();
  // Throws what lowering throws.
  StepUse use(const Strategy& strategy);
  bool is_for(const std::shared_ptr<const Problem>& problem, const Simulation& simulation) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class EditPreview : public QObject {
  Q_OBJECT
 public:
  explicit EditPreview(Session& session, QObject* parent = nullptr);
  ~EditPreview() override;

  // The answer comes with changed(); at once when it is known already.
  void ask(const Strategy& strategy);
  // What is made of the strategy shown, on the thread, too; asked as often as this is called.
  void ask(StrategyChange change);
  void forget();                       // nothing is asked any more
  bool asks() const { return asks_; }  // until it is forgotten
  bool waits() const { return waiting_; }
  const std::optional<EditEffect>& effect() const { return effect_; }  // of the latest question
  const QString& error() const { return error_; }                      // why there is none
  // It is as it would be.
  bool changes_nothing() const { return asks_ && !waiting_ && !effect_ && error_.isEmpty(); }
  QString text() const;  // of the answer, or "…" while it is on its way; empty: nothing was asked

 signals:
  void changed();

 private:
  struct Bench;  // the worker's
  void post(StrategyChange change);
  void take(std::uint64_t job, std::optional<EditEffect> effect, const QString& error);

  Session& session_;
  std::uint64_t job_ = 0;
  bool asks_ = false, waiting_ = false;
  std::optional<Strategy> asked_;  // none: a change
  std::optional<EditEffect> effect_;
  QString error_;
  std::shared_ptr<std::atomic<std::uint64_t>> latest_;  // what the worker need not do any more
  std::shared_ptr<Bench> bench_;
  Worker worker_{Worker::OnExit::DropQueued};
};

}  // namespace strato
