// What is in the memory of the devices at their peaks, of the strategy shown: once for devices that
// have the same. Found in the background, while somebody watches. GUI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/sim/explain/device_peaks.h"
#include "views/models/session.h"
#include "views/models/worker.h"

namespace strato {

struct MemoryRow {
  DevicesAlike alike;
  DevicePeak peak;
  Bytes capacity;
  QString name;    // "Stage 2: v100:4 and 3 alike"
  QString moment;  // "after 12 of 94 ms, in the backward pass of fc6"
  bool fits() const { return peak.peak <= capacity; }
  double fill() const { return peak.peak / capacity; }
};
// In the order of the devices. Pure.
std::vector<MemoryRow> memory_rows(const Timeline& timeline);

class MemoryUse : public QObject {
  Q_OBJECT
 public:
  explicit MemoryUse(Session& session, QObject* parent = nullptr);
  ~MemoryUse() override;

  void watch(bool on);
  bool looking() const { return looking_; }
  const std::vector<MemoryRow>& rows() const { return rows_; }  // of the outcome shown
  const MemoryRow* fullest() const;                             // null: there are none

 signals:
  void changed();

 private:
  void refresh();

  Session& session_;
  std::shared_ptr<const Outcome> of_;  // rows_, or those that are being found
  std::vector<MemoryRow> rows_;
  bool watched_ = false, looking_ = false;
  Worker worker_{Worker::OnExit::DropQueued};
};

}  // namespace strato
