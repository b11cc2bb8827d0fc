// A button that names devices, with a menu to choose them from: one edit for each choice.
#pragma once

#include <QToolButton>
#include <memory>
#include <vector>

#include "core/cluster/value/cluster.h"

namespace strato {

class DeviceField : public QToolButton {
  Q_OBJECT
 public:
  enum class Of { Cluster, EachMachine };  // as many as one likes, or at most one in each machine
  // `automatic`: the menu's first line, which chooses nothing.
  DeviceField(const QString& automatic, Of of, QWidget* parent = nullptr);

  // `chosen`: ascending.
  void show_devices(const std::shared_ptr<const Cluster>& cluster, std::vector<DeviceId> chosen);
  void clear();
  const std::vector<QAction*>& actions_of_devices() const { return of_device_; }

 signals:
  void chosen(const std::vector<DeviceId>& devices);      // empty: the first line was
  void considered(const std::vector<DeviceId>& devices);  // under the cursor, or none any more
  void left();

 private:
  std::vector<DeviceId> with(std::size_t device) const;  // chosen, and this one turned over

  const QString automatic_;
  const Of of_;
  std::shared_ptr<const Cluster> cluster_;  // of the lines; null: there are none
  std::vector<MachineId> machines_;         // by device
  std::vector<QAction*> of_device_;
  std::vector<DeviceId> chosen_;  // ascending
};

}  // namespace strato
