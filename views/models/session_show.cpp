// What was opened becomes what is shown.
#include "core/base/error.h"
#include "core/search/tree/search_tree.h"
#include "views/models/session.h"
#include "views/models/session_state.h"

namespace strato {
void Session::show_history(const LoadedProblem& loaded) {
  if (!loaded.run) return;
  search_ = {};
  search_.planner = QString::fromStdString(loaded.run->planner);
  search_.run = QStringLiteral("%1 #%2").arg(search_.planner).arg(loaded.run->id);
  search_.note = QString::fromStdString(loaded.run->note);
  search_.history = loaded.history;
  search_.curves = loaded.curves;
  search_.progress.evaluations = loaded.run->evaluations;
  search_.progress.elapsed_seconds = loaded.run->wall_seconds;
  search_.progress.iterations = loaded.tree ? loaded.tree->iterations : loaded.run->evaluations;
  // One that is searched elsewhere can be looked at; two must not write its tree.
  search_.can_continue = loaded.tree != nullptr && !loaded.searched_elsewhere;
  state_->best_of_run.reset();
  if (loaded.run->best) {
    state_->best_found = {loaded.strategy, loaded.outcome->score};
    Score best = loaded.outcome->score;  // perhaps simulated otherwise
    best.step_time = Nanos(loaded.run->best_ns);
    state_->best_of_run = {loaded.strategy.digest(), best};
    state_->found_by = FoundBy{.strategy = loaded.strategy.digest(),
                               .planner = loaded.run->planner,
                               .note = loaded.run->note,
                               .seed = loaded.run_options.seed,
                               .evaluations = loaded.run->evaluations,
                               .constraints = loaded.run_options.constraints};
  }
  const std::uint64_t job = state_->request.job;  // never given twice
  state_->request = {};
  state_->request.job = job;
  state_->request.planner = search_.planner;
  state_->request.options = loaded.run_options;
  state_->recorder.adopt_run(*loaded.run);
  search_.tree_error = loaded.tree_error;
  state_->shown_run = loaded.run->id;
  ++state_->tree_epoch;
  stop_comparing();
  tree_ = loaded.tree;
  take_planning_steps(nullptr);
  emit tree_changed();
  emit search_changed();
}

void Session::show_same_problem(const LoadedProblem& loaded) {
  // Perhaps from another workspace, where it is stored from now on.
  state_->recorder.problem(loaded.model, loaded.cluster, loaded.prepared.problem);
  state_->outcomes.put({loaded.strategy.digest(), loaded.simulation}, loaded.outcome);
  state_->baselines[loaded.simulation] = loaded.baseline;
  const Simulation before = simulation_;
  take_order(loaded.strategy);
  if (loaded.run && search_.state == SearchPhase::Idle) show_history(loaded);
  if (loaded.strategy == snapshot_.strategy) {
    snapshot_.label = loaded.label;
    snapshot_.edited.clear();
    snapshot_.by_hand = false;
    emit strategy_changed();
    if (simulation_ != before) simulate();
    return;
  }
  show_found(loaded.strategy, loaded.label);
}

void Session::show_loaded(LoadedProblem loaded) {
  if (!loaded.unmatched.empty()) {
    emit message(tr("%1: %2 things did not match, the first: %3")
                     .arg(loaded.label)
                     .arg(loaded.unmatched.size())
                     .arg(QString::fromStdString(loaded.unmatched.front())));
  }
  if (loaded.prepared.problem == snapshot_.opened) {
    show_same_problem(loaded);
    return;
  }
  abandon_search();
  const bool same_shape = snapshot_.opened &&
                          loaded.prepared.problem->grouping == snapshot_.opened->grouping &&
                          loaded.prepared.problem->cluster == snapshot_.opened->cluster;
  const std::shared_ptr<const Problem> shown_before = snapshot_.problem;
  if (!same_shape) state_->store_what_waits();
  state_->model = loaded.model;
  state_->cluster = loaded.cluster;
  ++state_->outcome_job;
  state_->outcomes.clear();
  state_->baselines = {{Simulation{}, loaded.prepared.baseline},
                       {loaded.simulation, loaded.baseline}};
  if (!same_shape) {  // only the costs are others: edits still fit
    undo_stack_.clear();
    selection_.clear();
  }
  take_snapshot(loaded);
  search_ = {};
  tree_.reset();
  take_planning_steps(nullptr);
  ++state_->tree_epoch;
  state_->shown_run.reset();
  stop_comparing();
  state_->best_found.reset();
  state_->found_by.reset();
  if (!same_shape || !loaded.workspace.empty()) {  // else it stays where it is stored
    state_->recorder.problem(loaded.model, loaded.cluster, loaded.prepared.problem);
  }
  if (same_shape && !(snapshot_.problem->grouping->digest() == shown_before->grouping->digest()))
    selection_.clear();
  take_order(loaded.strategy);
  explain();
  emit problem_changed();
  emit tree_changed();
  emit search_changed();
  show_history(loaded);
  emit strategy_changed();
  emit outcome_changed();
  if (loaded.simulation != simulation_) simulate();  // it was chosen while this was loading
}

void Session::take_snapshot(const LoadedProblem& loaded) {
  snapshot_ = {};
  snapshot_.opened = snapshot_.problem = loaded.prepared.problem;
  if (loaded.strategy.grouping && !(*loaded.strategy.grouping == *snapshot_.opened->grouping)) {
    snapshot_.problem =
        std::make_shared<const Problem>(problem_for(*snapshot_.opened, loaded.strategy));
  }
  snapshot_.baseline = loaded.baseline;
  snapshot_.lower_bound = loaded.prepared.lower_bound;
  snapshot_.strategy = loaded.strategy;
  snapshot_.label = loaded.label;
  snapshot_.outcome = loaded.outcome;
  snapshot_.costs = loaded.costs;
  snapshot_.cost_files = loaded.cost_files;
  snapshot_.coverage = QString::fromStdString(loaded.prepared.coverage);
  for (const std::vector<std::string>* list : {&loaded.prepared.warnings, &loaded.unmatched}) {
    for (const std::string& text : *list) snapshot_.warnings << QString::fromStdString(text);
  }
  state_->outcomes.put({loaded.strategy.digest(), loaded.simulation}, loaded.outcome);
}

}  // namespace strato
