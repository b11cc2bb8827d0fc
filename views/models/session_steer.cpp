// Steering the tree of the latest search, and another run's tree beside it.
#include <algorithm>

#include "core/base/error.h"
#include "core/search/tree/search_tree.h"
#include "views/models/session.h"
#include "views/models/session_state.h"

namespace strato {

SteerCommand::SteerCommand(Session& session, Steering before, Steering after, const QString& text)
    : QUndoCommand(text),
      session_(session),
      epoch_(session.state_->tree_epoch),
      before_(std::move(before)),
      after_(std::move(after)) {}

void SteerCommand::undo() { apply(before_); }
void SteerCommand::redo() { apply(after_); }

void SteerCommand::apply(const Steering& steering) {
  if (epoch_ == session_.state_->tree_epoch) {
    session_.apply_steering(steering);
  } else {
    setObsolete(true);
  }
}

const PlannerOptions& Session::search_options() const { return state_->request.options; }

Steering Session::steering() const {
  if (state_->to_steer) return *state_->to_steer;
  return tree_ ? steering_of(*tree_) : Steering();
}

void Session::steer(const Steering& wanted, const QString& label) {
  if (!tree_) return;
  const Steering before = steering();
  if (wanted == before) return;
  try {
    const Problem& problem = *snapshot_.opened;
    Strategy pinned;
    pinned.groups.resize(problem.grouping->size());
    for (const auto& [group, decision] : wanted.pinned) pinned.groups.at(group.index()) = decision;
    validate(pinned, *problem.grouping, *problem.cluster);
  } catch (const InputError& error) {
    emit failed(QString::fromUtf8(error.what()));
    return;
  }
  undo_stack_.push(new SteerCommand(*this, before, wanted, label));
}

// A planner takes steering with the tree that it begins with: one that runs is stopped, and goes on
// from the tree that it returns.
void Session::apply_steering(const Steering& steering) {
  if (!tree_) return;
  if (search_.state != SearchPhase::Idle) {
    state_->to_steer = steering;
    state_->request.control->request_stop();
    emit tree_changed();
    return;
  }
  try {
    tree_ = steered(*tree_, steering);
  } catch (const InputError& error) {
    emit failed(QString::fromUtf8(error.what()));
    return;
  }
  state_->recorder.tree(tree_);
  emit tree_changed();
}

bool Session::resume_after_steering() {
  if (!state_->to_steer) return false;
  const Steering steering = *std::exchange(state_->to_steer, {});
  const bool was_paused = search_.state == SearchPhase::Paused;
  search_.state = SearchPhase::Idle;
  apply_steering(steering);
  const SearchStatus& status = search_;
  const double seconds_left = status.target_seconds - status.progress.elapsed_seconds;
  const std::int64_t left = status.target_iterations - status.progress.iterations;
  const bool timed = status.target_seconds > 0;
  const bool more = timed ? seconds_left > 0.1 : left > 0;
  if (was_paused || state_->search_stopped || !more) return false;
  const std::int64_t asked = state_->request.options.iterations;
  if (!timed) state_->request.options.iterations = left;
  go_on_from_tree(timed ? seconds_left : 0);
  state_->request.options.iterations = asked;
  return true;
}

// A snapshot of the running search, without what a person has steered since it began.
void Session::take_tree(std::shared_ptr<const SearchTree> tree) {
  tree_ = std::move(tree);
  emit tree_changed();
}

void Session::continue_with_edits(const PlannerOptions* more) {
  if (!tree_ || search_.state != SearchPhase::Idle || snapshot_.edited.empty()) return;
  if (snapshot_.has_own_groups()) {
    emit failed(
        tr("The edits are of op groups that the search does not have: show a "
           "strategy of the search and edit that"));
    return;
  }
  Steering steering = this->steering();
  steering.focus.clear();
  for (const GroupId group : snapshot_.edited) {
    const auto& decision = snapshot_.strategy.groups[group];
    if (decision) steering.pinned.insert_or_assign(group, *decision);
  }
  steer(steering, snapshot_.edited.size() == 1 ? tr("pin the edit")
                                               : tr("pin %1 edits").arg(snapshot_.edited.size()));
  continue_search(more);
}

std::vector<StoredRun> Session::runs_to_compare() const {
  if (!workspace() || !state_->shown_run) return {};
  const StoredRun* shown = workspace()->run(*state_->shown_run);
  if (!shown) return {};
  const std::vector<StoredRun>& all = workspace()->runs();
  std::vector<StoredRun> others;
  for (auto run = all.rbegin(); run != all.rend(); ++run) {
    if (run->id != shown->id && run->model == shown->model && run->cluster == shown->cluster) {
      others.push_back(*run);
    }
  }
  return others;
}

void Session::compare_with(RunRow row) {
  if (!workspace() || !tree_) return;
  const std::uint64_t job = ++state_->compare_job;
  begin_busy(tr("Opening run #%1").arg(row));
  state_->load.post([this, job, row, file = workspace()->file(), problem = tree_->problem] {
    ComparedRun compared;
    QString error;
    try {
      const Workspace workspace(file, true);
      const auto run = workspace.runs().find(row);
      const auto bytes = workspace.runs().tree(row);
      if (!run || !bytes) {
        throw InputError(file.string(), "run " + std::to_string(row), "has no search tree",
                         "compare with a run of a tree search");
      }
      auto tree = std::make_shared<const SearchTree>(parse_search_tree(*bytes));
      if (tree->problem != problem) {
        throw InputError(file.string(), "run " + std::to_string(row), "is of another problem",
                         "compare runs of one model on one cluster");
      }
      compared = {row, QStringLiteral("%1 #%2").arg(QString::fromStdString(run->planner)).arg(row),
                  std::move(tree)};
    } catch (const std::exception& thrown) {
      error = QString::fromUtf8(thrown.what());
    }
    post([this, job, compared, error] {
      end_busy();
      if (job != state_->compare_job) return;
      if (!error.isEmpty()) {
        emit failed(error);
        return;
      }
      compared_ = compared;
      emit compared_changed();
    });
  });
}

void Session::stop_comparing() {
  ++state_->compare_job;
  if (!compared_) return;
  compared_.reset();
  emit compared_changed();
}

}  // namespace strato
