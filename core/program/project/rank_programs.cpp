#include "core/program/project/rank_programs.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/program/place/symmetry.h"
#include "core/program/project/rank_builder.h"
#include "core/program/value/collective.h"

namespace strato {
namespace {

// `only`, `folded`: see RankBuilder.
RankPrograms build_ranks(const Program& program, std::span<const TaskId> order, DeviceId only,
                         bool folded = false) {
  CHECK(order.size() == program.tasks.size(), "an order of another number of tasks");
  RankBuilder builder(program, only, folded);
  std::vector<bool> done(program.tasks.size());
  for (const TaskId task : order) {
    CHECK(task.valid() && task.index() < done.size() && !done[task.index()],
          "an order with a task twice");
    for (const TaskId dependency : program.dependencies[task.index()])
      CHECK(done[dependency.index()],
            program.task_name(task) + " comes before " + program.task_name(dependency));
    done[task.index()] = true;
    builder.add(task);
  }
  return std::move(builder).finish();
}

// ---- the program of a rank whose device is left out for its twin

using Devices = std::vector<DeviceId>;  // ascending
using Samples = std::pair<std::int32_t, std::int32_t>;

bool is_known(TaskKind kind) {
  return kind == TaskKind::Compute || kind == TaskKind::Update || kind == TaskKind::AllReduce;
}

// All devices that these stand for.
class Twins {
 public:
  explicit Twins(const Fold& fold) : fold_(fold) {}
  const Devices& of(const Devices& representatives) {
    Devices& all = known_[representatives];
    if (all.empty())
      for (std::size_t d = 0; d < fold_.representative.size(); ++d)
        if (std::ranges::binary_search(representatives, fold_.representative[DeviceId(d)]))
          all.emplace_back(d);
    return all;
  }
  std::size_t count_before(const Devices& representatives, DeviceId device) {
    const Devices& all = of(representatives);
    return static_cast<std::size_t>(std::ranges::lower_bound(all, device) - all.begin());
  }

 private:
  const Fold& fold_;
  std::map<Devices, Devices> known_;
};

// What the tasks of a device and the collectives are called in the program of all devices. Tasks
// are emitted op by op, and in an op device by device; a collective comes before the task of the
// first device that asks for it (symmetry.h, 2).
class FullNames {
 public:
  FullNames(const Program& folded, Twins& twins, DeviceId device, DeviceId representative)
      : folded_(folded),
        twins_(twins),
        device_(device),
        representative_(representative),
        name_(folded.tasks.size()) {}

  IdVector<TaskId, TaskId> name() && {
    std::size_t begin = 0;
    while (begin < folded_.tasks.size()) {
      const std::size_t end = end_of_op(begin);
      name_op(begin, end);
      begin = end;
    }
    return std::move(name_);
  }

 private:
  const Task& task(std::size_t at) const { return folded_.tasks[TaskId(at)]; }
  bool computes(std::size_t at) const { return !is_communication(task(at).kind); }

  // The tasks of the next op that computes, with the collectives that it asks for.
  std::size_t end_of_op(std::size_t begin) const {
    std::size_t end = begin, last = begin;
    OpId op;
    for (; end < folded_.tasks.size(); ++end) {
      if (!computes(end)) continue;
      if (op.valid() && task(end).op != op) return last;
      op = task(end).op;
      last = end + 1;
    }
    return folded_.tasks.size();
  }

  // The device's own task comes after the collectives that it and those before it ask for.
  void name_op(std::size_t begin, std::size_t end) {
    Devices representatives;
    for (std::size_t at = begin; at < end; ++at)
      if (computes(at)) representatives.push_back(task(at).device);
    std::size_t collectives = 0, asked = 0;
    TaskId own;
    for (std::size_t at = begin; at < end; ++at) {
      if (computes(at)) {
        if (task(at).device <= device_) asked = collectives;
        if (task(at).device == representative_) own = TaskId(at);
        continue;
      }
      std::size_t asks = at;  // whose task follows
      while (asks < end && !computes(asks)) ++asks;
      const std::size_t before = asks < end
                                     ? twins_.count_before(representatives, task(asks).device)
                                     : twins_.of(representatives).size();
      name_[TaskId(at)] = TaskId(next_ + before + collectives++);
    }
    if (own.valid())
      name_[own] = TaskId(next_ + asked + twins_.count_before(representatives, device_));
    next_ += collectives + twins_.of(representatives).size();
  }

  const Program& folded_;
  Twins& twins_;
  const DeviceId device_, representative_;
  IdVector<TaskId, TaskId> name_;
  std::size_t next_ = 0;  // name
};

// What the representative's samples are for the device; nothing: they are not the same everywhere.
std::optional<std::map<Samples, Samples>> samples_of(const Strategy& strategy, std::int64_t batch,
                                                     DeviceId from, DeviceId to) {
  std::map<Samples, Samples> result;
  for (const auto& decision : strategy.groups) {
    CHECK(decision.has_value(), "a complete strategy");
    const std::vector<std::int64_t> counts = apportion(batch, decision->devices);
    Samples here{-1, -1}, there{-1, -1};
    std::int32_t begin = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const Samples range{begin, begin + static_cast<std::int32_t>(counts[i])};
      if (decision->devices[i].device == from) here = range;
      if (decision->devices[i].device == to) there = range;
      begin = range.second;
    }
    if (here.first < 0 && there.first < 0) continue;
    if (here.first < 0 || there.first < 0) return std::nullopt;
    if (result.emplace(here, there).first->second != there) return std::nullopt;
  }
  return result;
}

// False: the part is of samples that it does not tell.
bool move_part(Part& part, const std::map<Samples, Samples>& samples) {
  const AxisRange* of = part.along(kBatchAxis);
  if (!of) return true;
  const auto at = samples.find({of->begin, of->end});
  if (at == samples.end()) return false;
  part = part.cut({kBatchAxis, at->second.first, at->second.second});
  return true;
}

}  // namespace

RankPrograms rank_programs(const Program& program, std::span<const TaskId> order) {
  if (program.is_outline)
    throw InputError("", "the program", "is too large to write out for every rank",
                     "run or export a plan for fewer devices");
  return build_ranks(program, order, {});
}

std::optional<RankProgram> rank_program_of(const Program& program, std::span<const TaskId> order,
                                           DeviceId device) {
  CHECK(device.valid() && device.index() < program.cluster->device_count(),
        "a device of the cluster");
  std::vector<RankProgram> ranks = build_ranks(program, order, device).ranks;
  if (ranks.empty()) return std::nullopt;
  return std::move(ranks.front());
}

std::optional<RankProgram> rank_program_of_twin(const Program& folded,
                                                std::span<const TaskId> order, const Fold& fold,
                                                const Strategy& strategy, DeviceId device) {
  if (fold.left_out == 0) return rank_program_of(folded, order, device);  // it is the whole program
  CHECK(device.valid() && device.index() < fold.representative.size(), "a device of the cluster");
  const DeviceId representative = fold.representative[device];
  for (const Task& task : folded.tasks)
    if (!is_known(task.kind)) return std::nullopt;
  const auto samples = samples_of(strategy, folded.graph->batch(), representative, device);
  if (!samples) return std::nullopt;
  std::vector<RankProgram> built = build_ranks(folded, order, representative, true).ranks;
  if (built.empty()) return std::nullopt;
  RankProgram program = std::move(built.front());

  Twins twins(fold);
  const IdVector<TaskId, TaskId> name = FullNames(folded, twins, device, representative).name();
  program.rank = static_cast<int>(twins.count_before(working_devices(folded), device));
  program.device = device;
  const auto before = program.values;
  for (Value& value : program.values)
    if (!move_part(value.part, *samples)) return std::nullopt;
  // What it computes as its twin does is reported by that.
  if (device != representative)
    std::erase_if(program.losses,
                  [&](ValueId loss) { return program.values[loss].part == before[loss].part; });
  Rows<DeviceId> members;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    Instruction& what = program.instructions[i];
    if (!move_part(what.part, *samples)) return std::nullopt;
    what.task = name[what.task];
    const auto some = program.members[i];
    members.push_row(some.empty() ? some : twins.of({some.begin(), some.end()}));
  }
  program.members = std::move(members);
  return program;
}

}  // namespace strato
