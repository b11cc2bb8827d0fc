#include "views/models/launch_preview.h"

#include <unistd.h>

#include <QCoreApplication>
#include <algorithm>
#include <thread>
#include <utility>

#include "views/style/style.h"

namespace strato {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("LaunchPreview", text); }

// What moves data is a task of each device that takes part.
IdVector<DeviceId, int> tasks_by_device(const Program& program) {
  const std::size_t devices = program.cluster->device_count();
  IdVector<DeviceId, int> counts(devices);
  IdVector<DeviceId, std::size_t> last(devices);  // task that counted, from 1
  const auto count = [&](DeviceId device, std::size_t task) {
    if (!device.valid() || std::exchange(last[device], task + 1) == task + 1) return;
    ++counts[device];
  };
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    count(program.tasks[TaskId(i)].device, i);
    count(program.tasks[TaskId(i)].target, i);
    for (const ResourceId resource : program.resources[i])
      if (!program.is_link(resource)) count(Program::device_of(resource), i);
  }
  return counts;
}

std::vector<RankPreview> ranks_of(const Timeline& predicted) {
  const Cluster& cluster = *predicted.program->cluster;
  const IdVector<DeviceId, int> tasks = tasks_by_device(*predicted.program);
  std::vector<RankPreview> ranks;
  for (std::size_t d = 0; d < tasks.size(); ++d) {
    const DeviceId id(d);
    if (tasks[id] == 0) continue;
    const DeviceUse& use = predicted.devices[id];
    ranks.push_back({static_cast<int>(ranks.size()), id,
                     QString::fromStdString(cluster.device(id).name),
                     QString::fromStdString(cluster.gpu(id).name),
                     QString::fromStdString(cluster.machines()[cluster.device(id).machine].name),
                     use.peak, use.capacity, tasks[id]});
  }
  return ranks;
}

void warn_of_memory(const std::vector<RankPreview>& ranks, QStringList& warnings) {
  for (const RankPreview& rank : ranks) {
    if (rank.fits()) continue;
    warnings << tr("Rank %1 needs %2, and %3 has %4")
                    .arg(rank.rank)
                    .arg(style::bytes(rank.peak), rank.name, style::bytes(rank.capacity));
  }
}

// All ranks of the launcher "local" are here.
void warn_of_this_machine(const std::vector<RankPreview>& ranks, const LaunchChoice& choice,
                          const ThisMachine& machine, QStringList& warnings) {
  const int threads = std::max(1, choice.options.threads);
  const bool on_cpu = choice.options.device == "cpu";
  const int wanted = static_cast<int>(ranks.size()) * threads;
  if (on_cpu && wanted > machine.cores) {
    warnings << tr("%1 ranks share the %2 cores of this machine: steps take longer than predicted")
                    .arg(ranks.size())
                    .arg(machine.cores);
  }
  Bytes needed;
  for (const RankPreview& rank : ranks) needed += rank.peak;
  if (on_cpu && machine.memory.value > 0 && needed > machine.memory) {
    warnings << tr("The ranks need %1 together, and this machine has %2")
                    .arg(style::bytes(needed), style::bytes(machine.memory));
  }
  if (!on_cpu && !machine.cuda) warnings << tr("This machine has no GPU that CUDA can use");
}

void warn_of_times(const std::vector<RankPreview>& ranks, const LaunchChoice& choice,
                   QStringList& warnings) {
  if (choice.options.engine == "replay" || choice.options.device != "cpu") return;
  QStringList types;
  for (const RankPreview& rank : ranks)
    if (!types.contains(rank.gpu)) types << rank.gpu;
  warnings << tr("Computes on CPUs instead of %1: losses are right, times are those of the CPUs; "
                 "the engine replay takes the simulated times")
                  .arg(types.join(QStringLiteral(", ")));
}

}  // namespace

ThisMachine ThisMachine::look() {
  ThisMachine machine;
  machine.cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && size > 0) machine.memory = Bytes(std::int64_t{pages} * size);
  std::error_code ignored;
  machine.cuda = std::filesystem::exists("/dev/nvidiactl", ignored);
  return machine;
}

LaunchPreview preview_launch(const Timeline& predicted, const LaunchChoice& choice,
                             const ThisMachine& machine) {
  LaunchPreview preview{ranks_of(predicted), {}};
  warn_of_memory(preview.ranks, preview.warnings);
  if (choice.launcher == "local")
    warn_of_this_machine(preview.ranks, choice, machine, preview.warnings);
  warn_of_times(preview.ranks, choice, preview.warnings);
  if (choice.options.transport == "nccl" && choice.options.device != "cuda")
    preview.warnings << tr("The transport nccl moves what is on GPUs: choose the device cuda");
  return preview;
}

}  // namespace strato
