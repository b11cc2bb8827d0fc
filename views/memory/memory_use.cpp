#include "views/memory/memory_use.h"

#include <algorithm>
#include <utility>

#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

QString name_of(const DevicesAlike& alike, const Cluster& cluster) {
  const QString first = text(cluster.device(alike.devices.front()).name);
  const std::size_t others = alike.devices.size() - 1;
  const QString devices =
      others == 0 ? first : MemoryUse::tr("%1 and %2 alike").arg(first).arg(others);
  return alike.stage < 0 ? devices
                         : MemoryUse::tr("Stage %1: %2").arg(alike.stage + 1).arg(devices);
}

}  // namespace

std::vector<MemoryRow> memory_rows(const Timeline& timeline) {
  std::vector<MemoryRow> rows;
  const auto peaks = device_peaks(timeline);
  for (DevicesAlike& alike : devices_alike(timeline, peaks)) {
    const DeviceId first = alike.devices.front();
    MemoryRow& row = rows.emplace_back();
    row.peak = peaks[first];
    row.capacity = timeline.devices[first].capacity;
    row.name = name_of(alike, *timeline.program->cluster);
    row.moment = MemoryUse::tr("after %1 of %2, %3")
                     .arg(style::time(row.peak.moment), style::time(timeline.step_time),
                          text(running_text(*timeline.program, row.peak.running)));
    row.alike = std::move(alike);
  }
  return rows;
}

MemoryUse::MemoryUse(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::outcome_changed, this, &MemoryUse::refresh);
  connect(&session_, &Session::problem_changed, this, &MemoryUse::refresh);
}

MemoryUse::~MemoryUse() { worker_.end(); }

void MemoryUse::watch(bool on) {
  watched_ = on;
  refresh();
}

const MemoryRow* MemoryUse::fullest() const {
  const auto fullest = std::ranges::max_element(rows_, {}, &MemoryRow::fill);
  return fullest == rows_.end() ? nullptr : &*fullest;
}

void MemoryUse::refresh() {
  const auto& outcome = session_.snapshot().outcome;
  if (!watched_ || outcome == of_) return;
  of_ = outcome;
  looking_ = outcome != nullptr;
  if (!looking_) {
    rows_.clear();
    emit changed();
    return;
  }
  emit changed();
  worker_.post([this, outcome] {
    QMetaObject::invokeMethod(
        this,
        [this, outcome, rows = memory_rows(*outcome->timeline)]() mutable {
          if (outcome != of_) return;
          rows_ = std::move(rows);
          looking_ = false;
          emit changed();
        },
        Qt::QueuedConnection);
  });
}

}  // namespace strato
