#include "core/sim/explain/device_peaks.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/value/scopes.h"

namespace strato {
namespace {

constexpr std::array<std::string_view, kMemoryCauses> kNames = {
    "parameters",  "cast_parameters", "gathered_parameters", "optimizer_state", "gradients",
    "activations", "logits",          "passed_back",         "communicated",    "inputs"};
constexpr std::array<std::string_view, kMemoryCauses> kLabels = {
    "parameters",  "cast parameters", "gathered",    "optimizer",    "gradients",
    "activations", "logits",          "passed back", "communicated", "inputs"};

// What tensors of a graph are there for, wherever they are.
class TensorCauses {
 public:
  explicit TensorCauses(const Graph& graph)
      : graph_(graph), causes_(graph.tensor_count()), of_loss_(graph.op_count()) {
    for (const TensorId id : graph.tensors().ids()) causes_[id] = by_role(graph.tensor(id));
    for (const OpId op : graph.ops().ids()) look_at(op);
  }

  MemoryCause of(TensorId id) const { return causes_[id]; }

 private:
  static MemoryCause by_role(const Tensor& tensor) {
    switch (tensor.role) {
      case TensorRole::Parameter:
        return MemoryCause::Parameters;
      case TensorRole::OptimizerState:
        return MemoryCause::OptimizerState;
      case TensorRole::Gradient:
        // What was summed over the batch is of a parameter.
        return tensor.batch.kind == BatchKind::Batched ? MemoryCause::PassedBack
                                                       : MemoryCause::Gradients;
      case TensorRole::Activation:
        return MemoryCause::Activations;
      case TensorRole::Input:
      case TensorRole::Constant:
        break;
    }
    return MemoryCause::Inputs;
  }

  // In topological order: what an op reads is known already.
  void look_at(OpId id) {
    const Op& op = graph_.op(id);
    const bool of_loss =
        op.phase == Phase::Loss || op.family == OpFamily::Loss ||
        (op.phase == Phase::Backward && op.forward.valid() && of_loss_[op.forward]);
    of_loss_[id] = of_loss;
    if (of_loss && op.phase != Phase::Backward)
      for (const TensorId input : op.inputs) mark_logits(input);
    if (of_loss)
      for (const TensorId output : op.outputs)
        if (graph_.tensor(output).batch.kind == BatchKind::Batched)
          causes_[output] = MemoryCause::Logits;
    if (op.phase == Phase::Forward && is_made_of_parameters(op))
      for (const TensorId output : op.outputs) causes_[output] = MemoryCause::CastParameters;
  }

  // And what it is a cast or a view of.
  void mark_logits(TensorId id) {
    while (id.valid() && causes_[id] == MemoryCause::Activations &&
           is_floating(graph_.tensor(id).type)) {
      causes_[id] = MemoryCause::Logits;
      const OpId producer = graph_.tensor(id).producer;
      if (!producer.valid()) return;
      const Op& op = graph_.op(producer);
      if (!op.view && op.type != "Cast") return;
      id = op.inputs.front();
    }
  }

  bool is_made_of_parameters(const Op& op) const {
    bool any = false;
    for (const TensorId input : op.inputs) {
      if (!input.valid()) continue;
      const bool parameter = causes_[input] == MemoryCause::Parameters ||
                             causes_[input] == MemoryCause::CastParameters;
      if (!parameter && graph_.tensor(input).role != TensorRole::Constant) return false;
      any |= parameter;
    }
    return any;
  }

  const Graph& graph_;
  IdVector<TensorId, MemoryCause> causes_;
  IdVector<OpId, bool> of_loss_;
};

// The task that writes each buffer.
IdVector<BufferId, TaskId> writers_of(const Program& program) {
  IdVector<BufferId, TaskId> writers(program.buffers.size());
  for (const TaskId task : program.tasks.ids())
    for (const BufferId buffer : program.writes[task.index()]) writers[buffer] = task;
  return writers;
}

// What was sent is there for the same, but for parts of parameters and activations.
MemoryCause when_sent(MemoryCause cause) {
  switch (cause) {
    case MemoryCause::Parameters:
    case MemoryCause::CastParameters:
      return MemoryCause::Gathered;
    case MemoryCause::Activations:
    case MemoryCause::PassedBack:
      return MemoryCause::Communicated;
    default:
      return cause;
  }
}

// The forward op that made it, or whose output's gradient it is.
OpId op_of(const Graph& graph, TensorId id) {
  const OpId producer = graph.tensor(id).producer;
  if (!producer.valid()) return {};
  const OpId forward = graph.op(producer).forward;
  return forward.valid() ? forward : producer;
}

bool is_of_an_op(MemoryCause cause) {
  return cause == MemoryCause::Activations || cause == MemoryCause::Logits ||
         cause == MemoryCause::PassedBack || cause == MemoryCause::Communicated;
}

}  // namespace

std::string_view name_of(MemoryCause cause) { return kNames[static_cast<std::size_t>(cause)]; }
std::string_view label_of(MemoryCause cause) { return kLabels[static_cast<std::size_t>(cause)]; }

std::vector<DevicesAlike> devices_alike(const Timeline& timeline,
                                        const IdVector<DeviceId, DevicePeak>& peaks) {
  std::vector<DevicesAlike> kinds;
  const Program& program = *timeline.program;
  for (const DeviceId device : peaks.ids()) {
    const std::int32_t stage = program.stage_of.empty() ? -1 : program.stage_of[device];
    const auto same = std::ranges::find_if(kinds, [&](const DevicesAlike& kind) {
      const DeviceId first = kind.devices.front();
      return kind.stage == stage && peaks[first].by_cause == peaks[device].by_cause &&
             timeline.devices[first].capacity == timeline.devices[device].capacity;
    });
    if (same == kinds.end())
      kinds.push_back({stage, {device}});
    else
      same->devices.push_back(device);
  }
  return kinds;
}

std::string running_text(const Program& program, TaskId running) {
  if (!running.valid()) return "while it computes nothing";
  const Task& task = program.tasks[running];
  const Op& op = program.graph->op(task.op);
  const std::string micro =
      program.micro_batches > 1 && op.phase != Phase::Update
          ? fmt::format(" of micro-batch {} of {}", task.micro + 1, program.micro_batches)
          : "";
  return fmt::format("in the {} of {}{}",
                     op.phase == Phase::Update    ? "update"
                     : task.again                 ? "recomputation"
                     : op.phase == Phase::Forward ? "forward pass"
                                                  : "backward pass",
                     op.phase == Phase::Forward ? op.name : layer_op(*program.graph, task.op).name,
                     micro);
}

void each_held_at_peak(const Timeline& timeline, const HeldAtPeak& hold) {
  const Program& program = *timeline.program;
  for (const Resident& resident : program.residents)
    if (!resident.on_host) hold(resident.device, resident.tensor, resident.bytes, {});
  const auto lives = lifetimes(timeline);
  for (const BufferId id : program.buffers.ids()) {
    const Buffer& buffer = program.buffers[id];
    const Lifetime& life = lives[id];
    const Nanos peak = timeline.devices[buffer.device].peak_at;
    if (!buffer.on_host && !buffer.passed_on && timeline.tasks[life.taken_by].start <= peak &&
        peak < timeline.tasks[life.released_by].end)
      hold(buffer.device, buffer.tensor, buffer.held(), id);
  }
}

IdVector<DeviceId, DevicePeak> device_peaks(const Timeline& timeline) {
  const Program& program = *timeline.program;
  const Graph& graph = *program.graph;
  const TensorCauses causes(graph);
  const IdVector<BufferId, TaskId> writers = writers_of(program);
  IdVector<DeviceId, DevicePeak> peaks(timeline.devices.size());
  for (const DeviceId device : peaks.ids())
    peaks[device] = {timeline.devices[device].peak_at, timeline.devices[device].peak, {}};
  each_held_at_peak(timeline, [&](DeviceId device, TensorId tensor, Bytes bytes, BufferId buffer) {
    MemoryCause cause = causes.of(tensor);
    if (buffer.valid() && is_communication(program.tasks[writers[buffer]].kind))
      cause = when_sent(cause);
    peaks[device].by_cause[static_cast<std::size_t>(cause)] += bytes;
    if (const OpId op = op_of(graph, tensor); is_of_an_op(cause) && op.valid())
      peaks[device].by_op[op] += bytes;
  });
  for (const TaskId id : program.tasks.ids()) {
    const Task& task = program.tasks[id];
    const TaskTimes& times = timeline.tasks[id];
    if (task.kind != TaskKind::Compute && task.kind != TaskKind::Update) continue;
    DevicePeak& peak = peaks[task.device];
    if (times.start <= peak.moment && peak.moment < times.end) peak.running = id;
  }
  if (timeline.is_outline())
    for (const DeviceId device : peaks.ids()) peaks[device] = peaks[timeline.like[device]];
  return peaks;
}

}  // namespace strato
