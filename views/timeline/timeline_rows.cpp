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
  explicit Maker(std::shared_ptr<const Timeline> timeline) : sorter_(*timeline) {
    result_.timeline = std::move(timeline);
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
      result_.critical_places.push_back(places_of(result_, step.task));
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

  void add_device(DeviceId device) {
    const std::string& name = result_.timeline->program->cluster->device(device).name;
    for (const RowKind kind : {RowKind::Compute, RowKind::Communication}) {
      const std::size_t stream = 2 * device.index() + (kind == RowKind::Communication ? 1 : 0);
      for (SliceRow& lane : lanes_of(std::move(sorter_.streams[stream]), *result_.timeline)) {
        TimelineRow& row = add(kind, kind == RowKind::Compute ? name : "comm");
        row.device = device;
        row.slices = std::move(lane);
      }
    }
    add(RowKind::Memory, "memory").device = device;
  }

  void add_links(const Cluster& cluster) {
    bool first = true;
    for (std::size_t l = 0; l < cluster.links().size(); ++l) {
      if (sorter_.links[l].empty()) continue;
      if (std::exchange(first, false)) header("links");
      for (SliceRow& lane : lanes_of(std::move(sorter_.links[l]), *result_.timeline)) {
        TimelineRow& row = add(RowKind::Link, cluster.links()[LinkId(l)].name);
        row.link = LinkId(l);
        row.slices = std::move(lane);
      }
    }
  }

  Sorter sorter_;
  TimelineRows result_;
};

bool shown(const TimelineRow& row, const RowFilter& filter, bool links_section) {
  if (links_section && !filter.links) return false;
  if (row.kind == RowKind::Header) return true;
  if (row.kind == RowKind::Memory && !filter.memory) return false;
  const auto section = static_cast<std::size_t>(row.section);
  return section >= filter.collapsed.size() || !filter.collapsed[section];
}

}  // namespace

TimelineRows make_rows(std::shared_ptr<const Timeline> timeline) {
  return Maker(std::move(timeline)).make();
}

std::vector<RowSlice> places_of(const TimelineRows& rows, TaskId task) {
  std::vector<RowSlice> places;
  const auto start = static_cast<double>(rows.timeline->tasks[task].start.value);
  for (std::size_t r = 0; r < rows.rows.size(); ++r) {
    const SliceRow& slices = rows.rows[r].slices;
    if (slices.size() == 0) continue;
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
    const int height = row.kind == RowKind::Header ? kHeaderHeight : kRowHeight;
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
