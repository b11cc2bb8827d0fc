#include "core/program/project/resident_parts.h"

#include <algorithm>

#include "core/program/value/program_task.h"

namespace strato {

ResidentParts::ResidentParts(const Program& program) : program_(program) {
  list_slices();
  list_carried();
}

const Resident* ResidentParts::find(TensorId tensor, DeviceId device) const {
  const auto place = [](const Resident& resident) {
    return Place(resident.device, resident.tensor);
  };
  const auto at = std::ranges::lower_bound(program_.residents, Place(device, tensor), {}, place);
  const bool found = at != program_.residents.end() && place(*at) == Place(device, tensor);
  return found ? &*at : nullptr;
}

// A parameter whose update is split is kept in slices, where they are updated; unless all of it is
// there.
void ResidentParts::list_slices() {
  for (std::size_t i = 0; i < program_.tasks.size(); ++i) {
    const ProgramTask at{program_, TaskId(i)};
    const Task& task = at.task();
    if (task.kind != TaskKind::Update || program_.cuts_of(task).empty()) continue;
    const TensorId parameter = at.op().inputs.front();
    const Resident* here = find(parameter, task.device);
    if (here && here->bytes >= program_.graph->tensor(parameter).bytes()) continue;
    slices_[{task.device, parameter}].push_back(stated_part(at, parameter));
  }
}

void ResidentParts::list_carried() {
  for (std::size_t i = 0; i < program_.tasks.size(); ++i) {
    const ProgramTask at{program_, TaskId(i)};
    const Task& task = at.task();
    if (!task.keeps) continue;
    at.expect(has(task.tensor, task.device), task.tensor, "it is kept nowhere");
    std::vector<Part>& parts = carried_[{task.device, task.tensor}];
    parts.push_back(stated_part(at, task.tensor));
    at.expect(std::ranges::count(parts, parts.back()) == 1, task.tensor, "it is kept twice");
  }
}

Part ResidentParts::standing_for(TensorId tensor, DeviceId device, const Part& wanted) const {
  if (!is_trained(*program_.graph, tensor)) return wanted;
  const auto known = slices_.find({device, tensor});
  if (known == slices_.end()) return Part();
  const std::vector<Part>& parts = known->second;
  return std::ranges::find(parts, wanted) != parts.end() ? wanted : parts.front();
}

std::span<const Part> ResidentParts::carried(TensorId tensor, DeviceId device) const {
  const auto known = carried_.find({device, tensor});
  return known == carried_.end() ? std::span<const Part>() : std::span(known->second);
}

}  // namespace strato
