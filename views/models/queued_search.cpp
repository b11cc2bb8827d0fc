#include "views/models/queued_search.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "core/search/tree/search_tree.h"
#include "views/models/recorder.h"

namespace strato {
namespace {

using QueueClock = std::chrono::steady_clock;
constexpr double kTellEvery = 0.1;   // seconds
constexpr double kStoreEvery = 0.9;  // as the session does

// What the recorder says, from its own thread.
class RecorderWords {
 public:
  void fail(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (error_.empty()) error_ = text;
  }
  void begin(RunRow run) {
    const std::lock_guard lock(mutex_);
    run_ = run;
  }
  std::string error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }
  RunRow run() const {
    const std::lock_guard lock(mutex_);
    return run_;
  }

 private:
  mutable std::mutex mutex_;
  std::string error_;
  RunRow run_ = 0;
};

class StoringObserver final : public Observer {
 public:
  StoringObserver(const QueuedSearch& search, Recorder& recorder, const QueuedProgress& first,
                  const std::function<void(const QueuedProgress&)>& tell)
      : search_(search), recorder_(recorder), now_(first), tell_(tell) {}

  void on_progress(const Progress& progress) override {
    now_.progress = progress;
    if (due(told_, kTellEvery)) tell_(now_);
    if (due(stored_, kStoreEvery)) store();
  }
  void on_improvement(const Strategy& strategy, const Score& score,
                      const Progress& progress) override {
    best_.emplace(strategy, score);
    now_.progress = progress;
    if (score.feasible) point(score.step_time);
    if (due(told_, kTellEvery)) tell_(now_);
  }
  void on_tree(std::shared_ptr<const SearchTree> tree) override { tree_ = std::move(tree); }

  // The last word: also what came since it was stored last.
  void finish(const PlanResult& result) {
    best_.emplace(result.strategy, result.score);
    tree_ = result.tree;
    now_.progress.evaluations = std::max(now_.progress.evaluations, result.evaluations);
    now_.progress.elapsed_seconds =
        std::chrono::duration<double>(QueueClock::now() - begun_).count();
    now_.progress.best = result.score;
    point(result.score.step_time);
    store_best();
    recorder_.tree(tree_);
  }
  const QueuedProgress& now() const { return now_; }

 private:
  static bool due(QueueClock::time_point& last, double every) {
    const QueueClock::time_point now = QueueClock::now();
    if (std::chrono::duration<double>(now - last).count() < every) return false;
    last = now;
    return true;
  }
  void point(Nanos best) {
    recorder_.progress({now_.progress.evaluations, now_.progress.elapsed_seconds, best.value},
                       RunState::Running);
  }
  void store() {
    const auto& best = now_.progress.best;
    if (best && best->feasible) point(best->step_time);
    store_best();
    if (tree_) recorder_.tree(std::exchange(tree_, nullptr));
  }
  void store_best() {
    if (!best_) return;
    const auto& [strategy, score] = *best_;
    recorder_.best({complete(strategy, *search_.problem->cluster),
                    search_.planner + " #" + std::to_string(now_.run),
                    Origin::Run,
                    {},
                    score});
    best_.reset();
  }

  const QueuedSearch& search_;
  Recorder& recorder_;
  QueuedProgress now_;
  const std::function<void(const QueuedProgress&)>& tell_;
  const QueueClock::time_point begun_ = QueueClock::now();
  QueueClock::time_point told_, stored_ = QueueClock::now();
  std::optional<std::pair<Strategy, Score>> best_;  // that is not stored yet
  std::shared_ptr<const SearchTree> tree_;
};

// A person works meanwhile: one core is left. Results do not depend on the number of threads.
PlannerOptions in_background(PlannerOptions options) {
  if (options.threads == 0)
    options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
  return options;
}

bool has_its_result(const std::filesystem::path& file, const QueuedResult& result) {
  try {
    const Workspace workspace(file, true);
    const auto run = workspace.runs().find(result.run);
    const auto best = run && run->best ? workspace.strategies().find(*run->best) : std::nullopt;
    return best && best->step_time_ns == result.progress.best->step_time.value &&
           run->state == (result.stopped ? RunState::Stopped : RunState::Finished);
  } catch (const std::exception&) {
    return false;
  }
}

// One write that fails (a moment's lock) costs a point of the history. Only a run whose end is not
// in the workspace has failed.
void tell_what_was_not_stored(const QueuedSearch& search, const std::string& trouble,
                              QueuedResult& result) {
  if (trouble.empty() || !result.error.empty()) return;
  if (has_its_result(search.workspace, result)) {
    result.note += (result.note.empty() ? "" : "; ") + ("not all could be stored: " + trouble);
  } else {
    result.error = trouble;
  }
}

// In the workspace there is its run instead.
void give_up_place(const QueuedSearch& search, Recorder& recorder) {
  if (!search.place) return;
  recorder.change([place = search.place](Workspace& workspace) { place->end(workspace); },
                  search.workspace);
}

QueuedResult run_whole(const QueuedSearch& search, const PlannerFactory& make_planner,
                       const std::function<void(const QueuedProgress&)>& tell,
                       const std::function<void()>& written, std::stop_token stop) {
  QueuedResult result;
  RecorderWords words;
  Recorder recorder({written, [&](const std::string& text) { words.fail(text); },
                     [&](RunRow run) { words.begin(run); }});
  try {
    const auto planner = make_planner(search.planner);
    result.baseline =
        simulate_outline(*search.problem, data_parallel(*search.problem), false).score.step_time;
    recorder.open(search.workspace);
    recorder.problem(search.model, search.cluster, search.problem);
    recorder.start_run(search.planner, search.options, result.baseline);
    recorder.wait();
    result.run = words.run();
    result.error = words.error();
    if (!result.error.empty()) return result;
    give_up_place(search, recorder);
    recorder.wait();
    const QueuedProgress first{result.run, result.baseline, {}};
    tell(first);
    StoringObserver observer(search, recorder, first, tell);
    const PlanResult found = run_planner(*planner, *search.problem,
                                         in_background(search.options.planner), observer, stop);
    observer.finish(found);
    result.progress = observer.now().progress;
    result.stopped = stop.stop_requested();
    result.note = note_with_facts(found);
    recorder.finish_run(result.stopped ? RunState::Stopped : RunState::Finished, result.note,
                        found.curves);
  } catch (const std::exception& error) {
    result.error = error.what();
    recorder.finish_run(RunState::Failed, result.error);
    give_up_place(search, recorder);
  }
  recorder.wait();
  tell_what_was_not_stored(search, words.error(), result);
  return result;
}

}  // namespace

QueuedResult run_and_store(const QueuedSearch& search, const PlannerFactory& make_planner,
                           const std::function<void(const QueuedProgress&)>& tell,
                           const std::function<void()>& written, std::stop_token stop) {
  if (search.problem) return run_whole(search, make_planner, tell, written, stop);
  QueuedSearch whole;
  try {
    whole = with_problem(search);
  } catch (const std::exception& error) {
    QueuedResult result;
    result.error = error.what();
    return result;
  }
  return run_whole(whole, make_planner, tell, written, stop);
}

}  // namespace strato
