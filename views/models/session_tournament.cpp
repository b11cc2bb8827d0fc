// What a tournament has found: shown, and kept, like the end of a search.
#include "core/search/run/run_record.h"
#include "views/models/session.h"
#include "views/models/session_state.h"

namespace strato {

void Session::show_result(const Strategy& strategy, const QString& label) {
  if (!snapshot_.problem) return;
  const Strategy whole = complete(strategy, *snapshot_.problem->cluster);
  if (whole == snapshot_.strategy) return;
  take_order(whole);
  show_found(whole, label);
}

bool Session::keep_result(const KeptResult& kept_result, std::function<void(const QString&)> kept) {
  if (!snapshot_.problem || !workspace()) return false;
  const PlanResult& result = kept_result.result;
  StoredRun run;
  run.planner = kept_result.planner.toStdString();
  run.options =
      run_options_text({kept_result.options, run_costs(snapshot_.cost_files, snapshot_.costs)});
  run.state = kept_result.stopped ? RunState::Stopped : RunState::Finished;
  if (const auto baseline = state_->baselines.find(Simulation{});
      baseline != state_->baselines.end() && baseline->second)
    run.baseline_ns = baseline->second->timeline->step_time.value;
  run.best_ns = result.score.step_time.value;
  run.evaluations = result.evaluations;
  run.wall_seconds = kept_result.seconds;
  run.note = note_with_facts(result);
  const Strategy whole = complete(result.strategy, *snapshot_.problem->cluster);
  std::vector<HistoryPoint> course = kept_result.course;
  if (course.empty())
    course.push_back({result.evaluations, kept_result.seconds_to_best, run.best_ns});
  state_->recorder.kept_run(
      run, course, {whole, run.planner, Origin::Run, {}, result.score}, result.curves,
      [this, planner = kept_result.planner, kept = std::move(kept)](RunRow row) {
        post([planner, kept, row] { kept(QStringLiteral("%1 #%2").arg(planner).arg(row)); });
      });
  return true;
}

}  // namespace strato
