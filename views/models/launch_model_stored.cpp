// Launches in the workspace: kept when they end, and while they run where their job goes on without
// this program; shown again, and followed again.
#include <utility>

#include "core/base/error.h"
#include "core/io/json.h"
#include "core/launch/job/job_result.h"
#include "views/models/launch_model.h"
#include "views/style/text.h"

namespace strato {
namespace {

LaunchState stored_state_of(JobState state) {
  switch (state) {
    case JobState::Finished:
      return LaunchState::Finished;
    case JobState::Cancelled:
      return LaunchState::Cancelled;
    case JobState::Failed:
      return LaunchState::Failed;
    default:
      return LaunchState::Running;
  }
}

LaunchModel::State shown_state(LaunchState state) {
  switch (state) {
    case LaunchState::Finished:
      return LaunchModel::State::Finished;
    case LaunchState::Cancelled:
      return LaunchModel::State::Cancelled;
    default:
      return LaunchModel::State::Failed;
  }
}

// What a row was launched with. Options that this version does not know are left out.
LaunchChoice choice_of(const StoredLaunch& launch) {
  LaunchChoice choice;
  choice.launcher = launch.launcher;
  const Json options = Json::parse(launch.options, nullptr, false);
  if (!options.is_object()) return choice;
  const auto take = [&](const char* key, std::string& to) {
    if (const auto found = options.find(key); found != options.end() && found->is_string())
      to = found->get<std::string>();
  };
  take("engine", choice.options.engine);
  take("transport", choice.options.transport);
  take("device", choice.options.device);
  if (const auto steps = options.find("steps");
      steps != options.end() && steps->is_number_integer())
    choice.options.steps = steps->get<int>();
  if (const auto set = options.find("set"); set != options.end() && set->is_object()) {
    for (const auto& [key, value] : set->items())
      if (value.is_string()) choice.settings[key] = value.get<std::string>();
  }
  return choice;
}

}  // namespace

bool LaunchModel::can_be_left() const {
  return running() && !cancelling() && outlives_the_program(job_name_);
}

void LaunchModel::leave() {
  if (!can_be_left()) return;
  left_ = true;
  leave_.request_stop();
  if (temporary_) temporary_->setAutoRemove(false);  // its ranks write there
  emit changed();
}

// --- keeping
// -------------------------------------------------------------------------------------------

StoredLaunch LaunchModel::stored_launch() const {
  const JobOptions& options = plan_.choice.options;
  StoredLaunch launch;
  launch.launcher = plan_.choice.launcher;
  launch.options = json_text(Json{{"engine", options.engine},
                                  {"transport", options.transport},
                                  {"device", options.device},
                                  {"steps", options.steps},
                                  {"set", plan_.choice.settings}});
  launch.predicted_ns = plan_.predicted->step_time.value;
  return launch;
}

void LaunchModel::take_launched(std::uint64_t job, const std::string& name) {
  if (job != job_) return;
  job_name_ = name;
  launched_ = true;
  if (row_ != 0 || !outlives_the_program(name)) return;
  StoredLaunch launch = stored_launch();
  launch.state = LaunchState::Running;
  launch.job = name;
  launch.folder = plan_.folder.string();
  keep(launch);
  emit changed();
}

void LaunchModel::keep(const StoredLaunch& launch) {
  if (!session_.workspace() || session_.snapshot().problem != problem_of_plan_) return;
  keeping_ = true;
  session_.keep_launch(strategy_, strategy_label_, score_, launch,
                       [this, guard = QPointer<LaunchModel>(this), job = job_](
                           LaunchRow row, const std::filesystem::path& file) {
                         if (!guard || job != job_) return;
                         row_ = row;
                         stored_in_ = file;
                         keeping_ = false;
                         if (end_) {
                           end_->id = row;
                           session_.update_launch(*std::exchange(end_, std::nullopt), stored_in_);
                         }
                         emit changed();
                       });
}

void LaunchModel::store(const LaunchEnd& end) {
  if (!plan_.job.empty() && !launched_) return;  // could not be followed: it may be running still
  StoredLaunch launch = stored_launch();
  launch.state = stored_state_of(end.state);
  launch.note = end.problem;
  if (outlives_the_program(job_name_)) {
    launch.job = job_name_;
    launch.folder = plan_.folder.string();
  }
  if (end.measured) {
    launch.measured_ns = end.measured->result.step_time.value;
    launch.result = result_text(end.measured->result);
  }
  if (keeping_) {
    end_ = launch;
  } else if (row_ == 0) {
    keep(launch);
  } else {
    launch.id = row_;
    session_.update_launch(launch, stored_in_);
  }
}

// --- showing
// -------------------------------------------------------------------------------------------

void LaunchModel::show_stored(LaunchRow launch) { open_stored(launch, false); }
void LaunchModel::follow_stored(LaunchRow launch) { open_stored(launch, true); }

void LaunchModel::open_stored(LaunchRow row, bool follow) {
  if (running()) return;
  const std::uint64_t asked = ++asked_, loads = session_.loads_begun();
  session_.ask_workspace(this, [=, this](const Workspace& workspace) -> std::function<void()> {
    const auto launch = workspace.launches().find(row);
    if (!launch) return nullptr;
    return [=, this, launch = *launch] {
      // What was begun to be opened since then is what a person wants to see.
      if (asked != asked_ || running() || loads != session_.loads_begun()) return;
      session_.show_strategy(launch.strategy,
                             [guard = QPointer<LaunchModel>(this), asked, launch, follow] {
                               if (guard && guard->asked_ == asked)
                                 guard->take_opened(launch, follow);
                             });
    };
  });
}

void LaunchModel::take_opened(const StoredLaunch& launch, bool follow) {
  const Snapshot& snapshot = session_.snapshot();
  pending_ = Pending{launch, follow, snapshot.problem, snapshot.strategy.digest()};
  if (!session_.busy()) take_pending();
}

void LaunchModel::take_pending() {
  const Pending pending = *std::exchange(pending_, std::nullopt);
  const Snapshot& snapshot = session_.snapshot();
  const bool shown = snapshot.outcome && snapshot.problem == pending.problem &&
                     snapshot.strategy.digest() == pending.strategy;
  if (running() || !session_.workspace() || !shown) return;
  const LaunchChoice choice = choice_of(pending.launch);
  reset(choice);
  from_workspace_ = true;
  temporary_.reset();
  row_ = pending.launch.id;
  stored_in_ = session_.workspace()->file();
  folder_ = text(pending.launch.folder);
  plan_.folder = pending.launch.folder;
  if (pending.follow) {
    plan_.job = job_name_ = pending.launch.job;
    post_run();
    emit changed();
    return;
  }
  state_ = State::Idle;
  worker_.post([this, job = job_, plan = plan_, launch = pending.launch] {
    std::shared_ptr<const MeasuredStep> measured;
    QString error;
    try {
      if (!launch.result.empty())
        measured = measured_from(plan, parse_result(launch.result, "the stored launch"));
    } catch (const std::exception& thrown) {
      error = QString::fromUtf8(thrown.what());
    }
    QMetaObject::invokeMethod(
        this, [this, job, launch, measured, error] { take_stored(job, launch, measured, error); },
        Qt::QueuedConnection);
  });
}

void LaunchModel::take_stored(std::uint64_t job, const StoredLaunch& launch,
                              std::shared_ptr<const MeasuredStep> measured, const QString& error) {
  if (job != job_) return;
  took_ = 0;
  state_ = shown_state(launch.state);
  problem_ = launch.state == LaunchState::Running
                 ? tr("it was left running as %1: follow it to see how it is").arg(text(launch.job))
                 : text(launch.note);
  if (!error.isEmpty()) emit session_.failed(error);
  measured_ = std::move(measured);
  if (measured_) {
    const JobResult& result = measured_->result;
    plan_.choice.options.steps = static_cast<int>(result.step_times.size());
    for (std::size_t i = 0; i < result.step_times.size(); ++i) {
      const bool has_loss = i < result.losses.size();
      steps_.push_back({static_cast<std::int64_t>(i) + 1, result.step_times[i],
                        has_loss ? std::optional(result.losses[i]) : std::nullopt});
    }
  }
  session_.show_measured(measured_);
  emit changed();
}

}  // namespace strato
