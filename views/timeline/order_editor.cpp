#include "views/timeline/order_editor.h"

#include <QUndoCommand>

#include "core/base/error.h"
#include "core/search/evaluate/outcome.h"
#include "views/style/text.h"

namespace strato {
namespace {

// An order of one's own counts only where tasks run by priority. How links are shared is not a part
// of the edit: it may be chosen anew between the edit and its undoing.
class ByPriority : public QUndoCommand {
 public:
  explicit ByPriority(Session& session) : session_(session), before_(session.simulation().order) {}
  void undo() override { set(before_); }
  void redo() override { set(TaskOrder::Priority); }

 private:
  void set(TaskOrder order) {
    Simulation simulation = session_.simulation();
    simulation.order = order;
    session_.set_simulation(simulation);
  }

  Session& session_;
  TaskOrder before_;
};

}  // namespace

OrderEditor::OrderEditor(Session& session, QObject* parent)
    : QObject(parent), session_(session), latest_(std::make_shared<std::atomic<std::uint64_t>>(0)) {
  for (const auto changed : {&Session::strategy_changed, &Session::problem_changed,
                             &Session::outcome_changed, &Session::simulation_changed})
    connect(&session_, changed, this, &OrderEditor::forget);
}

OrderEditor::~OrderEditor() {
  *latest_ = ++job_;
  worker_.end();
}

void OrderEditor::ask(std::shared_ptr<const Timeline> shown, OrderWish wish) {
  const Snapshot& snapshot = session_.snapshot();
  if (!snapshot.problem || !snapshot.outcome || snapshot.outcome->timeline != shown)
    return forget();
  Asked asked{std::move(shown), wish};
  if (asked_ == asked) return;
  forget();
  asked_ = std::move(asked);
  waiting_ = true;
  Simulation simulation = session_.simulation();
  simulation.order = TaskOrder::Priority;
  worker_.post([this, job = job_, latest = latest_, asked = *asked_, simulation,
                problem = snapshot.problem, strategy = snapshot.strategy] {
    if (*latest != job) return;
    std::optional<EditEffect> effect;
    QString refusal;
    try {
      const Strategy wanted = with_order(strategy, *asked.shown, asked.wish);
      const Outcome after = simulate_as(*problem, wanted, simulation);
      check_order(*asked.shown, asked.wish, *after.timeline);
      effect = effect_of(wanted, use_of(*asked.shown), use_of(*after.timeline));
    } catch (const InputError& error) {
      refusal = QStringLiteral("%1 %2: %3")
                    .arg(strato::text(error.place()), strato::text(error.problem()),
                         strato::text(error.remedy()));
    } catch (const std::exception& error) {
      refusal = QString::fromUtf8(error.what());
    }
    QMetaObject::invokeMethod(
        this, [this, job, effect, refusal] { take(job, effect, refusal); }, Qt::QueuedConnection);
  });
  emit changed();
}

void OrderEditor::make(std::shared_ptr<const Timeline> shown, OrderWish wish) {
  ask(std::move(shown), wish);
  if (!asked_) return;
  make_ = true;
  if (!waiting_) apply();
}

void OrderEditor::take(std::uint64_t job, std::optional<EditEffect> effect,
                       const QString& refusal) {
  if (job != job_ || !waiting_) return;
  waiting_ = false;
  effect_ = std::move(effect);
  refusal_ = refusal;
  emit changed();
  if (make_) apply();
}

void OrderEditor::apply() {
  if (!effect_) {
    emit session_.message(refusal_);
    return forget();
  }
  const Strategy wanted = effect_->strategy;
  const QString words = label();
  forget();
  session_.undo_stack().beginMacro(words);
  if (session_.simulation().order != TaskOrder::Priority)
    session_.undo_stack().push(new ByPriority(session_));
  session_.edit(wanted, words);
  session_.undo_stack().endMacro();
}

void OrderEditor::forget() {
  *latest_ = ++job_;
  const bool had = asked_.has_value();
  asked_.reset();
  waiting_ = make_ = false;
  effect_.reset();
  refusal_.clear();
  if (had) emit changed();
}

QString OrderEditor::label() const {
  const Program& program = *asked_->shown->program;
  const auto name = [&](TaskId task) {
    const QString whole = strato::text(program.graph->op(program.tasks[task].op).name);
    return whole.size() > 40 ? QStringLiteral("…") + whole.right(40) : whole;
  };
  const QString moved = name(asked_->wish.moved), other = name(asked_->wish.other);
  return asked_->wish.before ? tr("%1 before %2").arg(moved, other)
                             : tr("%1 after %2").arg(moved, other);
}

QString OrderEditor::text() const {
  if (!asked_) return {};
  if (!refusal_.isEmpty()) return refusal_;
  const QString effect =
      effect_ ? effect_->text(*asked_->shown->program->cluster) : QStringLiteral("…");
  return QStringLiteral("%1: %2").arg(label(), effect);
}

}  // namespace strato
