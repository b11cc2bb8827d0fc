// Editing: every change of the strategy is one undoable step, simulated in the background and
// stored.
#include <algorithm>

#include "core/base/error.h"
#include "core/plugin/use/export.h"
#include "core/plugin/use/save_plan.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/strategy/value/variable_check.h"
#include "views/models/ascending.h"
#include "views/models/session.h"
#include "views/models/session_state.h"
#include "views/models/strategy_edits.h"
#include "views/models/variable_edits.h"

namespace strato {
namespace {

QString edited(const QString& label) {
  const QString suffix = QStringLiteral(", edited");
  return label.endsWith(suffix) ? label : label + suffix;
}

// Whatever they are called.
bool has_groups_of(const Snapshot& snapshot, const Strategy& strategy) {
  const Grouping& groups = strategy.grouping ? *strategy.grouping : *snapshot.opened->grouping;
  return groups.digest() == snapshot.problem->grouping->digest();
}

// The groups edited so far and those that `strategy` decides otherwise.
std::vector<GroupId> with_changed(const Snapshot& snapshot, const Strategy& strategy) {
  std::vector<GroupId> edited;
  if (!has_groups_of(snapshot, strategy)) return edited;
  for (std::size_t g = 0; g < strategy.groups.size(); ++g) {
    const GroupId group(g);
    if (std::ranges::binary_search(snapshot.edited, group) ||
        strategy.groups[group] != snapshot.strategy.groups[group]) {
      edited.push_back(group);
    }
  }
  return edited;
}

Score score_of(const Problem& problem, const Strategy& strategy) {
  try {
    return simulate_as(problem, strategy, {}).score;
  } catch (const std::exception&) {
    return {};  // what was wrong has been told when it was shown
  }
}

}  // namespace

std::shared_ptr<const Outcome> OutcomeCache::find(const OutcomeKey& key) const {
  for (const auto& [known, outcome] : entries_) {
    if (known == key) return outcome;
  }
  return nullptr;
}

void OutcomeCache::put(const OutcomeKey& key, std::shared_ptr<const Outcome> outcome) {
  std::erase_if(entries_, [&](const auto& entry) { return entry.first == key; });
  entries_.emplace_front(key, std::move(outcome));
  if (entries_.size() > kCapacity) entries_.pop_back();
}

StrategyCommand::StrategyCommand(Session& session, ShownStrategy before, ShownStrategy after,
                                 const QString& text, bool shown)
    : QUndoCommand(text),
      session_(session),
      before_(std::move(before)),
      after_(std::move(after)),
      skip_redo_(shown) {}

void StrategyCommand::undo() {
  session_.state_->follows = false;
  session_.apply(before_);
}

void StrategyCommand::redo() {
  if (!std::exchange(skip_redo_, false)) session_.apply(after_);
}

void Session::edit(const Strategy& wanted, const QString& label) {
  if (!snapshot_.problem || wanted == snapshot_.strategy) return;
  Strategy strategy = wanted;
  try {
    const Problem problem = problem_for(*snapshot_.opened, strategy);
    if (!strategy.variables.empty() && strategy.groups.size() == problem.grouping->size())
      strategy = without_stale_sequences(strategy, *problem.grouping);
    validate(strategy, *problem.grouping, *problem.cluster);
    validate_variables(strategy, *problem.graph);
  } catch (const InputError& error) {
    emit failed(QString::fromUtf8(error.what()));
    return;
  }
  end_following();  // a person takes over
  const Digest parent = snapshot_.strategy.digest();
  record(snapshot_.strategy, snapshot_.label, parent,
         Origin::Import);  // unless it is stored already
  undo_stack_.push(new StrategyCommand(
      *this, shown(), {strategy, edited(snapshot_.label), with_changed(snapshot_, strategy), true},
      label));
  record(strategy, label, parent, Origin::Edit);
}

void Session::edit_later(StrategyChange change, const QString& label) {
  if (!snapshot_.problem) return;
  end_following();  // what the search finds meanwhile does not take the edit's place
  begin_busy(tr("Changing the strategy"));
  state_->edit.post([this, label, change = std::move(change), problem = snapshot_.problem,
                     opened = snapshot_.opened, strategy = snapshot_.strategy] {
    QString refusal;
    Strategy wanted;
    try {
      const auto times = mean_op_times(*problem->graph, *problem->cluster, *problem->cost);
      wanted = change({*problem, *opened, strategy, times});
    } catch (const std::exception& thrown) {
      refusal = QString::fromUtf8(thrown.what());
    }
    post([this, label, refusal, problem, strategy, wanted = std::move(wanted)] {
      end_busy();
      if (!refusal.isEmpty()) {
        emit message(refusal);
      } else if (problem != snapshot_.problem || strategy != snapshot_.strategy) {
        emit message(tr("The strategy changed meanwhile: do it again"));
      } else {
        edit(wanted, label);
      }
    });
  });
}

void Session::decide(const std::vector<GroupId>& groups, const Decision& decision,
                     const QString& label) {
  edit(with_decision(snapshot_.strategy, groups, decision), label);
}

void Session::show_found(const Strategy& strategy, const QString& label) {
  if (!snapshot_.problem || strategy == snapshot_.strategy) return;
  end_following();
  undo_stack_.push(
      new StrategyCommand(*this, shown(), {strategy, label}, tr("show %1").arg(label)));
}

ShownStrategy Session::shown() const {
  return {snapshot_.strategy, snapshot_.label, snapshot_.edited, snapshot_.by_hand};
}

void Session::apply(const ShownStrategy& shown) {
  state_->next_before.reset();
  snapshot_.strategy = shown.strategy;
  snapshot_.label = shown.label;
  snapshot_.edited = shown.edited;
  snapshot_.by_hand = shown.by_hand;
  take_groups();
  emit strategy_changed();
  simulate();
}

// The problem is shown in the groups of the strategy. What is selected stays so, by its ops.
void Session::take_groups() {
  const Problem wanted = problem_for(*snapshot_.opened, snapshot_.strategy);
  const std::shared_ptr<const Grouping> before = snapshot_.problem->grouping;
  if (*wanted.grouping == *before) return;
  std::vector<GroupId> groups;
  for (const OpId op : selection_.ops()) groups.push_back(wanted.grouping->group_of(op));
  selection_.regroup(groups.empty()
                         ? groups_with_ops_of(selection_.groups(), *before, *wanted.grouping)
                         : ascending(std::move(groups)));
  const bool own = !(*wanted.grouping == *snapshot_.opened->grouping);
  snapshot_.problem = own ? std::make_shared<const Problem>(wanted) : snapshot_.opened;
  emit problem_changed();
  selection_.tell();
}

// Shows the outcome of the strategy and of what it is compared with, both simulated as the session
// now wants it: at once when they are known.
void Session::simulate() {
  const std::uint64_t job = ++state_->outcome_job;
  const OutcomeKey key{snapshot_.strategy.digest(), simulation_};
  std::shared_ptr<const Outcome> known = state_->outcomes.find(key);
  std::shared_ptr<const Outcome> baseline = state_->baselines[simulation_];
  if (known && baseline) {
    snapshot_.baseline = std::move(baseline);
    show_outcome(std::move(known));
    return;
  }
  begin_busy(tr("Simulating"));
  state_->simulate.post([this, job, key, known, baseline, strategy = snapshot_.strategy,
                         problem = snapshot_.opened]() mutable {
    if (job != state_->outcome_job) {  // something else is to be shown by now
      post([this] { end_busy(); });
      return;
    }
    QString error;
    try {
      const Strategy reference = data_parallel(*problem);
      if (!baseline && !(strategy == reference && known)) {
        baseline =
            std::make_shared<const Outcome>(simulate_as(*problem, reference, key.simulation));
      }
      if (!baseline) baseline = known;
      if (!known && strategy == reference) known = baseline;
      if (!known) {
        known = std::make_shared<const Outcome>(simulate_as(*problem, strategy, key.simulation));
      }
    } catch (const std::exception& thrown) {
      error = QString::fromUtf8(thrown.what());
    }
    post([this, job, key, known, baseline, error, problem] {
      end_busy();
      if (!error.isEmpty()) emit failed(error);
      if (!error.isEmpty() || problem != snapshot_.opened) return;
      state_->outcomes.put(key, known);
      state_->baselines[key.simulation] = baseline;
      if (job != state_->outcome_job) return;
      snapshot_.baseline = baseline;
      show_outcome(known);
    });
  });
}

void Session::set_simulation(const Simulation& simulation) {
  if (simulation == simulation_) return;
  simulation_ = simulation;
  emit simulation_changed();
  if (snapshot_.problem) simulate();
}

// Priorities are a part of a plan: one that comes with its own is shown in its order.
void Session::take_order(const Strategy& strategy) {
  if (strategy.priorities.empty() || simulation_.order == TaskOrder::Priority) return;
  simulation_.order = TaskOrder::Priority;
  emit simulation_changed();
  emit message(tr("Simulated in the order that the strategy gives"));
}

void Session::show_outcome(std::shared_ptr<const Outcome> outcome) {
  snapshot_.before = snapshot_.outcome;
  if (state_->next_before) snapshot_.before = std::move(state_->next_before);
  state_->next_before.reset();
  snapshot_.outcome = std::move(outcome);
  selection_.drop_task();
  explain();
  emit outcome_changed();
}

// Stored after its simulation, which runs before this job on the same worker, and whatever is shown
// by then; with the score of the simulation that searches use, so that stored scores compare.
void Session::record(const Strategy& strategy, const QString& label, const Digest& parent,
                     Origin origin) {
  if (!workspace()) return;
  RecordedStrategy recorded{strategy, label.toStdString(), origin, {}, {}};
  if (origin == Origin::Edit) recorded.parent = parent;
  const std::uint64_t job = ++state_->record_job;
  state_->to_record.emplace(job, recorded);
  state_->simulate.post([this, job, problem = snapshot_.opened] {
    post([this, job, problem] {
      const auto waiting = state_->to_record.find(job);
      if (waiting == state_->to_record.end()) return;
      const RecordedStrategy& recorded = waiting->second;
      const auto known = problem == snapshot_.opened
                             ? state_->outcomes.find({recorded.strategy.digest(), {}})
                             : nullptr;
      state_->simulate.post([this, job, strategy = recorded.strategy, problem, known] {
        const Score score = known ? known->score : score_of(*problem, strategy);
        post([this, job, score] {
          auto scored = state_->to_record.extract(job);
          if (scored.empty()) return;
          scored.mapped().score = score;
          state_->recorder.strategy(scored.mapped());
        });
      });
    });
  });
}

void Session::State::store_what_waits() {
  for (auto& [job, recorded] : to_record) {
    if (const auto known = outcomes.find({recorded.strategy.digest(), {}}))
      recorded.score = known->score;
    recorder.strategy(recorded);
  }
  to_record.clear();
}

void Session::write_later(const std::filesystem::path& file, std::function<void()> write) {
  const QString name = QString::fromStdString(file.filename().string());
  begin_busy(tr("Writing %1").arg(name));
  state_->simulate.post([this, file, write = std::move(write)] {
    QString error;
    try {
      write();
    } catch (const std::exception& thrown) {
      error = QString::fromUtf8(thrown.what());
    }
    post([this, file, error] {
      end_busy();
      if (error.isEmpty()) {
        emit written(QString::fromStdString(file.string()));
      } else {
        emit failed(error);
      }
    });
  });
}

void Session::export_plan(const std::filesystem::path& file) {
  if (!snapshot_.outcome || !state_->model) return;
  FoundBy found;
  if (state_->found_by && state_->found_by->strategy == snapshot_.strategy.digest())
    found = *state_->found_by;
  ModelSource model = *state_->model;
  model.options.costs = snapshot_.costs;
  write_later(file, [=, snapshot = snapshot_, simulation = simulation_] {
    // What is saved is what was seen: with the order that it was simulated in.
    const Strategy strategy = ordered(*snapshot.opened, snapshot.strategy, simulation);
    SimulateOptions options;
    options.fair_links = simulation.fair_links;
    Verdict verdict = make_verdict(*snapshot.opened, strategy, options);
    verdict.planner = found.planner;
    verdict.seed = found.seed;
    verdict.evaluations = found.evaluations;
    verdict.evaluations_to_beat_data_parallel = found.evaluations_to_beat_data_parallel;
    verdict.note = found.note;
    verdict.facts = found.facts;
    save_plan(file, model, strategy, verdict, found.constraints.get());
  });
}

void Session::export_with(const QString& exporter, const std::filesystem::path& file) {
  if (!snapshot_.outcome) return;
  write_later(file, [this, file, name = exporter.toStdString(), snapshot = snapshot_] {
    const ExportInput input{*snapshot.problem, snapshot.strategy, *snapshot.outcome};
    write_export(*plugins_.exporter(name), input, file);
  });
}

}  // namespace strato
