// The causes of step times, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>

#include "core/base/error.h"
#include "core/cluster/vary/changed_cluster.h"
#include "core/compare/changes.h"
#include "core/compare/compare_plans.h"
#include "core/program/value/collective.h"

namespace strato {
namespace {

std::string_view collective_words(TaskKind kind) {
  return collective_of(kind) ? name_of(kind) : "transfers";
}

// Devices by name of their kind: "1080ti" for those of the machines "1080ti-0" to "1080ti-3", with
// the GPU's type where a machine has several.
IdVector<DeviceId, std::string> device_kinds(const Cluster& cluster) {
  IdVector<MachineId, std::string> machines(cluster.machines().size());
  for (const MachineKind& kind : machine_kinds(cluster))
    for (const MachineId machine : kind.machines) machines[machine] = kind.name;
  IdVector<DeviceId, std::string> kinds;
  for (const Device& device : cluster.devices()) {
    const std::string& group = cluster.groups()[device.group].name;
    const std::size_t type = group.find('/');  // no machine's name has one
    kinds.push_back(machines[device.machine] +
                    (type == std::string::npos ? std::string() : group.substr(type)));
  }
  return kinds;
}

class CauseNames {
 public:
  explicit CauseNames(const Program& program)
      : program_(program), kinds_(device_kinds(*program.cluster)) {}

  std::string text_of(const PathPiece& piece) const {
    const Task& task = program_.tasks[piece.task];
    const std::string& device = kinds_[task.device];
    switch (piece.reason) {
      case Reason::Compute:
        return "computing on " + device;
      case Reason::Reshuffle:
        return "splitting and joining on " + device;
      case Reason::Transfer:
        return fmt::format("transfers of {}", role_of(task));
      case Reason::Collective:
        return std::string(collective_words(task.kind));
      case Reason::DeviceBusy:
        return "queueing for busy " + device;
      case Reason::LinkBusy:
        return fmt::format("queueing for links behind {}", collective_words(task.kind));
      case Reason::Straggler:
        return "waiting for " + device;
    }
    return {};
  }

 private:
  std::string_view role_of(const Task& task) const {
    return task.tensor.valid() ? words_for(program_.graph->tensor(task.tensor).role) : "data";
  }

  const Program& program_;
  const IdVector<DeviceId, std::string> kinds_;
};

using CauseMap = std::map<std::pair<Reason, std::string>, Cause>;

void add_causes(const Timeline& timeline, const std::vector<PathPiece>& path, Nanos Cause::*time,
                CauseMap& causes) {
  const CauseNames names(*timeline.program);
  for (const PathPiece& piece : path) {
    const std::string text = names.text_of(piece);
    Cause& cause = causes[{piece.reason, text}];
    cause.reason = piece.reason;
    cause.text = text;
    cause.*time += piece.end - piece.begin;
  }
}

}  // namespace

std::string_view words_for(TensorRole role) {
  const bool lives_on = role == TensorRole::Parameter || role == TensorRole::OptimizerState;
  return lives_on ? "parameters" : role == TensorRole::Gradient ? "gradients" : "activations";
}

std::vector<Cause> step_causes(const Timeline& from, const std::vector<PathPiece>& from_path,
                               const Timeline& to, const std::vector<PathPiece>& to_path) {
  CauseMap found;
  add_causes(from, from_path, &Cause::from, found);
  add_causes(to, to_path, &Cause::to, found);
  std::vector<Cause> causes;
  for (auto& [key, cause] : found) causes.push_back(std::move(cause));
  std::ranges::stable_sort(causes, std::greater(),
                           [](const Cause& cause) { return std::abs(cause.change().value); });
  return causes;
}

std::vector<Cause> folded(const std::vector<Cause>& causes, std::size_t most) {
  CHECK(most >= 2, "one cause and one for the others");
  std::vector<Cause> changed = causes;
  std::erase_if(changed, [](const Cause& cause) { return cause.change() == Nanos(0); });
  if (changed.size() <= most) return changed;
  Cause others;
  for (std::size_t i = most - 1; i < changed.size(); ++i) {
    others.from += changed[i].from;
    others.to += changed[i].to;
  }
  others.text = fmt::format("{} other causes", changed.size() - (most - 1));
  changed.resize(most - 1);
  changed.push_back(std::move(others));
  return changed;
}

}  // namespace strato
