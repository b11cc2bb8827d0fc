#include "app/cli/recorder.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/stored_run.h"
#include "core/base/quantity_text.h"
#include "core/search/run/run_record.h"
#include "core/search/tree/search_tree.h"
#include "core/strategy/file/named_strategy.h"

namespace strato::cli {
namespace {

constexpr auto kDrawEvery = std::chrono::milliseconds(100);
// A crash loses at most a second; a large tree takes a while to write, and is written less often.
constexpr auto kWriteEvery = std::chrono::milliseconds(500);
constexpr auto kWriteAtLeastEvery = std::chrono::milliseconds(900);
constexpr int kBetweenWrites = 4;  // times as long as the last one took

}  // namespace

Recorder::Recorder(const Problem& problem, std::string planner, const PlannerOptions& options)
    : problem_(problem), planner_(std::move(planner)), options_(options) {}

void Recorder::record(Workspace& workspace, const LoadedModel& model, Nanos baseline) {
  workspace_ = &workspace;
  run_.model = workspace.add(row_of(model, problem_));
  run_.cluster = workspace.add(row_of(*problem_.cluster));
  run_.planner = planner_;
  run_.options = options_text(options_, model);
  run_.baseline_ns = baseline.value;
  run_.id = workspace.add(run_);
  lock_.emplace(workspace.file(), run_.id);
}

void Recorder::continue_run(Workspace& workspace, const StoredRun& run) {
  workspace_ = &workspace;
  run_ = run;
  seconds_before_ = run.wall_seconds;
  evaluations_before_ = run.evaluations;
  run_.state = RunState::Running;
  workspace.update(run_);
}

std::optional<RunRow> Recorder::run() const {
  return workspace_ == nullptr ? std::nullopt : std::optional(run_.id);
}

void Recorder::finish(const PlanResult* result, RunState state) {
  line_.clear();
  if (workspace_ == nullptr) return;
  run_.state = state;
  if (result != nullptr) {
    if (result->tree) pending_tree_ = result->tree;
    pending_best_.reset();
    run_.best = add(result->strategy, result->score, planner_);
    run_.best_ns = result->score.step_time.value;
    run_.note = note_with_facts(*result);
    if (!result->curves.empty())
      workspace_->settings().set(curves_key(run_.id), curves_text(result->curves));
    write({0, result->evaluations, 0, result->score});
  } else {
    workspace_->update(run_);
  }
}

void Recorder::on_progress(const Progress& progress) {
  draw(progress);
  if (Clock::now() >= write_next_) write(progress);
}

void Recorder::on_improvement(const Strategy& strategy, const Score& score,
                              const Progress& progress) {
  if (workspace_ != nullptr) {
    pending_best_ = {strategy, score};
    note(progress);
  }
  on_progress(progress);
}

void Recorder::on_tree(std::shared_ptr<const SearchTree> tree) {
  if (workspace_ != nullptr) pending_tree_ = std::move(tree);
}

void Recorder::draw(const Progress& progress) {
  if (!line_.shown() || Clock::now() - drawn_ < kDrawEvery) return;
  drawn_ = Clock::now();
  std::string text = fmt::format("{}: {}", planner_, progress.iterations);
  if (options_.budget_seconds <= 0) text += fmt::format(" of {}", options_.iterations);
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  text += fmt::format(", {} s", significant_text(seconds));
  if (progress.best) {
    text += fmt::format(", best {}{}", time_text(progress.best->step_time),
                        progress.best->feasible ? "" : " (does not fit)");
  }
  line_.show(text);
}

// Every improvement is a point of the history; they are written with the next heartbeat.
void Recorder::note(const Progress& progress) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  run_.evaluations = evaluations_before_ + progress.evaluations;
  run_.wall_seconds = seconds_before_ + seconds;
  if (progress.best) run_.best_ns = progress.best->step_time.value;
  pending_history_.push_back({run_.evaluations, run_.wall_seconds, run_.best_ns});
}

void Recorder::write(const Progress& progress) {
  if (workspace_ == nullptr) return;
  const auto begin = Clock::now();
  note(progress);
  write_pending();
  workspace_->update(run_);
  const auto end = Clock::now();
  write_next_ = end + std::clamp<Clock::duration>(kBetweenWrites * (end - begin), kWriteEvery,
                                                  kWriteAtLeastEvery);
}

void Recorder::write_pending() {
  for (const HistoryPoint& point : pending_history_) workspace_->runs().add_history(run_.id, point);
  pending_history_.clear();
  if (pending_best_) {
    const auto& [strategy, score] = *pending_best_;
    run_.best = add(strategy, score, fmt::format("{}, {} evaluations", planner_, run_.evaluations));
    pending_best_.reset();
  }
  if (pending_tree_) save(*pending_tree_);
  pending_tree_.reset();
}

void Recorder::save(const SearchTree& tree) {
  if (keeps_focus_ || tree.focus < 0) return workspace_->runs().save_tree(run_.id, serialise(tree));
  SearchTree whole = tree;
  whole.focus = -1;
  workspace_->runs().save_tree(run_.id, serialise(whole));
}

StrategyRow Recorder::add(const Strategy& strategy, const Score& score, const std::string& label) {
  StoredStrategy row;
  row.model = run_.model;
  row.cluster = run_.cluster;
  row.run = run_.id;
  row.label = label;
  row.json = strategy_json(name_strategy(
      strategy, *problem_.graph, *problem_for(problem_, strategy).grouping, *problem_.cluster));
  row.digest = strategy.digest();
  row.step_time_ns = score.step_time.value;
  row.feasible = score.feasible;
  return workspace_->add(row);
}

}  // namespace strato::cli
