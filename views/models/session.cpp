#include "views/models/session.h"

#include <QCoreApplication>
#include <QDir>
#include <QEventLoop>
#include <QFileInfo>
#include <QThread>

#include "core/base/error.h"
#include "core/store/workspace.h"
#include "views/models/session_state.h"

namespace strato {

namespace {

constexpr int kLookEvery = 2000;  // ms

}  // namespace

Session::Session(QObject* parent) : QObject(parent) {
  Recorder::Callbacks callbacks;
  callbacks.written = [] {};
  callbacks.lists = [this](std::shared_ptr<const WorkspaceLists> lists) {
    post([this, lists = std::move(lists)] { take_lists(lists); });
  };
  callbacks.failed = [this](const std::string& text) {
    post([this, text] { emit failed(QString::fromStdString(text)); });
  };
  callbacks.run_started = [this](RunRow run) {
    post([this, run] {
      state_->shown_run = run;
      search_.run = QStringLiteral("%1 #%2").arg(search_.planner).arg(run);
      emit search_changed();
    });
  };
  state_ = std::make_unique<State>(std::move(callbacks));
  connect(this, &Session::strategy_changed, this,
          [this] { state_->recorder.shown(snapshot_.strategy.digest()); });
  state_->look.setInterval(kLookEvery);
  connect(&state_->look, &QTimer::timeout, this, &Session::look_at_workspace);
  // Before any view hears of it.
  connect(this, &Session::outcome_changed, this, &Session::fit_measured);
  connect(this, &Session::written, this, [this](const QString& file) {
    emit message(tr("Wrote %1").arg(QDir::toNativeSeparators(QFileInfo(file).absoluteFilePath())));
  });
  connect(this, &Session::problem_changed, this, &Session::fit_measured);
  connect(this, &Session::problem_changed, this, &Session::find_constraints);
}

Session::~Session() {
  undo_stack_.disconnect();
  state_->follows = false;
  abandon_search();
  state_->store_what_waits();
  state_->explain_stop.request_stop();
  if (state_->search_thread.joinable()) state_->search_thread.join();
  // Their jobs use all of the state, also each other's worker.
  for (Worker* worker : {&state_->edit, &state_->load, &state_->explain, &state_->simulate})
    worker->end();
  state_.reset();  // the recorder writes what is left
}

void Session::post(std::function<void()> function) {
  QMetaObject::invokeMethod(this, std::move(function), Qt::QueuedConnection);
}

bool Session::busy() const { return state_->busy > 0; }
QString Session::busy_text() const { return state_->busy_text; }

void Session::begin_busy(const QString& text) {
  ++state_->busy;
  state_->busy_text = text;
  emit busy_changed();
}

void Session::end_busy() {
  if (--state_->busy == 0) state_->busy_text.clear();
  emit busy_changed();
}

const WorkspaceLists* Session::workspace() const { return state_->shown().lists.get(); }

std::filesystem::path Session::shared_folder() const {
  return workspace() ? workspace()->file().parent_path() : std::filesystem::current_path();
}

const ProblemOptions* Session::problem_options() const {
  return state_->model ? &state_->model->options : nullptr;
}

QString Session::model_name() const {
  return state_->model ? QString::fromStdString(state_->model->name) : QString();
}

QString Session::cluster_name() const {
  return state_->cluster ? QString::fromStdString(state_->cluster->cluster->name()) : QString();
}

void Session::rename_strategy(StrategyRow strategy, const QString& label) {
  in_workspace([strategy, text = label.toStdString()](Workspace& workspace) {
    workspace.strategies().rename(strategy, text);
  });
}

void Session::remove_run(RunRow run) {
  in_workspace([run](Workspace& workspace) {
    const RunLock lock(workspace.file(), run);
    workspace.runs().remove(run);
  });
}

void Session::in_workspace(std::function<void(Workspace&)> change,
                           const std::filesystem::path& file) {
  const WorkspaceLists* shown = workspace();
  if (!file.empty()) {
    state_->recorder.change(std::move(change), file);
  } else if (shown && shown->is_read()) {  // no row of one that is being opened is known yet
    state_->recorder.change(std::move(change), shown->file());
  }
}

std::uint64_t Session::loads_begun() const { return state_->loads_begun; }

void Session::look_at_workspace() { state_->recorder.look(); }

bool Session::store_all(std::chrono::milliseconds patience) {
  abandon_search();
  state_->store_what_waits();
  state_->recorder.tell_no_more();
  return state_->recorder.wait_for(patience);
}

void Session::settle() {
  do {
    state_->load.wait();
    state_->simulate.wait();
    state_->recorder.wait();
    QCoreApplication::sendPostedEvents(this);
    QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
  } while (busy() || !state_->to_record.empty() || state_->asked > 0);
  state_->recorder.wait();
  state_->explain.wait();
  QCoreApplication::sendPostedEvents(this);
}

}  // namespace strato
