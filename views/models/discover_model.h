// A discovery of the machines that a launcher reaches, in the background: progress, cancel, and in
// the end a cluster file that the session has opened. Destroying it cancels what runs. GUI thread
// only.
#pragma once

#include <QObject>
#include <QStringList>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>

#include "views/models/launch_run.h"
#include "views/models/session.h"
#include "views/models/worker.h"

namespace strato {

struct DiscoverChoice {
  std::string launcher = "local";
  std::map<std::string, std::string> settings;  // the launcher's own; without empty ones
  QString name;                                 // of the cluster; empty: after the launcher
  int cpu_devices = 1;                          // of a machine without GPUs
  bool measure = false;
};

class DiscoverModel : public QObject {
  Q_OBJECT
 public:
  enum class State { Idle, Running, Finished, Failed, Cancelled };

  // `session` must outlive this.
  DiscoverModel(Session& session, LauncherFactory make, QObject* parent = nullptr);
  ~DiscoverModel() override;

  void start(const DiscoverChoice& choice);  // nothing while one runs
  void cancel();

  State state() const { return state_; }
  bool running() const { return state_ == State::Running; }
  QString progress() const { return progress_; }  // "asking 2 machines"
  QString problem() const { return problem_; }
  QStringList remarks() const { return remarks_; }  // what a person should know
  QString file() const { return file_; }            // that was written and opened

 signals:
  void changed();

 private:
  struct End;
  static End run(const DiscoverChoice& choice, const LauncherFactory& make,
                 const std::filesystem::path& folder, const std::stop_token& stop,
                 const std::function<void(const std::string&)>& progress);
  void take_end(const End& end);

  Session& session_;
  const LauncherFactory make_;
  State state_ = State::Idle;
  QString progress_, problem_, file_;
  QStringList remarks_;
  std::stop_source stop_;
  Worker worker_{Worker::OnExit::DropQueued};  // last: ends first
};

}  // namespace strato
