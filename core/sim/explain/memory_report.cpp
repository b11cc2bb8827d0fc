#include "core/sim/explain/memory_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "core/base/quantity_text.h"
#include "core/sim/memory/memory_account.h"

namespace strato {
namespace {

// A buffer of one device in time.
struct HeldBuffer {
  BufferId buffer;
  TensorId tensor;
  Bytes bytes;
  TaskId made_by, held_for;  // its writer and its last reader
  Nanos begin, end;
  // A forward op's output that the backward pass reads only waits in this time, and could be
  // dropped and computed again. Empty for all others.
  Nanos kept_from, kept_until;

  bool is_alive(Nanos moment) const { return begin <= moment && moment < end; }
};

bool is_backward(const Program& program, TaskId id) {
  const Task& task = program.tasks[id];
  return task.kind == TaskKind::Compute && program.graph->op(task.op).phase == Phase::Backward;
}

bool may_be_recomputed(const Program& program, const HeldBuffer& held) {
  const Task& writer = program.tasks[held.made_by];
  return writer.kind == TaskKind::Compute && program.graph->op(writer.op).phase == Phase::Forward &&
         program.graph->tensor(held.tensor).role == TensorRole::Activation;
}

std::vector<HeldBuffer> held_buffers(const Timeline& timeline, DeviceId device) {
  const Program& program = *timeline.program;
  const auto lives = lifetimes(timeline);
  std::vector<std::int32_t> at(lives.size(), -1);
  std::vector<HeldBuffer> held;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const Buffer& buffer = program.buffers[BufferId(i)];
    if (buffer.device != device || buffer.on_host || buffer.passed_on) continue;
    const auto [taken_by, released_by] = lives[BufferId(i)];
    const TaskTimes& made = timeline.tasks[taken_by];
    const Nanos end = timeline.tasks[released_by].end;
    at[i] = static_cast<std::int32_t>(held.size());
    held.push_back({BufferId(i), buffer.tensor, buffer.bytes, taken_by, released_by, made.start,
                    end, made.end, end});
  }
  for (std::size_t i = 0; i < program.tasks.size(); ++i)
    for (BufferId buffer : program.reads[i]) {
      if (at[buffer.index()] < 0) continue;
      HeldBuffer& each = held[static_cast<std::size_t>(at[buffer.index()])];
      const TaskTimes& times = timeline.tasks[TaskId(i)];
      if (is_backward(program, TaskId(i))) {
        each.kept_until = std::min(each.kept_until, times.start);
      } else {
        each.kept_from = std::max(each.kept_from, times.end);
      }
    }
  for (HeldBuffer& each : held)
    if (!is_backward(program, each.held_for) || !may_be_recomputed(program, each) ||
        each.kept_from >= each.kept_until)
      each.kept_from = each.kept_until = each.end;
  return held;
}

// The peak without residents, when the `dropped` ones (indices into `buffers`) do not count while
// they only wait.
Bytes peak_of(std::span<const HeldBuffer> buffers, std::span<const std::size_t> dropped = {}) {
  std::vector<MemoryEvent> events;
  const auto hold = [&](Nanos begin, Nanos end, Bytes bytes) {
    if (begin >= end) return;
    events.push_back(MemoryEvent::take(begin, bytes));
    events.push_back(MemoryEvent::release(end, bytes));
  };
  std::vector<bool> drop(buffers.size());
  for (const std::size_t i : dropped) drop[i] = true;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const HeldBuffer& held = buffers[i];
    hold(held.begin, drop[i] ? held.kept_from : held.end, held.bytes);
    if (drop[i]) hold(held.kept_until, held.end, held.bytes);
  }
  std::sort(events.begin(), events.end());
  MemoryPeak peak;
  for (const MemoryEvent& event : events) peak.add(event);
  return peak.bytes();
}

struct Advice {
  Bytes frees;
  std::string text;
};

// Figures "about" leave out what only a simulation of the other strategy would show; the others
// follow from this timeline.
class Advisor {
 public:
  Advisor(const Timeline& timeline, const MemoryReport& report, std::span<const HeldBuffer> held,
          const Grouping* grouping)
      : timeline_(timeline),
        program_(*timeline.program),
        report_(report),
        held_(held),
        grouping_(grouping),
        lacks_(report.peak - report.capacity) {}

  std::vector<std::string> advice() {
    fewer_samples();
    recompute();
    share_resident(TensorRole::OptimizerState, "optimizer state");
    share_resident(TensorRole::Parameter, "parameters");
    more_devices();
    two_devices();
    send_gradients_sooner();
    std::ranges::stable_sort(advice_, std::greater(), &Advice::frees);
    std::vector<std::string> texts;
    for (const Advice& each : advice_)
      texts.push_back(each.text +
                      (each.frees >= lacks_
                           ? ": enough"
                           : fmt::format("; still {} over", bytes_text(lacks_ - each.frees))));
    return texts;
  }

 private:
  void add(Bytes frees, std::string text) {
    if (frees > Bytes(0)) advice_.push_back({frees, std::move(text)});
  }
  TensorRole role_of(TensorId tensor) const { return program_.graph->tensor(tensor).role; }
  // At the peak, and larger with more samples.
  bool grows(const HeldBuffer& held) const {
    return held.is_alive(report_.moment) &&
           program_.graph->tensor(held.tensor).batch.kind == BatchKind::Batched;
  }

  // Samples that the device computes at once, and what of the peak grows with them.
  void fewer_samples() {
    std::int64_t samples = 0;
    for (const Task& task : program_.tasks)
      if (task.kind == TaskKind::Compute && task.device == report_.device)
        samples = std::max(samples, program_.samples_of(task));
    Bytes growing;
    for (const HeldBuffer& held : held_)
      if (grows(held)) growing += held.bytes;
    if (samples < 2 || growing == Bytes(0)) return;
    const double fit = 1 - lacks_ / growing;
    const std::int64_t fewer = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(fit * static_cast<double>(samples)), 1, samples - 1);
    const Bytes frees(
        static_cast<std::int64_t>(static_cast<double>(growing.value) *
                                  (1 - static_cast<double>(fewer) / static_cast<double>(samples))));
    add(frees,
        fmt::format("{} {} instead of {} on this device {} about {}",
                    fewer == 1 ? "one" : fmt::to_string(fewer), fewer == 1 ? "sample" : "samples",
                    samples, fewer == 1 ? "frees" : "free", bytes_text(frees)));
  }

  // Lists the fewest of the largest activations waiting for the backward pass that would make it
  // fit.
  void recompute() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < held_.size(); ++i)
      if (held_[i].kept_from <= report_.moment && report_.moment < held_[i].kept_until)
        order.push_back(i);
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return held_[i].bytes; });
    if (order.empty()) return;
    const Bytes peak = peak_of(held_);
    const auto frees = [&](std::size_t count) {
      return peak - peak_of(held_, std::span(order).first(count));
    };
    // All of them when that is not enough.
    std::size_t low = 1, high = order.size();
    while (low < high) {
      const std::size_t middle = std::midpoint(low, high);
      frees(middle) < lacks_ ? low = middle + 1 : high = middle;
    }
    Nanos costs;
    std::string names;
    for (std::size_t i = 0; i < low; ++i) {
      const TaskId made_by = held_[order[i]].made_by;
      costs += timeline_.tasks[made_by].end - timeline_.tasks[made_by].start;
      if (i < 3) names += (i > 0 ? ", " : "") + program_.graph->op(program_.tasks[made_by].op).name;
    }
    add(frees(low),
        fmt::format("computing again what {}{} made, instead of keeping it for the backward pass, "
                    "frees {} and costs {} of computing or more",
                    names, low > 3 ? fmt::format(" and {} more ops", low - 3) : "",
                    bytes_text(frees(low)), time_text(costs)));
  }

  // Each of k devices that hold the same keeps a k-th.
  void share_resident(TensorRole role, const char* what) {
    using Held = std::pair<TensorId, PartId>;
    std::map<Held, std::set<DeviceId>> homes;
    std::map<Held, Bytes> here;
    for (const Resident& resident : program_.residents) {
      if (role_of(resident.tensor) != role || resident.on_host) continue;
      const Held held{resident.tensor, resident.part};
      homes[held].insert(resident.device);
      if (resident.device == report_.device) here[held] += resident.bytes;
    }
    Bytes frees;
    std::int64_t devices = 0;
    for (const auto& [held, bytes] : here) {
      const std::int64_t holders = std::ssize(homes[held]);
      frees += bytes - bytes / holders;
      devices = std::max(devices, holders);
    }
    add(frees, fmt::format("sharding the {} over the {} devices that hold it frees {}", what,
                           devices, bytes_text(frees)));
  }

  GroupId group_of(TensorId id) const {
    const Tensor& tensor = program_.graph->tensor(id);
    if (tensor.producer.valid()) return grouping_->group_of(tensor.producer);
    const auto consumers = program_.graph->consumers(id);
    return consumers.empty() ? GroupId() : grouping_->group_of(consumers.front());
  }

  std::int64_t devices_of(GroupId group) const {
    std::vector<bool> used(program_.cluster->device_count());
    for (const Task& task : program_.tasks)
      if (task.kind == TaskKind::Compute && grouping_->group_of(task.op) == group)
        used[task.device.index()] = true;
    return std::ranges::count(used, true);
  }

  // The op group that holds most, on twice as many devices.
  void more_devices() {
    if (grouping_ == nullptr) return;
    IdVector<GroupId, Bytes> batched(grouping_->size());
    for (const HeldBuffer& held : held_)
      if (const GroupId group = group_of(held.tensor); grows(held) && group.valid())
        batched[group] += held.bytes;
    const auto most = std::ranges::max_element(batched);
    if (most == batched.end() || *most == Bytes(0)) return;
    const GroupId group(static_cast<std::size_t>(most - batched.begin()));
    const std::int64_t devices = devices_of(group);
    const auto all = static_cast<std::int64_t>(program_.cluster->device_count());
    if (devices < 1 || devices >= all) return;
    const std::int64_t more = std::min(all, 2 * devices);
    const Bytes frees = *most - *most * devices / more;
    add(frees, fmt::format("op group {}, whose samples take {} here, on {} devices instead of {} "
                           "frees about {}",
                           grouping_->group(group).name, bytes_text(*most), more, devices,
                           bytes_text(frees)));
  }

  // Half of everything to the emptiest device, when there is one with room for each that is too
  // small.
  void two_devices() {
    const Bytes half = report_.peak / 2;
    DeviceId emptiest;
    Bytes room;
    std::size_t overfull = 0, roomy = 0;
    for (std::size_t d = 0; d < timeline_.devices.size(); ++d) {
      const DeviceUse& use = timeline_.devices[DeviceId(d)];
      const Bytes left = use.capacity - use.peak;
      overfull += left < Bytes(0) ? 1 : 0;
      roomy += left >= half ? 1 : 0;
      if (left <= room) continue;
      emptiest = DeviceId(d);
      room = left;
    }
    if (!emptiest.valid() || room < half || roomy < overfull) return;
    add(half,
        fmt::format("dividing this device's ops with {} (model parallel), which has {} left, "
                    "frees about {}",
                    program_.cluster->device(emptiest).name, bytes_text(room), bytes_text(half)));
  }

  // Gradients that are there and wait for the network.
  void send_gradients_sooner() {
    std::map<BufferId, Bytes> waiting, gradients;
    for (const HeldBuffer& held : held_)
      if (held.is_alive(report_.moment) && role_of(held.tensor) == TensorRole::Gradient)
        gradients[held.buffer] = held.bytes;
    for (std::size_t i = 0; i < program_.tasks.size(); ++i) {
      const TaskTimes& times = timeline_.tasks[TaskId(i)];
      if (!is_communication(program_.tasks[TaskId(i)].kind) || times.ready > report_.moment ||
          times.start <= report_.moment)
        continue;
      for (BufferId buffer : program_.reads[i])
        if (const auto it = gradients.find(buffer); it != gradients.end()) waiting.insert(*it);
    }
    Bytes frees;
    for (const auto& [buffer, bytes] : waiting) frees += bytes;
    add(frees,
        fmt::format("gradients of {} wait for the network at that moment: sent sooner, or over "
                    "faster links, they free at most that",
                    bytes_text(frees)));
  }

  const Timeline& timeline_;
  const Program& program_;
  const MemoryReport& report_;
  std::span<const HeldBuffer> held_;
  const Grouping* grouping_;
  Bytes lacks_;
  std::vector<Advice> advice_;
};

std::vector<MemoryReport::Held> alive_then(const Timeline& timeline, const MemoryReport& report,
                                           std::span<const HeldBuffer> buffers) {
  std::vector<MemoryReport::Held> alive;
  for (const Resident& resident : timeline.program->residents)
    if (resident.device == report.device && !resident.on_host)
      alive.push_back({resident.tensor, resident.bytes, true, {}, {}});
  for (const HeldBuffer& held : buffers)
    if (held.is_alive(report.moment))
      alive.push_back({held.tensor, held.bytes, false, held.made_by, held.held_for});
  std::ranges::stable_sort(alive, std::greater(), &MemoryReport::Held::bytes);
  return alive;
}

}  // namespace

MemoryReport memory_report(const Timeline& timeline, DeviceId device, const Grouping* grouping) {
  constexpr std::size_t shown = 10;
  const DeviceUse& use = timeline.devices[device];
  MemoryReport report{device, use.peak_at, use.peak, use.capacity};
  const std::vector<HeldBuffer> buffers = held_buffers(timeline, device);
  report.largest = alive_then(timeline, report, buffers);
  for (const MemoryReport::Held& held : report.largest) {
    const TensorRole role = timeline.program->graph->tensor(held.tensor).role;
    report.by_role[static_cast<std::size_t>(role)] += held.bytes;
  }
  if (report.largest.size() > shown) report.largest.resize(shown);
  if (!use.fits()) report.advice = Advisor(timeline, report, buffers, grouping).advice();
  return report;
}

}  // namespace strato
