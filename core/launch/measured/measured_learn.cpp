#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/launch/measured/measured.h"
#include "core/program/value/collective.h"

namespace strato {
namespace {

using Pair = std::pair<std::string, std::string>;
using Members = std::pair<Collective, std::vector<std::string>>;

std::vector<std::string> member_names(const Program& program, TaskId id) {
  std::vector<std::string> names;
  for (const DeviceId member : members_of(program, id))
    names.push_back(program.cluster->device(member).name);
  return names;
}

struct Moved {
  Bytes bytes;
  Nanos start, end;
};

// Messages of the same devices share their links when several are under way: each took what passed
// since the one before it had ended.
std::vector<SizedMeasurement> one_by_one(std::vector<Moved> moved) {
  std::ranges::stable_sort(moved, {}, &Moved::end);
  std::vector<SizedMeasurement> points;
  Nanos last(0);
  for (const Moved& each : moved) {
    const Nanos took = each.end - std::max(each.start, last);
    last = each.end;
    if (took > Nanos(0)) points.push_back({each.bytes, took, Nanos(0), 1});
  }
  return points;
}

class Learner {
 public:
  explicit Learner(const Timeline& measured)
      : measured_(measured), program_(*measured.program), signatures_(program_.graph->op_count()) {}

  Profile learn() {
    for (std::size_t i = 0; i < program_.tasks.size(); ++i) {
      const TaskTimes& times = measured_.tasks[TaskId(i)];
      if (times.end > times.start) take(TaskId(i), times);
    }
    add_sized();
    return normalised(std::move(profile_));
  }

 private:
  void take(TaskId id, const TaskTimes& times) {
    const Task& task = program_.tasks[id];
    const Cluster& cluster = *program_.cluster;
    if (task.kind == TaskKind::Compute || task.kind == TaskKind::Update)
      return take_op(task, times.end - times.start);
    if (task.bytes.value <= 0) return;
    const Moved point{task.bytes, times.start, times.end};
    if (task.kind == TaskKind::Transfer) {
      transfers_[{cluster.device(task.device).name, cluster.device(task.target).name}].push_back(
          point);
    } else if (const auto kind = collective_of(task.kind)) {
      collectives_[{*kind, member_names(program_, id)}].push_back(point);
    }
  }

  void take_op(const Task& task, Nanos time) {
    const Graph& graph = *program_.graph;
    if (program_.part_of(task).is_divided()) return;
    std::string& signature = signatures_[task.op.index()];
    if (signature.empty()) signature = op_signature(graph, task.op);
    const std::int64_t samples = follows_batch(graph, task.op) ? program_.samples_of(task) : 1;
    profile_.ops.push_back(
        {signature, program_.cluster->gpu(task.device).name, {{samples, time, Nanos(0), 1}}});
  }

  // A line needs two points.
  void add_sized() {
    const auto two_sizes = [](const std::vector<SizedMeasurement>& points) {
      return std::ranges::any_of(
          points, [&](const auto& point) { return point.bytes != points.front().bytes; });
    };
    for (const auto& [pair, moved] : transfers_) {
      const auto points = one_by_one(moved);
      if (two_sizes(points)) profile_.transfers.push_back({pair.first, pair.second, points});
    }
    for (const auto& [members, moved] : collectives_) {
      const auto points = one_by_one(moved);
      if (two_sizes(points))
        profile_.collectives.push_back({members.first, members.second, points});
    }
  }

  const Timeline& measured_;
  const Program& program_;
  std::vector<std::string> signatures_;  // by op; empty: not asked for yet
  std::map<Pair, std::vector<Moved>> transfers_;
  std::map<Members, std::vector<Moved>> collectives_;
  Profile profile_;
};

std::int64_t size_of(const OpMeasurement& point) { return point.samples; }
std::int64_t size_of(const SizedMeasurement& point) { return point.bytes.value; }

auto subject_of(const OpProfile& op) { return std::tie(op.gpu, op.signature); }
auto subject_of(const TransferProfile& transfer) { return std::tie(transfer.from, transfer.to); }
auto subject_of(const CollectiveProfile& collective) {
  return std::tie(collective.kind, collective.devices);
}

// Time at `size` between the points (ascending); 0 outside of them.
template <class Point>
double time_between(const std::vector<Point>& points, std::int64_t size) {
  const auto above =
      std::ranges::lower_bound(points, size, {}, [](const Point& point) { return size_of(point); });
  if (above == points.end()) return 0;
  const auto high = static_cast<double>(above->time.value);
  if (size_of(*above) == size) return high;
  if (above == points.begin()) return 0;
  const auto below = above - 1;
  const auto low = static_cast<double>(below->time.value);
  return low + (high - low) * static_cast<double>(size - size_of(*below)) /
                   static_cast<double>(size_of(*above) - size_of(*below));
}

// The middle factor from known times to those of the runs; 0: there is none.
template <class Point>
double factor_of(const std::vector<Point>& known, const std::vector<Point>& learned) {
  std::vector<double> factors;
  for (const Point& point : learned)
    if (const double time = time_between(known, size_of(point)); time > 0)
      factors.push_back(static_cast<double>(point.time.value) / time);
  if (factors.empty()) return 0;
  const auto middle = factors.begin() + static_cast<std::ptrdiff_t>(factors.size() / 2);
  std::nth_element(factors.begin(), middle, factors.end());
  return *middle;
}

// Adds what was learned (ascending, each once), and moves what is known of the same by it; sizes
// that were measured again are left out.
template <class Entry>
void add_learned(std::vector<Entry>& known, const std::vector<Entry>& learned) {
  constexpr auto subject = [](const Entry& entry) { return subject_of(entry); };
  for (Entry& entry : known) {
    const auto twin = std::ranges::lower_bound(learned, subject_of(entry), {}, subject);
    if (twin == learned.end() || subject_of(*twin) != subject_of(entry)) continue;
    auto& points = entry.measurements;
    const double factor = factor_of(points, twin->measurements);
    std::erase_if(points, [&](const auto& point) {
      return factor == 0 || std::ranges::any_of(twin->measurements, [&](const auto& other) {
               return size_of(other) == size_of(point);
             });
    });
    for (auto& point : points) {
      point.time = std::max(Nanos(1), nanos_from(static_cast<double>(point.time.value) * factor));
      point.spread = nanos_from(static_cast<double>(point.spread.value) * factor);
    }
  }
  known.insert(known.end(), learned.begin(), learned.end());
}

Nanos time_of(const Program& program, TaskId id, const CostModel& cost) {
  const auto at_least_one = [](Nanos time) { return std::max(Nanos(1), time); };
  const Task& task = program.tasks[id];
  const GpuTypeId gpu = program.cluster->device(task.device).type;
  if (task.kind == TaskKind::Transfer || is_host_copy(task.kind))
    return at_least_one(cost.transfer(path_of(program, task), task.bytes));
  if (const auto kind = collective_of(task.kind))
    return cost.collective(*kind, members_of(program, id), task.bytes).duration;
  if (task.kind == TaskKind::Compute || task.kind == TaskKind::Update) {
    const std::int64_t samples = program.samples_of(task);
    const Nanos all = cost.compute(task.op, gpu, std::max<std::int64_t>(samples, 1));
    const double share = program.share_of(task);
    return at_least_one(
        share < 1 ? Nanos(static_cast<std::int64_t>(static_cast<double>(all.value) * share)) : all);
  }
  return at_least_one(cost.local_move(gpu, task.bytes));
}

// Parts of a split op take a share of what the cost model says, which is kept.
Nanos scaled(Nanos duration, Nanos from, Nanos to) {
  if (duration == from) return to;
  return std::max(Nanos(1), nanos_from(static_cast<double>(duration.value) * (to / from)));
}

}  // namespace

Profile with_learned(const Profile& known, const Profile& learned) {
  Profile result = normalised(known);
  const Profile taught = normalised(learned);
  add_learned(result.ops, taught.ops);
  add_learned(result.transfers, taught.transfers);
  add_learned(result.collectives, taught.collectives);
  return normalised(std::move(result));
}

Profile learned_profile(const Timeline& measured) { return Learner(measured).learn(); }

std::string why_not_learned(const Timeline& measured, std::string_view engine) {
  constexpr Nanos kResolved(1'000);  // a shorter op is lost in what it takes to start and time it
  if (engine.starts_with("replay"))
    return "The replay engine takes the times that were simulated: there is nothing to learn from "
           "them.";
  Nanos all, lost;
  for (const TaskId id : measured.program->tasks.ids()) {
    if (measured.program->tasks[id].kind != TaskKind::Compute) continue;
    const Nanos took = measured.tasks[id].end - measured.tasks[id].start;
    all += took;
    if (took < kResolved) lost += took;
  }
  if (all == Nanos(0)) return "No op was measured.";
  if (lost * 2 < all) return {};
  return "Most ops took less than 1 µs, which a clock and the start of a kernel cannot resolve: "
         "their times teach nothing. A larger batch does.";
}

std::shared_ptr<const Program> retimed(const Program& program, const CostModel& from,
                                       const CostModel& to) {
  auto result = std::make_shared<Program>(program);
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    Task& task = result->tasks[TaskId(i)];
    const Nanos old = time_of(program, TaskId(i), from);
    if (old.value <= 0) continue;
    task.duration = scaled(task.duration, old, time_of(program, TaskId(i), to));
    task.latency = std::min(task.latency, task.duration);
  }
  return result;
}

double change_of_times(const Program& before, const Program& after) {
  CHECK(before.tasks.size() == after.tasks.size(), "programs of different tasks are compared");
  double changed = 0, all = 0;
  for (std::size_t i = 0; i < before.tasks.size(); ++i) {
    const Nanos old = before.tasks[TaskId(i)].duration;
    changed += static_cast<double>(std::abs((after.tasks[TaskId(i)].duration - old).value));
    all += static_cast<double>(old.value);
  }
  return all > 0 ? changed / all : 0;
}

}  // namespace strato
