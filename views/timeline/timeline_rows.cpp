#include "views/timeline/timeline_rows.h"

#include <algorithm>

#include "core/sim/explain/critical_path.h"

namespace strato {
namespace {

using TaskLists = std::vector<std::vector<TaskId>>;  // one per row to be

void sort_by_start(std::vector<TaskId>& tasks, const Timeline& timeline) {
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    const Nanos x = timeline.tasks[a].start, y = timeline.tasks[b].start;
    return x != y ? x < y : a < b;
  });
}

// Greedy lanes: mostly one, more only where tasks overlap.
std::vector<SliceRow> lanes_of(std::vector<TaskId> tasks, const Timeline& timeline) {
  sort_by_start(tasks, timeline);
  std::vector<SliceRow> lanes(1);
  for (const TaskId task : tasks) {
    const TaskTimes& times = timeline.tasks[task];
    auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const SliceRow& row) {
      return row.size() == 0 || row.end.back() <= times.start.value;
    });
    if (lane == lanes.end()) lane = lanes.emplace(lanes.end());
    lane->add(times.start.value, times.end.value, task);
  }
  return lanes;
}

// Ranks may have many transfers and collectives under way at once: one more lane for each would
// push all else out of sight. What finds no free lane waits for the first that ends.
std::vector<SliceRow> measured_lanes(std::vector<TaskId> tasks, const Timeline& measured) {
  constexpr std::size_t kMostLanes = 3;
  std::erase_if(
      tasks, [&](TaskId task) { return measured.tasks[task].end <= measured.tasks[task].start; });
  sort_by_start(tasks, measured);
  std::vector<SliceRow> lanes(1);
  const auto free_from = [](const SliceRow& lane) {
    return lane.size() == 0 ? std::int64_t{0} : lane.end.back();
  };
  for (const TaskId task : tasks) {
    const TaskTimes& times = measured.tasks[task];
    auto lane = std::ranges::min_element(lanes, {}, free_from);
    if (free_from(*lane) > times.start.value && lanes.size() < kMostLanes)
      lane = lanes.emplace(lanes.end());
    const std::int64_t start = std::max(times.start.value, free_from(*lane));
    if (start < times.end.value) lane->add(start, times.end.value, task);
  }
  return lanes;
}

struct Sorter {  // tasks to the rows that show them
  TaskLists streams, links;

  explicit Sorter(const Timeline& timeline) {
    const Program& program = *timeline.program;
    streams.resize(program.stream_count());
    links.resize(program.cluster->links().size());
    for (std::size_t t = 0; t < program.tasks.size(); ++t) {
      const Task& task = program.tasks[TaskId(t)];
      bool on_stream = false;
      for (const ResourceId resource : program.resources[t]) {
        const bool stream = !program.is_link(resource);
        auto& list = stream ? streams[resource.index()] : links[program.link_of(resource).index()];
        list.push_back(TaskId(t));
        on_stream |= stream;
      }
      if (!on_stream && task.device.valid())
        streams[program.communication_stream(task.device).index()].push_back(TaskId(t));
    }
  }
};

class Maker {
 public:
  Maker(std::shared_ptr<const Timeline> timeline, std::shared_ptr<const Timeline> measured)
      : sorter_(*timeline) {
    result_.timeline = std::move(timeline);
    result_.measured = std::move(measured);
    result_.memory = memory_curves(*result_.timeline);
    result_.critical = critical_path(*result_.timeline);
    for (const Task& task : result_.timeline->program->tasks)
      result_.communication.push_back(is_communication(task.kind));
  }

  TimelineRows make() {
    const Cluster& cluster = *result_.timeline->program->cluster;
    for (std::size_t m = 0; m < cluster.machines().size(); ++m) {
      header(cluster.machines()[MachineId(m)].name);
      for (std::size_t d = 0; d < cluster.device_count(); ++d) {
        if (cluster.device(DeviceId(d)).machine.index() == m) add_device(DeviceId(d));
      }
    }
    add_links(cluster);
    for (const TimelineRow& row : result_.rows) result_.slice_count += row.slices.size();
    for (const CriticalStep& step : result_.critical) {
      auto& places = result_.critical_places.emplace_back(places_of(result_, step.task));
      std::erase_if(places, [&](const RowSlice& at) { return result_.rows[at.row].measured; });
    }
    return std::move(result_);
  }

 private:
  void header(std::string label) {
    TimelineRow row;
    row.section = result_.sections++;
    row.label = std::move(label);
    result_.rows.push_back(std::move(row));
  }

  TimelineRow& add(RowKind kind, std::string label) {
    TimelineRow row;
    row.kind = kind;
    row.section = result_.sections - 1;
    row.label = std::move(label);
    return result_.rows.emplace_back(std::move(row));
  }

  // The tasks of one stream or link, as simulated and as measured.
  void add_slices(RowKind kind, const std::string& label, const std::vector<TaskId>& tasks,
                  DeviceId device, LinkId link) {
    const auto fill = [&](SliceRow& lane, bool measured) {
      TimelineRow& row = add(kind, label);
      row.device = device;
      row.link = link;
      row.slices = std::move(lane);
      row.measured = measured;
    };
    for (SliceRow& lane : lanes_of(tasks, *result_.timeline)) fill(lane, false);
    if (!result_.measured) return;
    for (SliceRow& lane : measured_lanes(tasks, *result_.measured)) fill(lane, true);
  }

  void add_device(DeviceId device) {
    const Program& program = *result_.timeline->program;
    const auto tasks_on = [&](Stream stream) -> const std::vector<TaskId>& {
      return sorter_.streams[program.stream(device, stream).index()];
    };
    const std::vector<TaskId>& in_rows = tasks_on(Stream::TensorCommunication);
    add_slices(RowKind::Compute, program.cluster->device(device).name, tasks_on(Stream::Compute),
               device, {});
    add_slices(RowKind::Communication, "comm", tasks_on(Stream::Communication), device, {});
    if (!in_rows.empty()) add_slices(RowKind::Communication, "tensor comm", in_rows, device, {});
    add(RowKind::Memory, "memory").device = device;
  }

  void add_links(const Cluster& cluster) {
    bool first = true;
    for (std::size_t l = 0; l < cluster.links().size(); ++l) {
      if (sorter_.links[l].empty()) continue;
      if (std::exchange(first, false)) header("links");
      add_slices(RowKind::Link, cluster.links()[LinkId(l)].name, sorter_.links[l], {}, LinkId(l));
    }
  }

  Sorter sorter_;
  TimelineRows result_;
};

}  // namespace

TimelineRows make_rows(std::shared_ptr<const Timeline> timeline,
                       std::shared_ptr<const Timeline> measured) {
  return Maker(std::move(timeline), std::move(measured)).make();
}

std::vector<RowSlice> places_of(const TimelineRows& rows, TaskId task) {
  std::vector<RowSlice> places;
  for (std::size_t r = 0; r < rows.rows.size(); ++r) {
    const SliceRow& slices = rows.rows[r].slices;
    if (slices.size() == 0) continue;
    const auto start = static_cast<double>(rows.timeline_of(rows.rows[r]).tasks[task].start.value);
    std::size_t i = slices.first_starting(start, 0);
    while (i < slices.size() && slices.start[i] == static_cast<std::int64_t>(start)) {
      if (slices.task[i] == task) places.push_back({r, i});
      ++i;
    }
  }
  return places;
}

std::vector<TaskId> dependents_of(const Program& program, TaskId task) {
  std::vector<TaskId> found;
  for (std::size_t t = task.index() + 1; t < program.tasks.size(); ++t) {
    const auto needs = program.dependencies[t];
    if (std::ranges::binary_search(needs, task)) found.emplace_back(t);
  }
  return found;
}

bool any_marked(const std::vector<std::uint32_t>& marked, const SliceFold& fold) {
  const auto found = std::lower_bound(marked.begin(), marked.end(), fold.first);
  return found != marked.end() && *found < fold.last;
}

}  // namespace strato
