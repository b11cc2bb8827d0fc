#include "core/program/value/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/quantity_text.h"
#include "core/program/value/collective.h"
#include "core/program/value/op_parts.h"

namespace strato {

std::string_view name_of(TaskKind kind) {
  constexpr std::array<std::string_view, 14> kNames = {
      "Compute",       "Split",    "Concat", "Sum",       "Transfer", "AllReduce", "AllGather",
      "ReduceScatter", "AllToAll", "Reduce", "Broadcast", "Update",   "Offload",   "Fetch"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view name_of(Stream stream) {
  constexpr std::array<std::string_view, kStreams> kNames = {"compute", "communication",
                                                             "tensor communication"};
  return kNames.at(static_cast<std::size_t>(stream));
}

std::size_t Program::resource_count() const { return stream_count() + cluster->links().size(); }

std::string Program::resource_name(ResourceId resource) const {
  if (is_link(resource)) return cluster->links()[link_of(resource)].name;
  constexpr std::array<const char*, kStreams> kNames = {" compute", " comm", " tensor comm"};
  return cluster->device(device_of(resource)).name +
         kNames.at(static_cast<std::size_t>(kind_of(resource)));
}

std::span<const Resident> Program::residents_of(TensorId tensor, DeviceId device) const {
  const auto place = [](const Resident& of) { return std::pair(of.device, of.tensor); };
  const std::pair key(device, tensor);
  const auto first = std::ranges::lower_bound(residents, key, {}, place);
  return {first, std::ranges::upper_bound(first, residents.end(), key, {}, place)};
}

AxisRange Program::range_of(const Task& task) const {
  if (!cuts_of(task).empty()) return cuts_of(task).front();
  const AxisRange* samples = part_of(task).along(kBatchAxis);
  return samples ? *samples : AxisRange{kBatchAxis, 0, static_cast<std::int32_t>(graph->batch())};
}

std::int64_t Program::samples_of(const Task& task) const {
  const AxisRange* samples = part_of(task).along(kBatchAxis);
  return samples ? samples->size() : graph->batch();
}

double Program::share_of(const Task& task) const {
  const Op& op = graph->op(task.op);
  const TensorId whole = op.outputs.empty() ? op.inputs[0] : op.outputs[0];
  double share = 1;
  for (const AxisRange& range : part_of(task).ranges())
    if (range.axis != kBatchAxis)
      share *= static_cast<double>(range.size()) /
               static_cast<double>(range_along(*graph, whole, {}, range.axis).size());
  return share;
}

std::string Program::task_name(TaskId id) const {
  const Task& task = tasks[id];
  if (const std::size_t gradients = tensors_of(*this, id).size(); gradients > 1)
    return fmt::format("AllReduce {} gradients ({})", gradients, bytes_text(task.bytes));
  const bool is_op = task.kind == TaskKind::Compute || task.kind == TaskKind::Update;
  std::string name = is_op ? graph->op(task.op).name
                           : std::string(task.keeps ? "Keep" : name_of(task.kind)) + " " +
                                 graph->tensor(task.tensor).name;
  const bool is_of_device =
      !is_communication(task.kind) || task.target.valid() || is_host_copy(task.kind);
  if (task.device.valid() && is_of_device) name += " @" + cluster->device(task.device).name;
  if (task.target.valid()) name += ">" + cluster->device(task.target).name;
  const Part& part = part_of(task);
  const AxisRange* samples = part.along(kBatchAxis);
  if (samples && samples->size() != graph->batch() && (part.cuts().empty() || !part.sums_samples()))
    name += fmt::format(" [{},{})", samples->begin, samples->end);
  if (!part.cuts().empty()) name += " " + describe(part.cuts());
  if (part.sums_letter())
    name += fmt::format(" sum over [{},{})", part.addend().begin, part.addend().end);
  if (task.again) name += " again";
  return name;
}

}  // namespace strato
