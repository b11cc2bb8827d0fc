// What a launch took, beside the outcome that is shown.
#include "core/base/error.h"
#include "views/models/launch_run.h"
#include "views/models/session.h"
#include "views/models/session_state.h"

namespace strato {
namespace {

bool same_work(const Task& a, const Task& b) {
  return a.kind == b.kind && a.op == b.op && a.tensor == b.tensor && a.device == b.device &&
         a.target == b.target;
}

// Whatever they cost, and in whatever order they run.
bool same_tasks(const Program& a, const Program& b) {
  if (a.tasks.size() != b.tasks.size()) return false;
  if (a.graph != b.graph && a.graph->digest() != b.graph->digest()) return false;
  if (a.cluster != b.cluster && a.cluster->digest() != b.cluster->digest()) return false;
  for (std::size_t i = 0; i < a.tasks.size(); ++i)
    if (!same_work(a.tasks[TaskId(i)], b.tasks[TaskId(i)]) ||
        a.part_of(a.tasks[TaskId(i)]) != b.part_of(b.tasks[TaskId(i)]))
      return false;
  return true;
}

std::shared_ptr<const MeasuredStep> beside(std::shared_ptr<const Timeline> predicted,
                                           const MeasuredStep& launched) {
  auto measured = std::make_shared<MeasuredStep>(launched);
  measured->predicted = std::move(predicted);
  measured->timeline = std::make_shared<const Timeline>(
      measured_timeline(*measured->predicted, launched.result, launched.devices));
  measured->comparison =
      compare_timelines(*measured->predicted, *measured->timeline, launched.result.step_time);
  return measured;
}

}  // namespace

void Session::show_measured(std::shared_ptr<const MeasuredStep> measured) {
  launched_ = std::move(measured);
  fit_measured();
}

void Session::fit_measured() {
  const auto shown = snapshot_.outcome ? snapshot_.outcome->timeline : nullptr;
  std::shared_ptr<const MeasuredStep> fitting;
  if (launched_ && shown) {
    if (launched_->predicted == shown) {
      fitting = launched_;
    } else if (measured_ && measured_->predicted == shown) {
      return;
    } else if (same_tasks(*launched_->predicted->program, *shown->program)) {
      fitting = beside(shown, *launched_);
    }
  }
  if (fitting == measured_) return;
  measured_ = std::move(fitting);
  emit measured_changed();
}

void Session::keep_launch(const Strategy& strategy, const QString& label, const Score& score,
                          const StoredLaunch& launch,
                          std::function<void(LaunchRow, const std::filesystem::path&)> kept) {
  state_->recorder.launch({strategy, label.toStdString(), Origin::Edit, {}, score}, launch,
                          [this, kept = std::move(kept)](LaunchRow row, const auto& file) {
                            if (kept) post([kept, row, file] { kept(row, file); });
                          });
}

void Session::update_launch(const StoredLaunch& launch, const std::filesystem::path& file) {
  in_workspace([launch](Workspace& workspace) { workspace.update(launch); }, file);
}

namespace {

// Takes a launch out of the workspace, and puts it back as it was.
class LaunchRemoval final : public QUndoCommand {
 public:
  using Change = std::function<void(std::function<void(Workspace&)>)>;
  LaunchRemoval(StoredLaunch launch, Change change)
      : QUndoCommand(Session::tr("Delete Launch")),
        launch_(std::move(launch)),
        change_(std::move(change)) {}
  void redo() override {
    change_([row = launch_.id](Workspace& workspace) { workspace.launches().remove(row); });
  }
  void undo() override {
    change_([launch = launch_](Workspace& workspace) { workspace.add(launch); });
  }

 private:
  const StoredLaunch launch_;
  const Change change_;
};

}  // namespace

void Session::remove_launch(LaunchRow row) {
  ask_workspace(this, [this, row](const Workspace& workspace) -> std::function<void()> {
    const auto launch = workspace.launches().find(row);
    if (!launch) return nullptr;
    return [this, launch = *launch, file = workspace.file()] {
      undo_stack_.push(
          new LaunchRemoval(launch, [this, file](std::function<void(Workspace&)> change) {
            in_workspace(std::move(change), file);  // another one may be open by now
          }));
    };
  });
}

}  // namespace strato
