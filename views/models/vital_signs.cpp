#include "views/models/vital_signs.h"

#include <QCoreApplication>
#include <algorithm>

#include "views/models/explanation.h"
#include "views/style/style.h"

namespace strato {
namespace {

struct VitalWords {
  Q_DECLARE_TR_FUNCTIONS(VitalSigns)
};

std::vector<DeviceFullness> by_fullness(const Timeline& timeline) {
  std::vector<DeviceFullness> devices;
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
    const DeviceUse& use = timeline.devices[DeviceId(d)];
    devices.push_back({DeviceId(d), use.peak, use.capacity});
  }
  std::stable_sort(
      devices.begin(), devices.end(),
      [](const DeviceFullness& a, const DeviceFullness& b) { return a.fraction() > b.fraction(); });
  return devices;
}

}  // namespace

std::optional<VitalSigns> vital_signs(const Snapshot& snapshot) {
  if (!snapshot.outcome || !snapshot.outcome->timeline) return {};
  const Timeline& timeline = *snapshot.outcome->timeline;
  VitalSigns signs;
  signs.step_time = timeline.step_time;
  signs.feasible = timeline.feasible;
  if (snapshot.baseline && timeline.step_time.value > 0) {
    signs.speedup = snapshot.baseline->timeline->step_time / timeline.step_time;
    signs.baseline_feasible = snapshot.baseline->timeline->feasible;
  }
  if (snapshot.lower_bound.value > 0) signs.over_bound = timeline.step_time / snapshot.lower_bound;
  const std::vector<DeviceFullness> devices = by_fullness(timeline);
  if (!devices.empty()) signs.worst = devices.front();
  for (const DeviceFullness& device : devices) {
    if (device.peak > device.capacity) signs.too_full.push_back(device);
  }
  if (snapshot.before) {
    const Nanos before = snapshot.before->timeline->step_time;
    signs.delta = timeline.step_time - before;
    signs.delta_fraction = before.value > 0 ? *signs.delta / before : 0;
  }
  if (snapshot.explanation) signs.error = snapshot.explanation->error;
  return signs;
}

QString why_infeasible(const VitalSigns& signs, const Cluster& cluster) {
  if (signs.too_full.empty()) return {};
  const DeviceFullness& worst = signs.too_full.front();
  QString text = VitalWords::tr("does not fit: %1 needs %2 of %3")
                     .arg(QString::fromStdString(cluster.device(worst.device).name),
                          style::bytes(worst.peak), style::bytes(worst.capacity));
  if (signs.too_full.size() > 1) {
    text += VitalWords::tr(" (and %1 more)").arg(signs.too_full.size() - 1);
  }
  return text;
}

}  // namespace strato
