#include "views/models/discover_model.h"

#include <QDateTime>
#include <QTemporaryDir>

#include "core/base/error.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "core/launch/discover/discover.h"
#include "core/launch/measured/make_job.h"
#include "views/style/text.h"

namespace strato {

struct DiscoverModel::End {
  JobState state = JobState::Failed;
  QString problem, file;
  QStringList remarks;
};

DiscoverModel::DiscoverModel(Session& session, LauncherFactory make, QObject* parent)
    : QObject(parent), session_(session), make_(std::move(make)) {}

DiscoverModel::~DiscoverModel() { stop_.request_stop(); }

DiscoverModel::End DiscoverModel::run(const DiscoverChoice& choice, const LauncherFactory& make,
                                      const std::filesystem::path& folder,
                                      const std::stop_token& stop,
                                      const std::function<void(const std::string&)>& progress) {
  const QString now = QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-hhmmss"));
  QTemporaryDir job(text((folder / "stratoscope-discovery-XXXXXX").string()));
  if (!job.isValid()) {
    throw InputError(folder.string(), "", "no folder can be made there",
                     "open a workspace in a folder that you may write to");
  }
  DiscoverOptions options;
  options.launcher = choice.launcher;
  options.settings = choice.settings;
  options.folder = job.path().toStdString();
  options.worker = worker_program();
  options.name = choice.name.isEmpty()
                     ? "Discovered by " + choice.launcher + ", " + now.left(8).toStdString()
                     : choice.name.toStdString();
  options.source = "the window of Stratoscope, launcher " + choice.launcher + ", " +
                   QDateTime::currentDateTimeUtc().toString(Qt::ISODate).toStdString();
  options.cpu_devices = choice.cpu_devices;
  options.measure = choice.measure;
  const auto launcher = make(choice.launcher);
  const Discovered found = discover(*launcher, options, GpuCatalogue::bundled(), stop, progress);
  End end{found.state, text(found.problem), {}, {}};
  for (const std::string& remark : found.remarks) end.remarks << text(remark);
  const QString logs = tr("logs are in %1").arg(job.path());
  job.setAutoRemove(found.state != JobState::Failed && !found.unmeasured);
  if (found.unmeasured) end.remarks << logs;
  if (found.state == JobState::Failed) end.problem += QStringLiteral("; ") + logs;
  if (found.state != JobState::Finished) return end;
  const auto file = folder / ("discovered-" + now.toStdString() + ".json");
  write_file(file, found.cluster);
  end.file = text(file.string());
  return end;
}

void DiscoverModel::start(const DiscoverChoice& choice) {
  if (running()) return;
  stop_ = std::stop_source();
  state_ = State::Running;
  progress_.clear();
  problem_.clear();
  remarks_.clear();
  file_.clear();
  // The file stays there; so does the job of a failed discovery.
  const bool here = choice.launcher == "local" && !session_.workspace();
  const std::filesystem::path folder =
      here ? std::filesystem::temp_directory_path() : session_.shared_folder();
  worker_.post([this, choice, folder, stop = stop_.get_token()] {
    const auto progress = [this](const std::string& line) {
      QMetaObject::invokeMethod(
          this,
          [this, line = text(line)] {
            progress_ = line;
            emit changed();
          },
          Qt::QueuedConnection);
    };
    End end;
    try {
      end = run(choice, make_, folder, stop, progress);
    } catch (const std::exception& error) {
      end.problem = QString::fromUtf8(error.what());
    }
    QMetaObject::invokeMethod(
        this, [this, end] { take_end(end); }, Qt::QueuedConnection);
  });
  emit changed();
}

void DiscoverModel::cancel() {
  if (running()) stop_.request_stop();
}

void DiscoverModel::take_end(const End& end) {
  state_ = end.state == JobState::Finished    ? State::Finished
           : end.state == JobState::Cancelled ? State::Cancelled
                                              : State::Failed;
  problem_ = end.problem;
  remarks_ = end.remarks;
  file_ = end.file;
  if (state_ == State::Finished) session_.open_cluster(file_.toStdString());
  emit changed();
}

}  // namespace strato
