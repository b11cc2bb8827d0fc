#include "core/program/offload/offloading.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/program/value/offload.h"
#include "core/program/value/program_task.h"
#include "core/program/value/sorted_rows.h"

namespace strato {
namespace {

class Offloader {
 public:
  Offloader(Program& program, PartIndex& parts, const Tables& tables)
      : program_(program),
        graph_(*program.graph),
        parts_(parts),
        tables_(tables),
        copies_at_(program.tasks.size()),
        fetch_of_(program.buffers.size(), -1),
        computed_(program.cluster->device_count()),
        ahead_(program.cluster->device_count()) {}

  void run(std::span<const OpId> offloaded) {
    is_offloaded_.resize(graph_.op_count());
    for (const OpId op : offloaded) is_offloaded_[op] = may_offload(graph_, op) ? 1 : 0;
    list_uses();
    for (const TaskId task : program_.tasks.ids()) visit(task);
    if (!copies_.empty()) rebuild();
  }

 private:
  struct Copy {
    Task task;
    BufferId from, to;          // invalid: resident
    std::vector<TaskId> after;  // that it waits for
    std::int32_t out = -1;      // of a Fetch: the copy out, which it waits for, too
    TaskId id = {};             // in the program that is made
  };
  struct Uses {  // of a buffer, in the order of tasks
    TaskId made;
    std::vector<TaskId> changed;  // in place
    bool waits = false;           // a task of the backward pass reads it
    bool sums = false;            // terms are added to it
  };
  struct Ahead {  // what is brought to a device for the backward pass
    std::vector<TaskId> readers;
    TaskId first_wait;
  };

  bool is_backward(const Task& task) const {
    const bool computes = task.kind == TaskKind::Compute || task.kind == TaskKind::Update;
    return task.again || (computes && graph_.op(task.op).phase != Phase::Forward);
  }

  void list_uses() {
    uses_.resize(program_.buffers.size());
    for (const TaskId id : program_.tasks.ids()) {
      const Task& task = program_.tasks[id];
      const bool in_place = program_.writes[id.index()].empty() && !task.keeps;
      for (const BufferId buffer : program_.writes[id.index()]) uses_[buffer].made = id;
      for (const BufferId buffer : program_.reads[id.index()]) {
        Uses& of = uses_[buffer];
        of.waits = of.waits || is_backward(task);
        of.sums = of.sums || (in_place && task.kind == TaskKind::Sum);
        if (in_place && task.kind == TaskKind::AllReduce) of.changed.push_back(id);
      }
    }
  }

  bool goes_out(BufferId id) const {
    const Uses& uses = uses_[id];
    const OpId producer = graph_.tensor(root_of(graph_, program_.buffers[id].tensor)).producer;
    return uses.waits && !uses.sums && producer.valid() && is_offloaded_[producer] &&
           graph_.op(producer).phase == Phase::Forward && !is_backward(program_.tasks[uses.made]) &&
           program_.tasks[uses.made].encoding == Encoding::None;
  }

  void visit(TaskId id) {
    const Task& task = program_.tasks[id];
    if (task.kind == TaskKind::Update) bring_states(id);
    if (is_backward(task)) bring_activations(id);
    if (!is_communication(task.kind)) computed_[task.device].push_back(id);
  }

  // ---- activations

  void bring_activations(TaskId reader) {
    const std::size_t before = copies_.size();
    for (const BufferId buffer : program_.reads[reader.index()])
      if (fetch_of_[buffer] < 0 && goes_out(buffer)) {
        const std::int32_t out = copy_out(buffer);
        const BufferId kept = copies_[static_cast<std::size_t>(out)].to;
        Buffer brought = program_.buffers[kept];
        brought.on_host = false;
        Copy fetch{copy_task(TaskKind::Fetch, brought), kept, make_buffer(brought), {}, out};
        fetch_of_[buffer] = add(std::move(fetch), reader, Place::Before);
      }
    if (copies_.size() > before) limit_ahead(reader, before);
  }

  std::int32_t copy_out(BufferId buffer) {
    const Uses& uses = uses_[buffer];
    Buffer kept = program_.buffers[buffer];
    if (!uses.changed.empty()) kept.part = parts_.find(program_.parts[kept.part].total());
    kept.on_host = true;
    Copy out{copy_task(TaskKind::Offload, kept), buffer, make_buffer(kept), {uses.made}};
    out.after.insert(out.after.end(), uses.changed.begin(), uses.changed.end());
    const TaskId last = out.after.back();
    return add(std::move(out), last, Place::After);
  }

  // Those that were added since `first` are for this reader, which may read on several devices.
  void limit_ahead(TaskId reader, std::size_t first) {
    constexpr std::size_t kAhead = 2;
    for (std::size_t i = first; i < copies_.size(); ++i) {
      if (copies_[i].task.kind != TaskKind::Fetch) continue;
      Ahead& ahead = ahead_[copies_[i].task.device];
      const std::vector<TaskId>& computed = computed_[copies_[i].task.device];
      if (ahead.readers.empty() && computed.size() >= kAhead)
        ahead.first_wait = computed[computed.size() - kAhead];
      if (ahead.readers.empty() || ahead.readers.back() != reader) ahead.readers.push_back(reader);
      const std::size_t place = ahead.readers.size() - 1;
      const TaskId wait = place < kAhead ? ahead.first_wait : ahead.readers[place - kAhead];
      if (wait.valid()) copies_[i].after.push_back(wait);
    }
  }

  // ---- optimizer states

  void bring_states(TaskId update) {
    const ProgramTask at{program_, update};
    const DeviceId device = at.task().device;
    if (!is_offloaded_[at.task().op]) return;
    const std::vector<Part> needed = input_parts(at);
    for (std::size_t i = 0; i < at.op().inputs.size(); ++i) {
      const TensorId state = at.op().inputs[i];
      if (!state.valid() || graph_.tensor(state).role != TensorRole::OptimizerState) continue;
      for (Resident& resident : residents_of(state, device))
        if (program_.part_of(resident) == needed[i]) bring_state(update, resident);
    }
  }
  std::span<Resident> residents_of(TensorId tensor, DeviceId device) {
    const std::span<const Resident> found = program_.residents_of(tensor, device);
    return {program_.residents.data() + (found.data() - program_.residents.data()), found.size()};
  }

  void bring_state(TaskId update, Resident& resident) {
    resident.on_host = true;
    const Buffer brought{resident.tensor, resident.device, resident.bytes, resident.part, false};
    const BufferId here = make_buffer(brought);
    const auto waits = program_.dependencies[update.index()];
    const auto task = [&](TaskKind kind) {
      Task copy = copy_task(kind, brought);
      copy.op = program_.tasks[update].op;
      return copy;
    };
    add({task(TaskKind::Fetch), {}, here, {waits.begin(), waits.end()}}, update, Place::Before);
    states_.push_back({update, std::ssize(copies_) - 1});
    add({task(TaskKind::Offload), here, {}, {update}}, update, Place::After);
  }

  // ---- copies

  enum class Place : std::uint8_t { Before, After };

  BufferId make_buffer(const Buffer& buffer) {
    program_.buffers.push_back(buffer);
    return BufferId(program_.buffers.size() - 1);
  }

  Path way(TaskKind kind, DeviceId device) const {
    const Cluster& cluster = *program_.cluster;
    const Path path =
        kind == TaskKind::Offload ? cluster.path_to_host(device) : cluster.path_from_host(device);
    if (!path.links.empty()) return path;
    const Machine& machine = cluster.machines()[cluster.device(device).machine];
    const bool has_memory = machine.host_memory > Bytes(0);
    throw InputError("", fmt::format("machine \"{}\"", machine.name),
                     fmt::format("has no \"{}\", and the strategy keeps something on its host",
                                 has_memory ? "host_link" : "host_memory_bytes"),
                     "give it one in the cluster file, or keep nothing on the host");
  }

  Task copy_task(TaskKind kind, const Buffer& copied) const {
    const Path path = way(kind, copied.device);
    Task task;
    task.kind = kind;
    task.op = tables_.tensors[copied.tensor].op;
    task.tensor = copied.tensor;
    task.device = copied.device;
    task.part = copied.part;
    task.bytes = copied.bytes;
    task.duration = std::max(Nanos(1), tables_.cost->transfer(path, copied.bytes));
    task.latency = std::min(path.latency, task.duration);
    return task;
  }

  // It is of the same micro-batch as that task, and as urgent.
  std::int32_t add(Copy copy, TaskId beside, Place place) {
    copy.task.priority = program_.tasks[beside].priority;
    copy.task.micro = program_.tasks[beside].micro;
    const auto index = static_cast<std::int32_t>(copies_.size());
    (place == Place::Before ? copies_at_[beside].before : copies_at_[beside].after)
        .push_back(index);
    copies_.push_back(std::move(copy));
    return index;
  }

  // ---- the program with the copies

  struct CopiesAt {
    std::vector<std::int32_t> before, after;
  };

  void rebuild() {
    const Program old = std::exchange(program_, emptied(program_));
    new_id_.resize(old.tasks.size());
    std::size_t state = 0;
    for (const TaskId id : old.tasks.ids()) {
      for (const std::int32_t copy : copies_at_[id].before) emit_copy(copy);
      for (const TaskId dependency : old.dependencies[id.index()])
        dependencies_.push_back(new_id_[dependency]);
      const bool backward = is_backward(old.tasks[id]);
      for (const BufferId buffer : old.reads[id.index()])
        if (backward && fetch_of_[buffer] >= 0)
          read_fetched(fetch_of_[buffer]);
        else
          reads_.push_back(buffer);
      for (; state < states_.size() && states_[state].first == id; ++state)
        read_fetched(static_cast<std::int32_t>(states_[state].second));
      new_id_[id] = commit(old.tasks[id], old.resources[id.index()], old.writes[id.index()]);
      for (const std::int32_t copy : copies_at_[id].after) emit_copy(copy);
    }
  }

  // All that is not by task.
  static Program emptied(const Program& of) {
    Program result;
    result.graph = of.graph;
    result.cluster = of.cluster;
    result.micro_batches = of.micro_batches;
    result.is_outline = of.is_outline;
    result.issues_after_transfers = of.issues_after_transfers;
    result.stage_of = of.stage_of;
    result.buffers = of.buffers;
    result.parts = of.parts;
    result.residents = of.residents;
    return result;
  }

  void read_fetched(std::int32_t copy) {
    reads_.push_back(copies_[static_cast<std::size_t>(copy)].to);
    dependencies_.push_back(copies_[static_cast<std::size_t>(copy)].id);
  }

  void emit_copy(std::int32_t index) {
    Copy& copy = copies_[static_cast<std::size_t>(index)];
    for (const TaskId task : copy.after) dependencies_.push_back(new_id_[task]);
    if (copy.out >= 0) dependencies_.push_back(copies_[static_cast<std::size_t>(copy.out)].id);
    if (copy.from.valid()) reads_.push_back(copy.from);
    std::vector<ResourceId> links;
    for (const LinkId link : way(copy.task.kind, copy.task.device).links)
      links.push_back(program_.link(link));
    const BufferId to = copy.to;
    copy.id =
        commit(copy.task, links, to.valid() ? std::span(&to, 1) : std::span<const BufferId>());
  }

  TaskId commit(const Task& task, std::span<const ResourceId> resources,
                std::span<const BufferId> writes) {
    program_.tasks.push_back(task);
    program_.resources.push_row(resources);
    program_.writes.push_row(writes);
    push_sorted_unique(dependencies_, program_.dependencies);
    push_sorted_unique(reads_, program_.reads);
    dependencies_.clear();
    reads_.clear();
    return TaskId(program_.tasks.size() - 1);
  }

  Program& program_;
  const Graph& graph_;
  PartIndex& parts_;
  const Tables& tables_;
  IdVector<OpId, char> is_offloaded_;
  IdVector<BufferId, Uses> uses_;
  std::vector<Copy> copies_;
  IdVector<TaskId, CopiesAt> copies_at_;                   // by the task beside which they stand
  IdVector<BufferId, std::int32_t> fetch_of_;              // in copies_; -1: it stays
  std::vector<std::pair<TaskId, std::ptrdiff_t>> states_;  // updates, with the copy of a state
  IdVector<DeviceId, std::vector<TaskId>> computed_;       // so far
  IdVector<DeviceId, Ahead> ahead_;
  IdVector<TaskId, TaskId> new_id_;
  std::vector<TaskId> dependencies_;  // of the next task
  std::vector<BufferId> reads_;
};

}  // namespace

void offload(Program& program, PartIndex& parts, const Tables& tables,
             std::span<const OpId> offloaded) {
  for (const OpId op : offloaded)
    if (tables.graph->op(op).phase == Phase::Backward)
      throw InputError("", fmt::format("op \"{}\"", tables.graph->op(op).name),
                       "is offloaded, and is of the backward pass, behind which nothing waits",
                       "offload ops of the forward pass, and updates");
  Offloader(program, parts, tables).run(offloaded);
}

}  // namespace strato
