#include "tests/property/random_program.h"

#include <algorithm>
#include <set>

namespace strato {
namespace {

class Maker {
 public:
  Maker(const RandomProgramOptions& options, Random& random, Program& program)
      : options_(options), random_(random), program_(program) {}

  void run() {
    program_.issues_after_transfers = options_.awaits_transfers;
    for (std::size_t i = 0; i < options_.tasks; ++i) add_task(i);
    for (std::size_t d = 0; d < devices(); ++d)
      program_.residents.push_back({TensorId(0), DeviceId(d), Bytes(1 + below(50))});
  }

 private:
  std::size_t devices() const { return program_.cluster->device_count(); }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(bound)));
  }
  DeviceId any_device() { return DeviceId(random_.below(devices())); }
  template <class T>
  void push_row(const std::set<T>& values, Rows<T>& rows) {
    for (const T value : values) rows.push(value);
    rows.end_row();
  }

  void add_task(std::size_t i) {
    Task task;
    task.op = OpId(0);
    task.device = any_device();
    task.duration = Nanos(1 + below(options_.longest));
    task.priority = static_cast<std::int32_t>(below(options_.priorities)) - options_.priorities / 2;
    if (options_.issue > 0) task.issue = static_cast<std::int32_t>(below(options_.issue));
    std::set<ResourceId> resources;
    const std::uint64_t kind = random_.below(5);
    if (kind < 3) {
      resources = {program_.compute_stream(task.device)};
    } else {
      if (kind == 4)
        for (std::uint64_t n = random_.below(3) + 1; n > 0; --n)
          resources.insert(program_.communication_stream(any_device()));
      for (std::uint64_t n = random_.below(4) + (kind == 3); n > 0; --n)
        resources.insert(program_.link(LinkId(random_.below(program_.cluster->links().size()))));
      task.kind = kind == 3 ? TaskKind::Transfer : TaskKind::AllReduce;
      task.tensor = TensorId(0);
      task.latency = Nanos(below(task.duration.value + 1));
    }
    program_.tasks.push_back(task);
    push_row(resources, program_.resources);
    add_dependencies(i);
    add_buffers(i);
  }

  void add_dependencies(std::size_t i) {
    std::set<TaskId> dependencies;
    for (std::uint64_t n = random_.below(4); n > 0 && i > 0; --n)
      dependencies.insert(TaskId(i - 1 - random_.below(std::min(i, options_.recent))));
    push_row(dependencies, program_.dependencies);
  }

  // Reads what dependencies wrote, so that nothing is read before it is there. What computes reads
  // and writes on its own device, as the verifier demands.
  void add_buffers(std::size_t i) {
    const Task& task = program_.tasks[TaskId(i)];
    const bool computes = !is_communication(task.kind);
    std::set<BufferId> reads;
    for (const TaskId dependency : program_.dependencies[i])
      for (const BufferId buffer : program_.writes[dependency.index()])
        if (random_.below(4) > 0 && (!computes || program_.buffers[buffer].device == task.device))
          reads.insert(buffer);
    push_row(reads, program_.reads);
    for (std::uint64_t n = random_.below(3); n > 0; --n) {
      program_.writes.push(program_.buffers.next_id());
      program_.buffers.push_back(
          {TensorId(0), computes ? task.device : any_device(), Bytes(1 + below(9))});
    }
    program_.writes.end_row();
  }

  const RandomProgramOptions& options_;
  Random& random_;
  Program& program_;
};

}  // namespace

Program random_program(std::shared_ptr<const Graph> graph, std::shared_ptr<const Cluster> cluster,
                       const RandomProgramOptions& options, Random& random) {
  Program program;
  program.graph = std::move(graph);
  program.cluster = std::move(cluster);
  Maker(options, random, program).run();
  return program;
}

}  // namespace strato
