#include "core/sim/simulate.h"

#include <algorithm>
#include <functional>

#include "core/base/error.h"

namespace strato {
namespace {

// Sorting keys packed into one number each, so that a comparison is one subtraction.
using Key = unsigned __int128;

// Of a queue: (priority, ready, id).
Key queue_key(std::int32_t priority, Nanos ready, TaskId id) {
  const auto rank =
      static_cast<std::uint32_t>(static_cast<std::int64_t>(priority) + (std::int64_t{1} << 31));
  return (static_cast<Key>(rank) << 96) | (static_cast<Key>(ready.value) << 32) |
         static_cast<std::uint32_t>(id.value());
}
// Of the running tasks: (end, id).
Key end_key(Nanos end, TaskId id) {
  return (static_cast<Key>(end.value) << 32) | static_cast<std::uint32_t>(id.value());
}
TaskId task_of(Key key) {
  return TaskId(static_cast<std::size_t>(static_cast<std::uint32_t>(key)));
}

class MinHeap {  // keeps its memory when it is cleared
 public:
  bool empty() const { return keys_.empty(); }
  Key top() const { return keys_.front(); }
  void clear() { keys_.clear(); }
  void push(Key key) {
    keys_.push_back(key);
    std::push_heap(keys_.begin(), keys_.end(), std::greater<>());
  }
  void pop() {
    std::pop_heap(keys_.begin(), keys_.end(), std::greater<>());
    keys_.pop_back();
  }

 private:
  std::vector<Key> keys_;
};

}  // namespace

struct Simulator::State {
  struct Resource {
    MinHeap queue;
    bool busy = false;
  };

  void start(const Program& program, Timeline& timeline);
  void count_dependents();
  void run();
  void make_ready(TaskId id);
  void start_first(ResourceId resource);
  void begin(TaskId id);
  void end(TaskId id);
  void release(BufferId buffer);

  const Program* program = nullptr;
  Timeline* timeline = nullptr;
  Nanos now;
  std::size_t ended = 0;
  MinHeap running;
  std::vector<Resource> resources;
  std::vector<ResourceId> touched;    // freed, or with a new task in the queue, at this moment
  std::vector<TaskId> woken;          // became ready at this moment
  std::vector<std::int32_t> waiting;  // by task: dependencies that have not ended
  std::vector<std::uint32_t> dependent_begin;
  std::vector<TaskId> dependents;
  std::vector<std::int32_t> readers;  // by buffer: that have not ended
  std::vector<Bytes> used;            // by device
  std::vector<Nanos> resource_busy;
};

void Simulator::State::start(const Program& p, Timeline& t) {
  program = &p;
  timeline = &t;
  now = Nanos(0);
  ended = 0;
  running.clear();
  touched.clear();
  woken.clear();
  resources.resize(p.resource_count());
  for (Resource& resource : resources) {
    resource.queue.clear();
    resource.busy = false;
  }
  resource_busy.assign(resources.size(), Nanos(0));
  used.assign(p.cluster->device_count(), Bytes(0));
  for (const Resident& resident : p.residents) used[resident.device.index()] += resident.bytes;
  readers.assign(p.buffers.size(), 0);
  for (std::size_t i = 0; i < p.tasks.size(); ++i)
    for (BufferId buffer : p.reads[i]) ++readers[buffer.index()];
  t.tasks.resize(p.tasks.size());
  t.devices.resize(used.size());
  for (std::size_t d = 0; d < used.size(); ++d) {
    DeviceUse& use = t.devices[DeviceId(d)];
    use.resident = use.peak = used[d];
    use.capacity = p.cluster->gpu(DeviceId(d)).memory;
  }
  count_dependents();
}

void Simulator::State::count_dependents() {
  const std::size_t tasks = program->tasks.size();
  waiting.resize(tasks);
  dependent_begin.assign(tasks + 1, 0);
  for (std::size_t i = 0; i < tasks; ++i) {
    const auto dependencies = program->dependencies[i];
    waiting[i] = static_cast<std::int32_t>(dependencies.size());
    for (TaskId dependency : dependencies) ++dependent_begin[dependency.index()];
  }
  std::uint32_t sum = 0;
  for (std::uint32_t& begin : dependent_begin) begin = sum += begin;  // ends, walked back below
  dependents.resize(sum);
  for (std::size_t i = tasks; i-- > 0;)
    for (TaskId dependency : program->dependencies[i])
      dependents[--dependent_begin[dependency.index()]] = TaskId(i);
}

void Simulator::State::make_ready(TaskId id) {
  timeline->tasks[id].ready = now;
  const Key key = queue_key(program->tasks[id].priority, now, id);
  for (ResourceId resource : program->resources[id.index()]) {
    resources[resource.index()].queue.push(key);
    touched.push_back(resource);
  }
}

// Starts the first task of the resource's queue if it is first in all its queues and all are free.
// Which resource is asked first does not matter: two tasks that can start share no resource.
void Simulator::State::start_first(ResourceId resource) {
  const Resource& at = resources[resource.index()];
  if (at.busy || at.queue.empty()) return;
  const Key key = at.queue.top();
  const TaskId id = task_of(key);
  const auto needed = program->resources[id.index()];
  for (ResourceId other : needed)
    if (resources[other.index()].busy || resources[other.index()].queue.top() != key) return;
  for (ResourceId other : needed) {
    resources[other.index()].queue.pop();
    resources[other.index()].busy = true;
    resource_busy[other.index()] += program->tasks[id].duration;
  }
  begin(id);
}

void Simulator::State::begin(TaskId id) {
  const Nanos duration = program->tasks[id].duration;
  CHECK(duration > Nanos(0), "a task takes no time");
  timeline->tasks[id].start = now;
  timeline->tasks[id].end = now + duration;
  running.push(end_key(now + duration, id));
  for (BufferId buffer : program->writes[id.index()]) {
    const Buffer& taken = program->buffers[buffer];
    DeviceUse& use = timeline->devices[taken.device];
    Bytes& bytes = used[taken.device.index()];
    bytes += taken.bytes;
    if (bytes > use.peak) use.peak = bytes, use.peak_at = now;
  }
}

void Simulator::State::release(BufferId buffer) {
  const Buffer& freed = program->buffers[buffer];
  used[freed.device.index()] -= freed.bytes;
}

void Simulator::State::end(TaskId id) {
  ++ended;
  for (ResourceId resource : program->resources[id.index()]) {
    resources[resource.index()].busy = false;
    touched.push_back(resource);
  }
  for (BufferId buffer : program->reads[id.index()])
    if (--readers[buffer.index()] == 0) release(buffer);
  for (BufferId buffer : program->writes[id.index()])
    if (readers[buffer.index()] == 0) release(buffer);
  for (std::uint32_t i = dependent_begin[id.index()]; i < dependent_begin[id.index() + 1]; ++i)
    if (--waiting[dependents[i].index()] == 0) woken.push_back(dependents[i]);
}

void Simulator::State::run() {
  for (std::size_t i = 0; i < program->tasks.size(); ++i)
    if (waiting[i] == 0) woken.push_back(TaskId(i));
  while (true) {
    for (TaskId id : woken) make_ready(id);
    woken.clear();
    for (ResourceId resource : touched) start_first(resource);
    touched.clear();
    if (running.empty()) break;
    now = Nanos(static_cast<std::int64_t>(running.top() >> 32));
    while (!running.empty() && Nanos(static_cast<std::int64_t>(running.top() >> 32)) == now) {
      const TaskId id = task_of(running.top());
      running.pop();
      end(id);
    }
  }
  CHECK(ended == program->tasks.size(), "a task never started");
}

Simulator::Simulator() : state_(std::make_unique<State>()) {}
Simulator::~Simulator() = default;

Timeline Simulator::simulate(std::shared_ptr<const Program> program,
                             const SimulateOptions& options) {
  Timeline timeline;
  timeline.options = options;
  timeline.program = program;
  state_->start(*program, timeline);
  state_->run();
  timeline.step_time = state_->now;
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
    DeviceUse& use = timeline.devices[DeviceId(d)];
    use.compute_busy = state_->resource_busy[program->compute_stream(DeviceId(d)).index()];
    use.communication_busy =
        state_->resource_busy[program->communication_stream(DeviceId(d)).index()];
    timeline.feasible = timeline.feasible && use.fits();
  }
  for (std::size_t l = 0; l < program->cluster->links().size(); ++l)
    timeline.link_busy.push_back(state_->resource_busy[program->link(LinkId(l)).index()]);
  return timeline;
}

}  // namespace strato
