// What a launch would run where, and what a person should know before it starts. Pure; safe from
// any thread.
#pragma once

#include <QString>
#include <QStringList>
#include <map>
#include <vector>

#include "core/launch/job/job.h"
#include "core/sim/engine/simulate.h"

namespace strato {

struct LaunchChoice {
  std::string launcher = "local";
  std::map<std::string, std::string> settings;  // the launcher's own; without empty ones
  JobOptions options;
  // Of the staged job; empty: a temporary one. Nodes of a cluster must see it under this name.
  std::filesystem::path folder;
};

// The machine that this program runs on.
struct ThisMachine {
  int cores = 1;
  Bytes memory;       // of all of it; 0: not known
  bool cuda = false;  // has an NVIDIA GPU that programs may use
  static ThisMachine look();
};

struct RankPreview {
  int rank = 0;
  DeviceId device;
  QString name, gpu, machine;
  Bytes peak, capacity;  // predicted, and what the device of the cluster has
  int tasks = 0;
  bool fits() const { return peak <= capacity; }
};

struct LaunchPreview {
  std::vector<RankPreview> ranks;  // of the devices that have a task
  QStringList warnings;            // one sentence each; the launch is possible all the same
};
LaunchPreview preview_launch(const Timeline& predicted, const LaunchChoice& choice,
                             const ThisMachine& machine);

}  // namespace strato
