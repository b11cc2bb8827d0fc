#include "core/measured/learn.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/program/collective.h"

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
    if (task.axis >= 0) return;
    std::string& signature = signatures_[task.op.index()];
    if (signature.empty()) signature = op_signature(graph, task.op);
    const std::int64_t samples =
        follows_batch(graph, task.op) && task.samples > 0 ? task.samples : 1;
    profile_.ops.push_back(
        {signature, program_.cluster->gpu(task.device).name, {{samples, time, Nanos(0), 1}}});
  }

  // A line needs two points.
  void add_sized() {
    const auto two_sizes = [](const std::vector<SizedMeasurement>& points) {
      for (const SizedMeasurement& point : points)
        if (point.bytes != points.front().bytes) return true;
      return false;
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

}  // namespace

Profile learned_profile(const Timeline& measured) { return Learner(measured).learn(); }

}  // namespace strato
