#include "views/traces/traces_model.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <exception>

namespace strato {

TracesModel::TracesModel(QObject* parent)
    : QObject(parent), reader_([this](const Result& result) { take(result); }) {
  constexpr int kTick = 150;  // ms
  ticks_.setInterval(kTick);
  connect(&ticks_, &QTimer::timeout, this, &TracesModel::progressed);
}

TracesModel::~TracesModel() { stop_.request_stop(); }

void TracesModel::open(const QString& path) {
  stop_.request_stop();  // what is read for nobody
  stop_ = {};
  progress_ = std::make_shared<Progress>();
  name_ = QFileInfo(path).fileName();
  failure_.clear();
  reading_ = true;
  ticks_.start();
  reader_.ask(
      [path = std::filesystem::path(path.toStdString()), stop = stop_.get_token(),
       progress = progress_, job = ++job_]() -> Result {
        Result result{nullptr, {}, job};
        try {
          trace::TraceSet set = trace::read_traces(
              path,
              [&](const std::filesystem::path&, std::size_t files) {
                progress->files = files;
                ++progress->read;
              },
              stop);
          if (!set.traces.empty() && !stop.stop_requested())
            result.run = make_run(path, std::move(set));
        } catch (const std::exception& error) {
          result.failure = QString::fromUtf8(error.what());
        }
        return result;
      },
      false);
  emit changed();
}

// Of a job that was stopped nothing is shown.
void TracesModel::take(const Result& result) {
  if (result.job != job_) return;
  reading_ = false;
  ticks_.stop();
  failure_ = result.failure;
  if (result.run) run_ = result.run;
  emit changed();
}

void TracesModel::stop() {
  if (!reading_) return;
  stop_.request_stop();
  ++job_;
  reading_ = false;
  ticks_.stop();
  reader_.drop();
  emit changed();
}

void TracesModel::close() {
  stop();
  run_.reset();
  failure_.clear();
  emit changed();
}

QString TracesModel::progress() const {
  const std::size_t files = progress_ ? progress_->files.load() : 0;
  if (files < 2) return tr("Reading %1…").arg(name_);
  return progress_->read < files
             ? tr("Reading %1: %2 of %3 files").arg(name_).arg(progress_->read).arg(files)
             : tr("Looking at %1…").arg(name_);
}

double TracesModel::fraction() const {
  const std::size_t files = progress_ ? progress_->files.load() : 0;
  return files < 2 ? -1 : static_cast<double>(progress_->read) / static_cast<double>(files);
}

void TracesModel::settle() {
  while (reading_) QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
}

}  // namespace strato
