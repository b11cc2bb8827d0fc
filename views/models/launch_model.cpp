#include "views/models/launch_model.h"

#include <QDateTime>
#include <QDir>
#include <QRegularExpression>
#include <utility>

#include "core/base/error.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/profile.h"
#include "core/launch/job/job_result.h"
#include "core/launch/measured/make_job.h"
#include "core/launch/measured/measured.h"
#include "core/search/evaluate/outcome.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr qsizetype kMostLog = 1 << 20;  // characters of a rank's log: of more, the end

QString text_of(const std::string& value) { return QString::fromStdString(value); }

LaunchModel::State state_of(JobState state) {
  switch (state) {
    case JobState::Waiting:
      return LaunchModel::State::Waiting;
    case JobState::Running:
      return LaunchModel::State::Running;
    case JobState::Finished:
      return LaunchModel::State::Finished;
    case JobState::Failed:
      return LaunchModel::State::Failed;
    case JobState::Cancelled:
      return LaunchModel::State::Cancelled;
  }
  return LaunchModel::State::Failed;
}

int rank_in(const QString& problem) {
  static const QRegularExpression pattern(QStringLiteral("\\brank (\\d+)"));
  const QRegularExpressionMatch match = pattern.match(problem);
  return match.hasMatch() ? match.captured(1).toInt() : -1;
}

QDir parent_folder(const LaunchChoice& choice, const Session& session) {
  if (!choice.folder.empty()) return QDir(text_of(choice.folder.string()));
  if (choice.launcher == "local") return QDir::temp();
  return QDir(text_of(session.shared_folder().string()));
}

}  // namespace

// On the launch's thread: sends copies to the model's thread.
class LaunchSender final : public LaunchListener {
 public:
  LaunchSender(LaunchModel& model, std::uint64_t job) : model_(model), job_(job) {}
  void on_state(JobState state) override {
    send([&model = model_, job = job_, state] { model.take_state(job, state); });
  }
  void on_launched(const std::string& name) override {
    send([&model = model_, job = job_, name] { model.take_launched(job, name); });
  }
  void on_event(const JobEvent& event) override {
    send([&model = model_, job = job_, event] { model.take_event(job, event); });
  }
  void on_output(const std::string& line) override {
    send([&model = model_, job = job_, text = text_of(line) + QLatin1Char('\n')] {
      model.take_log(job, 0, text);
    });
  }
  void on_log(int rank, const std::string& text) override {
    send([&model = model_, job = job_, rank, text = text_of(text)] {
      model.take_log(job, rank, text);
    });
  }

 private:
  template <class Function>
  void send(Function function) {
    QMetaObject::invokeMethod(&model_, std::move(function), Qt::QueuedConnection);
  }
  LaunchModel& model_;
  const std::uint64_t job_;
};

LaunchModel::LaunchModel(Session& session, LauncherFactory make, QObject* parent)
    : QObject(parent), session_(session), make_(std::move(make)) {
  connect(&session_, &Session::busy_changed, this, [this] {
    if (pending_ && !session_.busy()) take_pending();
  });
}

// What ran and was not left is cancelled; its end comes too late for take_end().
LaunchModel::~LaunchModel() {
  if (left_ || !running()) return;
  stop_.request_stop();
  worker_.end();
  if (ended_ && *ended_) store(**ended_);
}

bool LaunchModel::running() const {
  return state_ == State::Staging || state_ == State::Waiting || state_ == State::Running;
}

QString LaunchModel::log(int rank) const {
  return rank >= 0 && rank < ranks() ? logs_[static_cast<std::size_t>(rank)] : QString();
}

double LaunchModel::seconds() const {
  return running() ? static_cast<double>(since_.elapsed()) / 1000 : took_;
}

Nanos LaunchModel::predicted() const {
  return plan_.predicted ? plan_.predicted->step_time : Nanos(0);
}

void LaunchModel::reset(const LaunchChoice& choice) {
  const Snapshot& snapshot = session_.snapshot();
  stop_ = std::stop_source();
  leave_ = std::stop_source();
  ++job_;
  pending_.reset();
  end_.reset();
  row_ = 0;
  keeping_ = from_workspace_ = left_ = launched_ = false;
  job_name_.clear();
  state_ = State::Staging;
  problem_.clear();
  failed_rank_ = -1;
  steps_.clear();
  measured_.reset();
  learned_.reset();
  learning_ = false;
  problem_of_plan_ = snapshot.problem;
  strategy_ = snapshot.strategy;
  strategy_label_ = snapshot.label;
  simulation_ = session_.simulation();
  score_ = snapshot.outcome->score;
  plan_ = {session_.model_name().toStdString(),
           snapshot.outcome->timeline,
           choice,
           {},
           worker_program()};
  plan_.problem = snapshot.problem;
  plan_.strategy = snapshot.strategy;
  plan_.costs = snapshot.costs;
  const std::size_t ranks = preview_launch(*plan_.predicted, choice, {}).ranks.size();
  logs_.assign(ranks, QString());
  label_ = ranks == 1 ? tr("%1 on one rank").arg(snapshot.label)
                      : tr("%1 on %2 ranks").arg(snapshot.label).arg(ranks);
  since_.start();
}

bool LaunchModel::make_folder(const LaunchChoice& choice) {
  const QDir parent = parent_folder(choice, session_);
  temporary_.reset();
  folder_.clear();
  if (choice.folder.empty()) {
    temporary_ =
        std::make_unique<QTemporaryDir>(parent.filePath(QStringLiteral("stratoscope-job-XXXXXX")));
    plan_.folder = temporary_->path().toStdString();
    if (!temporary_->isValid()) fail(tr("%1: %2").arg(parent.path(), temporary_->errorString()));
    return temporary_->isValid();
  }
  const QString name = QStringLiteral("%1-%2").arg(
      session_.model_name(),
      QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-hhmmss-zzz")));
  folder_ = parent.absoluteFilePath(name);
  plan_.folder = folder_.toStdString();
  if (QDir().mkpath(folder_)) return true;
  fail(tr("%1: cannot be made; choose a folder that you may write to").arg(folder_));
  return false;
}

void LaunchModel::start(const LaunchChoice& choice) {
  if (running() || !session_.snapshot().outcome) return;
  reset(choice);
  if (!make_folder(choice)) return;
  post_run();
  emit changed();
}

void LaunchModel::post_run() {
  ended_ = std::make_shared<std::optional<LaunchEnd>>();
  worker_.post([this, job = job_, plan = plan_, token = stop_.get_token(),
                leave = leave_.get_token(), ended = ended_] {
    LaunchSender sender(*this, job);
    *ended = run_launch(plan, make_, sender, token, leave);
    QMetaObject::invokeMethod(
        this, [this, job, ended] { take_end(job, **ended); }, Qt::QueuedConnection);
  });
}

void LaunchModel::cancel() {
  if (!running()) return;
  stop_.request_stop();
  emit changed();
}

void LaunchModel::fail(const QString& problem) {
  took_ = seconds();
  state_ = State::Failed;
  problem_ = problem;
  emit changed();
}

// --- what the launch tells
// -------------------------------------------------------------------------------------------

void LaunchModel::take_state(std::uint64_t job, JobState state) {
  if (job != job_ || !running()) return;
  const State next = state_of(state);
  if (next != State::Waiting && next != State::Running) return;  // the end comes by itself
  state_ = next;
  emit changed();
}

void LaunchModel::take_event(std::uint64_t job, const JobEvent& event) {
  if (job != job_) return;
  switch (event.kind) {
    case JobEvent::Kind::Started:
      state_ = State::Running;
      emit changed();
      break;
    case JobEvent::Kind::Step:
      state_ = State::Running;
      steps_.push_back({event.step, event.step_time, event.loss});
      emit stepped();
      break;
    case JobEvent::Kind::Failed:
      failed_rank_ = event.rank;
      problem_ = tr("rank %1: %2").arg(event.rank).arg(text_of(event.text));
      emit changed();
      break;
    case JobEvent::Kind::Finished:
      break;
  }
}

void LaunchModel::take_log(std::uint64_t job, int rank, const QString& text) {
  if (job != job_ || rank < 0 || rank >= ranks()) return;
  QString& log = logs_[static_cast<std::size_t>(rank)];
  log += text;
  if (log.size() > kMostLog) log.remove(0, log.size() - kMostLog);
  emit logged(rank);
}

void LaunchModel::take_end(std::uint64_t job, const LaunchEnd& end) {
  if (job != job_) return;
  took_ = static_cast<double>(since_.elapsed()) / 1000;
  if (end.state == JobState::Running) {  // left
    state_ = State::Idle;
    emit session_.message(
        tr("%1 goes on; its workspace offers to follow it").arg(text_of(job_name_)));
    emit changed();
    return;
  }
  state_ = state_of(end.state);
  if (!end.problem.empty()) {
    problem_ = text_of(end.problem);
    if (const int rank = rank_in(problem_); rank >= 0) failed_rank_ = rank;
  }
  if (state_ == State::Failed && problem_.isEmpty()) problem_ = tr("the job failed; see the logs");
  if (state_ != State::Failed) problem_.clear();
  measured_ = end.measured;
  if (measured_) {
    session_.show_measured(measured_);
    emit session_.message(tr("Launched: %1 measured, %2 predicted (%3)")
                              .arg(style::time(measured_->comparison.measured),
                                   style::time(measured_->comparison.predicted),
                                   style::signed_percent(measured_->comparison.error())));
  } else if (state_ == State::Failed) {
    emit session_.message(tr("The launch failed: %1").arg(problem_));
  }
  store(end);
  emit changed();
}

// --- learning
// -------------------------------------------------------------------------------------------

std::filesystem::path LaunchModel::profile_file() const {
  const std::string name = session_.model_name().toStdString() + "-learned.profile.json";
  if (const WorkspaceLists* workspace = session_.workspace())
    return workspace->file().parent_path() / name;
  return folder_.isEmpty() ? std::filesystem::path(QDir::tempPath().toStdString()) / name
                           : std::filesystem::path(folder_.toStdString()) / name;
}

QString LaunchModel::why_not_learned() const {
  return measured_ ? text_of(strato::why_not_learned(*measured_->timeline, choice().options.engine))
                   : QString();
}

void LaunchModel::learn() {
  if (!measured_ || learning_ || !why_not_learned().isEmpty()) return;
  learning_ = true;
  learned_.reset();
  worker_.post([this, job = job_, measured = measured_, problem = *problem_of_plan_,
                strategy = strategy_, simulation = simulation_, costs = session_.snapshot().costs,
                file = profile_file()]() mutable {
    std::optional<Learned> learned;
    QString error;
    try {
      Profile profile = learned_profile(*measured->timeline);
      learned = {measured->comparison.error(), 0, profile.ops.size(), file, false};
      profile.host = "a launch of " + problem.graph->name();
      if (costs.profile) profile = with_learned(*costs.profile, profile);
      profile.name = problem.graph->name() + ", learned from a launch";
      write_profile(file, profile);
      costs.profile = std::make_shared<const Profile>(std::move(profile));
      problem.cost = make_cost_model(problem.graph, problem.cluster, costs);
      const Outcome outcome = simulate_as(problem, strategy, simulation);
      learned->error_after = measured->comparison.measured / outcome.timeline->step_time - 1;
    } catch (const std::exception& thrown) {
      learned.reset();
      error = text_of(thrown.what());
    }
    QMetaObject::invokeMethod(
        this,
        [this, job, learned, error] {
          if (job != job_) return;
          learning_ = false;
          learned_ = learned;
          if (!error.isEmpty()) emit session_.failed(error);
          emit changed();
        },
        Qt::QueuedConnection);
  });
  emit changed();
}

void LaunchModel::use_learned() {
  if (!learned_ || learned_->used) return;
  learned_->used = true;
  session_.open_profile(learned_->file);
  emit changed();
}

}  // namespace strato
