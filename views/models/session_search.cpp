// Searching: one planner at a time on its own thread. Its observer blocks while the search is
// paused, and posts what it sees to the GUI thread a few times a second.
#include <algorithm>
#include <chrono>

#include "core/base/error.h"
#include "core/search/constraints/constraints.h"
#include "core/search/run/run_planner.h"
#include "core/search/run/run_record.h"
#include "core/search/tree/search_tree.h"
#include "views/models/planning_replay.h"
#include "views/models/session.h"
#include "views/models/session_state.h"

namespace strato {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kProgressEvery = 0.1;  // seconds between messages to the GUI thread
constexpr double kTreeEvery = 0.5;
constexpr double kHeartbeat = 0.9;  // seconds between two stored points of history

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// For the view that replays them: where that costs little. Refiners follow a "+" in the name.
bool records_steps(const PluginRegistry& plugins, const std::string& planner,
                   const Problem& problem) {
  const std::vector<PluginInfo> planners = plugins.list(PluginKind::Planner);
  const auto found =
      std::ranges::find(planners, planner.substr(0, planner.find('+')), &PluginInfo::name);
  return found != planners.end() && found->effort == Effort::Quick &&
         steps_fit_memory(problem.graph->ops().size(), problem.cluster->device_count());
}

// What a run began with is what its tree is about.
bool have_equal(const std::shared_ptr<const Constraints>& a,
                const std::shared_ptr<const Constraints>& b) {
  return (a ? *a : Constraints()) == (b ? *b : Constraints());
}

}  // namespace

void SearchControl::wait_while_paused() {
  std::unique_lock lock(mutex);
  if (!paused) return;
  const Clock::time_point start = Clock::now();
  changed.wait(lock, [this] { return !paused || stop.stop_requested(); });
  paused_seconds += seconds_since(start);
}

void SearchControl::set_paused(bool value) {
  {
    const std::lock_guard lock(mutex);
    paused = value;
  }
  changed.notify_all();
}

void SearchControl::request_stop() {
  stop.request_stop();
  set_paused(false);
}

// On the search thread.
class SearchObserver : public Observer {
 public:
  SearchObserver(Session& session, const SearchRequest& request)
      : session_(session), request_(request) {}

  void on_progress(const Progress& progress) override {
    if (due(last_progress_, kProgressEvery)) {
      send([&session = session_, job = request_.job, at = shifted(progress)] {
        session.search_progress(job, at);
      });
    }
    send_found(false);
    request_.control->wait_while_paused();
  }

  void on_improvement(const Strategy& strategy, const Score& score,
                      const Progress& progress) override {
    found_ = {strategy, score};
    send([&session = session_, job = request_.job, at = shifted(progress)] {
      session.search_progress(job, at);
    });
    send_found(false);
  }

  void on_tree(std::shared_ptr<const SearchTree> tree) override {
    if (!due(last_tree_, kTreeEvery)) return;
    send([&session = session_, job = request_.job, tree] {
      if (job != session.state_->request.job) return;
      session.take_tree(tree);
    });
  }

  void send_found(bool now) {
    if (!found_ || !(due(last_found_, 2 * kProgressEvery) || now)) return;
    send([&session = session_, job = request_.job, found = *std::exchange(found_, {})] {
      session.search_found(job, found.first, found.second);
    });
  }

 private:
  bool due(Clock::time_point& last, double every) {
    if (seconds_since(last) < every) return false;
    last = Clock::now();
    return true;
  }

  Progress shifted(Progress progress) const {  // time that a pause took is not time searched
    const std::lock_guard lock(request_.control->mutex);
    progress.elapsed_seconds += request_.seconds_before - request_.control->paused_seconds;
    progress.evaluations += request_.evaluations_before;
    return progress;
  }

  // The function outlives this object: it may use the session and its own copies only.
  template <class Function>
  void send(Function function) {
    session_.post(std::move(function));
  }

  Session& session_;
  const SearchRequest& request_;
  Clock::time_point last_progress_, last_tree_, last_found_;
  std::optional<std::pair<Strategy, Score>> found_;
};

void Session::start_search(const QString& planner, const PlannerOptions& options) {
  if (!snapshot_.problem) return;
  if (workspace() && !workspace()->is_read()) {
    state_->to_start = {planner, options, snapshot_.opened};
    return emit message(tr("The search begins as soon as the workspace is open"));
  }
  abandon_search();
  search_ = {};
  search_.planner = planner;
  tree_.reset();
  take_planning_steps(nullptr);
  ++state_->tree_epoch;
  state_->shown_run.reset();
  state_->to_steer.reset();
  stop_comparing();
  state_->request = {state_->request.job, planner, options, nullptr, nullptr, 0, 0, 0};
  if (!options.constraints) state_->request.options.constraints = bound_ ? constraints_ : nullptr;
  state_->request.options.record_steps =
      records_steps(plugins_, planner.toStdString(), *snapshot_.opened);
  state_->best_found.reset();
  state_->best_recorded = {};
  state_->best_of_run.reset();
  state_->last_heartbeat = -1;
  search_.run = QStringLiteral("%1 #%2").arg(planner).arg(++state_->runs_without_workspace);
  state_->recorder.start_run(
      planner.toStdString(),
      {state_->request.options, run_costs(snapshot_.cost_files, snapshot_.costs)},
      state_->baselines[Simulation{}]->timeline->step_time);
  state_->order_taken = false;
  if (simulation_ != Simulation{}) {
    emit message(
        tr("The search compares strategies first in, first out on exclusive "
           "links; its best is shown as chosen here"));
  }
  emit tree_changed();
  run_search(options.budget_seconds);
}

void Session::run_search(double budget_seconds) {
  SearchRequest& request = state_->request;
  ++request.job;
  request.control = std::make_shared<SearchControl>();
  search_.state = SearchPhase::Running;
  search_.can_continue = false;
  search_.target_iterations = request.options.budget_seconds > 0
                                  ? 0
                                  : request.iterations_before + request.options.iterations;
  search_.target_seconds = budget_seconds > 0 ? request.seconds_before + budget_seconds : 0;
  begin_following();
  state_->search_stopped = false;
  emit search_changed();
  SearchRequest own = request;
  own.options.budget_seconds = budget_seconds;
  state_->search_thread = std::thread([this, request = std::move(own), problem = snapshot_.opened,
                                       last = std::move(state_->search_thread)]() mutable {
    if (last.joinable()) last.join();  // a search that was abandoned is about to end
    try {
      const auto planner = plugins_.planner(request.planner.toStdString());
      SearchObserver observer(*this, request);
      auto result = std::make_shared<PlanResult>(
          run_planner(*planner, *problem, request.options, observer,
                      request.control->stop.get_token(), request.resume));
      observer.send_found(true);
      post([this, job = request.job, result] { search_finished(job, *result); });
    } catch (const std::exception& error) {
      post([this, job = request.job, text = QString::fromUtf8(error.what())] {
        search_failed(job, text);
      });
    }
  });
}

void Session::search_progress(std::uint64_t job, const Progress& progress) {
  if (job != state_->request.job || search_.state == SearchPhase::Idle) return;
  search_.progress = progress;
  const bool heartbeat = progress.elapsed_seconds - state_->last_heartbeat >= kHeartbeat;
  const std::int64_t best = progress.best ? progress.best->step_time.value : 0;
  const bool better = search_.history.empty() || search_.history.back().best_ns != best;
  if (progress.best && progress.best->feasible &&
      ((better && !state_->is_worse(*progress.best)) || heartbeat)) {
    add_history({progress.evaluations, progress.elapsed_seconds, best}, *progress.best);
  }
  if (heartbeat) {
    state_->last_heartbeat = progress.elapsed_seconds;
    record_best();
    state_->recorder.tree(tree_);
  }
  emit search_changed();
}

// The best of the run never gets worse.
void Session::add_history(HistoryPoint point, const Score& best) {
  if (state_->is_worse(best)) point.best_ns = state_->best_of_run->second.step_time.value;
  search_.history.push_back(point);
  state_->recorder.progress(point, RunState::Running);
}

void Session::search_found(std::uint64_t job, const Strategy& strategy, const Score& score) {
  if (job != state_->request.job) return;
  state_->best_found = {complete(strategy, *snapshot_.problem->cluster), score};
  if (state_->follows && !std::exchange(state_->order_taken, true)) take_order(strategy);
  follow_best();
}

// Shows the best so far; the undo stack gets one step for all of it, in end_following().
void Session::follow_best() {
  if (!state_->follows || busy() || !state_->best_found) return;
  const Strategy& best = state_->best_found->first;
  if (best != snapshot_.strategy) apply({best, name_of_found()});
}

QString Session::name_of_found() const {
  if (!state_->found_worse()) return search_.run;
  return steering().pinned.empty() ? tr("%1, steered").arg(search_.run)
                                   : tr("%1, pinned").arg(search_.run);
}

void Session::show_best_found() {
  if (state_->best_found) show_found(state_->best_found->first, name_of_found());
}

void Session::begin_following() {
  if (state_->follows) return;  // it goes on
  state_->follows = true;
  state_->followed_from = shown();
  state_->outcome_followed_from = snapshot_.outcome;
}

void Session::end_following() {
  if (!std::exchange(state_->follows, false)) return;
  if (snapshot_.strategy == state_->followed_from.strategy) return;
  undo_stack_.push(new StrategyCommand(*this, state_->followed_from, shown(),
                                       tr("search %1").arg(search_.run), true));
  if (snapshot_.outcome != state_->outcomes.find({snapshot_.strategy.digest(), simulation_})) {
    state_->next_before = std::move(state_->outcome_followed_from);  // its simulation is under way
    return;
  }
  snapshot_.before = std::move(state_->outcome_followed_from);
  emit outcome_changed();
}

void Session::record_best() {
  if (!state_->best_found) return;
  const auto& [strategy, score] = *state_->best_found;
  const Digest digest = strategy.digest();
  if (digest == state_->best_recorded || state_->is_worse(score)) return;
  state_->best_recorded = digest;
  state_->best_of_run = {digest, score};
  state_->recorder.best({strategy, search_.run.toStdString(), Origin::Run, {}, score});
}

// What was found as a person wished is kept beside the run's best: under what it went on from.
void Session::record_worse() {
  if (!state_->found_worse()) return;
  const auto& [strategy, score] = *state_->best_found;
  const ShownStrategy& from = state_->followed_from;
  const Digest parent = from.by_hand ? from.strategy.digest() : state_->best_of_run->first;
  state_->recorder.strategy({strategy, name_of_found().toStdString(), Origin::Edit, parent, score});
}

void Session::search_finished(std::uint64_t job, const PlanResult& result) {
  if (job != state_->request.job || search_.state == SearchPhase::Idle) return;
  SearchRequest& request = state_->request;
  const Progress& progress = search_.progress;
  state_->best_found = {complete(result.strategy, *snapshot_.problem->cluster), result.score};
  state_->found_by =
      FoundBy{.strategy = state_->best_found->first.digest(),
              .planner = request.planner.toStdString(),
              .note = result.note,
              .seed = request.options.seed,
              .evaluations = result.evaluations,
              .evaluations_to_beat_data_parallel = result.evaluations_to_beat_data_parallel,
              .facts = result.facts,
              .constraints = request.options.constraints};
  add_history({std::max(progress.evaluations, request.evaluations_before + result.evaluations),
               progress.elapsed_seconds, result.score.step_time.value},
              result.score);
  search_.progress.evaluations = search_.history.back().evaluations;
  search_.progress.best = result.score;
  if (result.tree) {
    tree_ = result.tree;
    search_.progress.iterations = tree_->iterations;
  }
  if (state_->to_steer) record_worse();  // it is as the pins were that are changed now
  if (resume_after_steering() || resume_after_pause()) return;
  take_planning_steps(result.steps);
  search_.note = QString::fromStdString(result.note);
  search_.facts = result.facts;
  search_.curves = result.curves;
  search_.state = SearchPhase::Idle;
  search_.can_continue = tree_ != nullptr;
  record_best();
  record_worse();
  state_->recorder.tree(tree_);
  state_->recorder.finish_run(state_->search_stopped ? RunState::Stopped : RunState::Finished,
                              note_with_facts(result), result.curves);
  if (state_->follows && state_->best_found->first != snapshot_.strategy) {
    apply({state_->best_found->first, name_of_found()});
  }
  end_following();
  explain_the_rest();
  emit tree_changed();
  emit search_changed();
  if (!search_.note.isEmpty()) emit message(search_.note);
}

// A planner counts the time of a pause as searched: gives it back by going on from the tree.
bool Session::resume_after_pause() {
  const SearchRequest& request = state_->request;
  const double left = search_.target_seconds - search_.progress.elapsed_seconds;
  const bool lost =
      search_.target_seconds > 0 && request.control->paused_seconds > 0.5 && left > 0.5;
  if (!lost || state_->search_stopped || !tree_) return false;
  go_on_from_tree(left);
  return true;
}

void Session::search_failed(std::uint64_t job, const QString& text) {
  if (job != state_->request.job || search_.state == SearchPhase::Idle) return;
  search_.state = SearchPhase::Idle;
  record_best();
  record_worse();
  if (state_->to_steer) apply_steering(*std::exchange(state_->to_steer, {}));
  state_->recorder.finish_run(RunState::Failed, text.toStdString());
  end_following();
  explain_the_rest();
  emit search_changed();
  emit failed(text);
}

void Session::go_on_from_tree(double budget_seconds) {
  SearchRequest& request = state_->request;
  request.resume = tree_;
  request.iterations_before = tree_->iterations;
  request.evaluations_before = search_.progress.evaluations;
  request.seconds_before = search_.progress.elapsed_seconds;
  run_search(budget_seconds);
}

void Session::pause_search() {
  if (search_.state != SearchPhase::Running) return;
  state_->request.control->set_paused(true);
  search_.state = SearchPhase::Paused;
  if (!search_.history.empty()) {
    state_->recorder.progress(search_.history.back(), RunState::Paused);
  }
  record_best();
  state_->recorder.tree(tree_);
  emit search_changed();
}

void Session::continue_search(const PlannerOptions* more) {
  if (search_.state == SearchPhase::Paused) {
    search_.state = SearchPhase::Running;
    state_->request.control->set_paused(false);
    emit search_changed();
    return;
  }
  if (search_.state != SearchPhase::Idle || !tree_) return;
  if (more) {
    state_->request.options.iterations = more->iterations;
    state_->request.options.budget_seconds = more->budget_seconds;
  }
  if (!have_equal(state_->request.options.constraints, constraints_)) {
    emit message(
        tr("It goes on with the constraints that it began with; start a new search "
           "for those of now"));
  }
  go_on_from_tree(state_->request.options.budget_seconds);
}

void Session::take_planning_steps(std::shared_ptr<const PlanningSteps> steps) {
  if (steps == planning_steps_) return;
  planning_steps_ = std::move(steps);
  emit planning_steps_changed();
}

// Another search or problem comes: keeps what this one has found and does not wait for its end.
void Session::abandon_search() {
  if (search_.state == SearchPhase::Idle) return;
  state_->request.control->request_stop();
  ++state_->request.job;
  record_best();
  record_worse();
  state_->recorder.tree(tree_);
  end_following();
  search_.state = SearchPhase::Idle;
  if (state_->to_steer) apply_steering(*std::exchange(state_->to_steer, {}));
  state_->recorder.finish_run(RunState::Stopped, {});
}

// The planner soon returns with the best that it has: search_finished() then shows and stores it.
void Session::stop_search() {
  state_->to_start.reset();
  if (search_.state == SearchPhase::Idle) return;
  state_->search_stopped = true;
  search_.state = SearchPhase::Running;
  state_->request.control->request_stop();
}

}  // namespace strato
