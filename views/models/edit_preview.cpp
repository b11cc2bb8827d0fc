#include "views/models/edit_preview.h"

#include <QStringList>
#include <algorithm>
#include <atomic>

#include "core/search/constraints/bound_constraints.h"
#include "core/sim/engine/delta.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

template <class Result>
StepUse use_from(const Result& result) {
  StepUse use{result.step_time, result.feasible, Bytes(0), {}};
  for (const DeviceUse& device : result.devices) {
    use.peaks.push_back(device.peak);
    if (!device.fits()) use.overflow += device.peak - device.capacity;
  }
  return use;
}

QString with_sign(const QString& figure, bool more) {
  return (more ? QStringLiteral("+") : QStringLiteral("−")) + figure;
}

}  // namespace

StepUse use_of(const Timeline& timeline) { return use_from(timeline); }

bool StepUse::better_than(const StepUse& other) const {
  const Score mine{step_time, feasible, overflow, nullptr};
  return mine.better_than({other.step_time, other.feasible, other.overflow, nullptr});
}

EditEffect effect_of(const Strategy& strategy, const StepUse& before, const StepUse& after) {
  EditEffect effect;
  effect.strategy = strategy;
  effect.before = before.step_time;
  effect.after = after.step_time;
  effect.feasible_before = before.feasible;
  effect.feasible = after.feasible;
  for (std::size_t d = 0; d < std::min(before.peaks.size(), after.peaks.size()); ++d) {
    const Bytes change = after.peaks[DeviceId(d)] - before.peaks[DeviceId(d)];
    if (effect.device.valid() && std::abs(change.value) <= std::abs(effect.memory_change.value))
      continue;
    effect.device = DeviceId(d);
    effect.memory_change = change;
  }
  return effect;
}

double EditEffect::relative() const { return before.value > 0 ? (after - before) / before : 0; }

QString EditEffect::text(const Cluster& cluster) const {
  QStringList parts;
  const Nanos change = after - before;
  if (change == Nanos(0)) {
    parts << EditPreview::tr("no change of the step time");
  } else {
    const bool slower = change > Nanos(0);
    parts << QStringLiteral("%1 (%2)").arg(
        with_sign(style::time(slower ? change : before - after), slower),
        style::signed_percent(relative()));
  }
  constexpr std::int64_t kWorthAWord = 1'000'000;
  if (device.valid() && std::abs(memory_change.value) >= kWorthAWord) {
    const bool more = memory_change > Bytes(0);
    parts << EditPreview::tr("%1 on %2")
                 .arg(with_sign(style::bytes(Bytes(std::abs(memory_change.value))), more),
                      strato::text(cluster.device(device).name));
  }
  if (!feasible) {
    parts << EditPreview::tr("does not fit in memory");
  } else if (!feasible_before) {
    parts << EditPreview::tr("fits in memory");
  }
  if (breaks_constraints) parts << EditPreview::tr("against a constraint");
  return parts.join(QStringLiteral(", "));
}

// A delta evaluation is first in, first out on links of its own; all else is simulated in full.
struct NearSimulator::State {
  std::shared_ptr<const Problem> problem;
  Simulation simulation;
  // Of the problem's groups, and of those that other strategies had last.
  std::unique_ptr<DeltaEvaluator> own, other;
  Digest others;

  DeltaEvaluator& evaluator(const std::shared_ptr<const Grouping>& grouping) {
    const bool is_own = !grouping || grouping->digest() == problem->grouping->digest();
    std::unique_ptr<DeltaEvaluator>& evaluator = is_own ? own : other;
    if (!evaluator || !(is_own || grouping->digest() == others)) {
      evaluator = std::make_unique<DeltaEvaluator>(
          problem->graph, is_own ? problem->grouping : grouping, problem->cluster, problem->cost);
      if (!is_own) others = grouping->digest();
    }
    return *evaluator;
  }
};

NearSimulator::NearSimulator(std::shared_ptr<const Problem> problem, const Simulation& simulation)
    : state_(std::make_unique<State>(State{std::move(problem), simulation, {}, {}, {}})) {}

NearSimulator::~NearSimulator() = default;

bool NearSimulator::is_for(const std::shared_ptr<const Problem>& problem,
                           const Simulation& simulation) const {
  return state_->problem == problem && state_->simulation == simulation;
}

StepUse NearSimulator::use(const Strategy& strategy) {
  const Problem& problem = *state_->problem;
  const std::size_t groups = problem_for(problem, strategy).grouping->size();
  if (state_->simulation != Simulation{} || strategy.groups.size() != groups)
    return use_of(*simulate_as(problem, strategy, state_->simulation).timeline);
  return use_from(
      state_->evaluator(strategy.grouping).evaluate(CompleteStrategy(strategy, *problem.cluster)));
}

// What is shown is simulated once, and all that is asked about it next to it.
struct EditPreview::Bench {
  std::unique_ptr<NearSimulator> simulator;
  Strategy shown;
  StepUse before;
  std::shared_ptr<const Problem> timed;
  std::vector<Nanos> op_times;  // of that

  EditEffect effect(const std::shared_ptr<const Problem>& problem, const Simulation& simulation,
                    const Strategy& now, const Strategy& wanted) {
    const bool fits = simulator && simulator->is_for(problem, simulation);
    if (!fits || !(shown == now)) {
      if (!fits) simulator = std::make_unique<NearSimulator>(problem, simulation);
      before = simulator->use(now);
      shown = now;
    }
    return effect_of(wanted, before, simulator->use(wanted));
  }

  const std::vector<Nanos>& times(const std::shared_ptr<const Problem>& problem) {
    if (timed != problem)
      op_times = mean_op_times(*problem->graph, *problem->cluster, *problem->cost);
    timed = problem;
    return op_times;
  }
};

EditPreview::EditPreview(Session& session, QObject* parent)
    : QObject(parent),
      session_(session),
      latest_(std::make_shared<std::atomic<std::uint64_t>>(0)),
      bench_(std::make_shared<Bench>()) {
  connect(&session_, &Session::strategy_changed, this, &EditPreview::forget);
  connect(&session_, &Session::problem_changed, this, &EditPreview::forget);
  connect(&session_, &Session::simulation_changed, this, &EditPreview::forget);
  connect(&session_, &Session::constraints_changed, this, &EditPreview::forget);
  connect(&session_.selection(), &Selection::changed, this, &EditPreview::forget);
}

EditPreview::~EditPreview() {
  *latest_ = ++job_;
  worker_.end();
}

void EditPreview::ask(const Strategy& strategy) {
  if (!session_.snapshot().problem || strategy == session_.snapshot().strategy) return forget();
  if ((waiting_ || effect_) && asked_ == strategy) return;
  asked_ = strategy;
  post([strategy](const Regrouping&) { return strategy; });
}

void EditPreview::ask(StrategyChange change) {
  if (!session_.snapshot().problem) return forget();
  asked_.reset();
  post(std::move(change));
}

void EditPreview::post(StrategyChange change) {
  const Snapshot& snapshot = session_.snapshot();
  *latest_ = ++job_;
  effect_.reset();
  error_.clear();
  asks_ = waiting_ = true;
  worker_.post([this, job = job_, change = std::move(change), problem = snapshot.problem,
                opened = snapshot.opened, now = snapshot.strategy, latest = latest_,
                simulation = session_.simulation(), bench = bench_,
                bound = session_.bound_constraints()] {
    if (*latest != job) return;
    std::optional<EditEffect> effect;
    QString error;
    try {
      const Strategy wanted = change({*problem, *opened, now, bench->times(problem)});
      if (*latest == job && wanted != now) {
        effect = bench->effect(problem, simulation, now, wanted);
        effect->breaks_constraints =
            bound && bound->violated(wanted).size() > bound->violated(now).size();
      }
    } catch (const std::exception& thrown) {
      *bench = {};
      error = QString::fromUtf8(thrown.what());
    }
    QMetaObject::invokeMethod(
        this, [this, job, effect, error] { take(job, effect, error); }, Qt::QueuedConnection);
  });
  emit changed();
}

void EditPreview::take(std::uint64_t job, std::optional<EditEffect> effect, const QString& error) {
  if (job != job_ || !waiting_) return;
  waiting_ = false;
  effect_ = std::move(effect);
  error_ = error;
  emit changed();
}

void EditPreview::forget() {
  *latest_ = ++job_;
  const bool had = asks_;
  asks_ = waiting_ = false;
  effect_.reset();
  error_.clear();
  if (had) emit changed();
}

QString EditPreview::text() const {
  if (effect_) return effect_->text(*session_.snapshot().problem->cluster);
  if (!error_.isEmpty()) return tr("cannot be simulated: %1").arg(error_);
  return waiting_ ? QStringLiteral("…") : QString();
}

}  // namespace strato
