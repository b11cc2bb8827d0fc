// The recorded run that is open, read and analysed in the background: the window stays free, and
// reading can be stopped. Lives in the GUI thread.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <atomic>
#include <stop_token>

#include "views/timeline/latest_job.h"
#include "views/traces/recorded_run.h"

namespace strato {

class TracesModel : public QObject {
  Q_OBJECT
 public:
  explicit TracesModel(QObject* parent = nullptr);
  ~TracesModel() override;  // stops reading, and does not wait

  void open(const QString& path);  // a file or a folder; the run before stays until it is there
  void stop();                     // reading
  void close();

  const std::shared_ptr<const RecordedRun>& run() const { return run_; }  // null: none
  bool reading() const { return reading_; }
  QString progress() const;                     // "Reading run-7: 3 of 64 files"
  double fraction() const;                      // of the files; negative: nobody knows
  QString failure() const { return failure_; }  // a sentence, of what was opened last; or empty
  void settle();                                // until nothing is read; runs the event loop

 signals:
  void changed();     // what is open, or whether something is read
  void progressed();  // while it is read

 private:
  struct Progress {
    std::atomic<std::size_t> read = 0, files = 0;
  };
  struct Result {
    std::shared_ptr<const RecordedRun> run;
    QString failure;
    std::uint64_t job = 0;
  };
  void take(const Result& result);

  std::shared_ptr<const RecordedRun> run_;
  std::shared_ptr<Progress> progress_;
  std::stop_source stop_;
  QString name_, failure_;
  std::uint64_t job_ = 0;
  bool reading_ = false;
  QTimer ticks_;
  LatestJob<Result> reader_;
};

}  // namespace strato
