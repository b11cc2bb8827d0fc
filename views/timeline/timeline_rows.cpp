#include "views/timeline/timeline_rows.h"

#include <algorithm>

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

// Ranks may have many transfers and collectives under way at once: one more lane for each would push
// all else out of sight. What finds no free lane waits for the first that ends.
std::vector<SliceRow> measured_lanes(std::vector<TaskId> tasks, const Timeline& measured) {
  constexpr std::size_t kMostLanes = 3;
  std::erase_if(tasks, [&](TaskId task) {
    return measured.tasks[task].end <= measured.tasks[task].start;
  });
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
    const std::size_t devices = program.cluster->device_count();
    streams.resize(2 * devices);
    links.resize(program.cluster->links().size());
    for (std::size_t t = 0; t < program.tasks.size(); ++t) {
      const Task& task = program.tasks[TaskId(t)];
      bool on_stream = false;
      for (const ResourceId resource : program.resources[t]) {
        const bool stream = resource.index() < 2 * devices;
        auto& list = stream ? streams[resource.index()] : links[resource.index() - 2 * devices];
        list.push_back(TaskId(t));
        on_stream |= stream;
      }
      if (!on_stream && task.device.valid())
        streams[2 * task.device.index() + 1].push_back(TaskId(t));
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
    const std::string& name = result_.timeline->program->cluster->device(device).name;
    const std::size_t stream = 2 * device.index();
    add_slices(RowKind::Compute, name, sorter_.streams[stream], device, {});
    add_slices(RowKind::Communication, "comm", sorter_.streams[stream + 1], device, {});
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

bool shown(const TimelineRow& row, const RowFilter& filter, bool links_section) {
  if (links_section && !filter.links) return false;
  if (row.kind == RowKind::Header) return true;
  if (row.kind == RowKind::Memory && !filter.memory) return false;
  const bool sliced = row.kind != RowKind::Memory;
  if (sliced && filter.step != StepShown::Both &&
      row.measured != (filter.step == StepShown::Measured))
    return false;
  const auto section = static_cast<std::size_t>(row.section);
  return section >= filter.collapsed.size() || !filter.collapsed[section];
}

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
    const auto start =
        static_cast<double>(rows.timeline_of(rows.rows[r]).tasks[task].start.value);
    std::size_t i = slices.first_starting(start, 0);
    while (i < slices.size() && slices.start[i] == static_cast<std::int64_t>(start)) {
      if (slices.task[i] == task) places.push_back({r, i});
      ++i;
    }
  }
  return places;
}

bool any_marked(const std::vector<std::uint32_t>& marked, const Fold& fold) {
  const auto found = std::lower_bound(marked.begin(), marked.end(), fold.first);
  return found != marked.end() && *found < fold.last;
}

std::optional<std::size_t> RowLayout::place_at(int y) const {
  auto found = std::upper_bound(places.begin(), places.end(), y,
                                [](int value, const Place& place) { return value < place.y; });
  if (found == places.begin()) return std::nullopt;
  --found;
  if (y >= found->y + found->height) return std::nullopt;
  return static_cast<std::size_t>(found - places.begin());
}

std::optional<std::size_t> RowLayout::place_of(std::size_t row) const {
  const auto found =
      std::lower_bound(places.begin(), places.end(), row,
                       [](const Place& place, std::size_t r) { return place.row < r; });
  if (found == places.end() || found->row != row) return std::nullopt;
  return static_cast<std::size_t>(found - places.begin());
}

RowLayout layout_rows(const TimelineRows& rows, const RowFilter& filter) {
  RowLayout layout;
  int links = -1;  // the section of the links
  for (const TimelineRow& row : rows.rows) {
    if (row.kind == RowKind::Link) links = row.section;
  }
  DeviceId device;
  for (std::size_t r = 0; r < rows.rows.size(); ++r) {
    const TimelineRow& row = rows.rows[r];
    if (!shown(row, filter, row.section == links)) continue;
    const bool next_device = row.device.valid() && device.valid() && row.device != device;
    if (next_device || (row.kind == RowKind::Header && r > 0)) layout.height += kDeviceGap;
    device = row.device;
    const bool band = row.measured && filter.step == StepShown::Both;
    const int height = row.kind == RowKind::Header ? kHeaderHeight
                       : band                      ? kBandHeight
                                                   : kRowHeight;
    layout.places.push_back({r, layout.height, height});
    layout.height += height;
  }
  layout.height += kDeviceGap;
  return layout;
}

RangeSummary summarise(const TimelineRows& rows, std::int64_t from, std::int64_t to) {
  RangeSummary summary;
  for (const TimelineRow& row : rows.rows) {
    if (row.kind != RowKind::Compute && row.kind != RowKind::Communication) continue;
    if (row.measured) continue;
    const SliceRow& slices = row.slices;
    if (row.kind == RowKind::Compute) {
      ++summary.devices;
      summary.idle += (to - from) - slices.busy_between(from, to);
    }
    for (std::size_t i = slices.first_after(static_cast<double>(from));
         i < slices.size() && slices.start[i] < to; ++i) {
      const std::int64_t time = std::min(to, slices.end[i]) - std::max(from, slices.start[i]);
      ++summary.tasks;
      switch (rows.timeline->program->tasks[slices.task[i]].kind) {
        case TaskKind::Compute:
          summary.compute += time;
          break;
        case TaskKind::Update:
          summary.update += time;
          break;
        case TaskKind::Split:
        case TaskKind::Concat:
        case TaskKind::Sum:
          summary.reshuffle += time;
          break;
        case TaskKind::Transfer:
          summary.transfer += time;
          break;
        default:
          summary.collective += time;
      }
    }
  }
  return summary;
}

}  // namespace strato
