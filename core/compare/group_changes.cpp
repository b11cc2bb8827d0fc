// Compares the decisions and the times of two plans, by the second plan's groups.
#include "core/compare/group_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/compare/op_decisions.h"
#include "core/sim/explain/path_pieces.h"

namespace strato {
namespace {

struct RowTimes {
  Nanos on_path, busy;
};

// Adds up per row; `row_of` gives the row of an op of this plan.
template <class RowOf>
std::vector<RowTimes> times_of(const Timeline& timeline, const std::vector<PathPiece>& path,
                               std::size_t rows, RowOf&& row_of) {
  std::vector<RowTimes> times(rows);
  const Program& program = *timeline.program;
  for (const PathPiece& piece : path)
    times[row_of(program.tasks[piece.task].op)].on_path += piece.end - piece.begin;
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const Task& task = program.tasks[TaskId(t)];
    if (is_communication(task.kind)) continue;
    times[row_of(task.op)].busy += timeline.tasks[TaskId(t)].end - timeline.tasks[TaskId(t)].start;
  }
  return times;
}

class GroupComparer {
 public:
  GroupComparer(const PlanToCompare& from, const PlanToCompare& to, const OpMatch& match)
      : from_(from), to_(to), match_(match), grouping_(*to.problem.grouping) {}

  std::vector<GroupChange> compare(const Pair<std::vector<PathPiece>>& paths) {
    const OpDecisions decided =
        op_decisions(from_.problem, from_.strategy, to_.problem, to_.strategy);
    std::vector<GroupChange> rows;
    for (std::size_t g = 0; g < grouping_.size(); ++g) rows.push_back(row(GroupId(g), decided));
    rows.push_back(row_of_gone(decided));
    const auto times_from = times_of(
        *from_.outcome.timeline, paths.from, rows.size(),
        [&](OpId op) { return op.valid() ? row_of(match_.to_of_from[op]) : grouping_.size(); });
    const auto times_to =
        times_of(*to_.outcome.timeline, paths.to, rows.size(), [&](OpId op) { return row_of(op); });
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].on_path = {times_from[i].on_path, times_to[i].on_path};
      rows[i].busy = {times_from[i].busy, times_to[i].busy};
    }
    const GroupChange& gone = rows.back();
    if (gone.ops == 0 && gone.on_path == Pair<Nanos>()) rows.pop_back();
    std::ranges::stable_sort(rows, [](const GroupChange& a, const GroupChange& b) {
      return std::abs(a.change().value) > std::abs(b.change().value);
    });
    return rows;
  }

 private:
  std::size_t row_of(OpId op) const {  // of the second graph; invalid: it has no such op
    return op.valid() ? grouping_.group_of(op).index() : grouping_.size();
  }

  GroupChange row(GroupId id, const OpDecisions& decided) const {
    const OpGroup& group = grouping_.group(id);
    GroupChange change;
    change.group = id;
    change.name = group.name;
    change.ops = group.ops.size();
    std::map<int, std::size_t> from, to;
    for (const OpId op : group.ops) {
      ++to[decided.of.to[op]];
      const OpId other = match_.from_of_to[op];
      if (other.valid()) {
        ++from[decided.of.from[other]];
        change.differs |= decided.of.from[other] != decided.of.to[op];
      } else {
        ++change.unmatched;
        change.differs = true;
      }
    }
    change.decision = {composition(from, decided.texts), composition(to, decided.texts)};
    return change;
  }

  GroupChange row_of_gone(const OpDecisions& decided) const {
    GroupChange change;
    change.name = fmt::format("only in {}", from_.label);
    std::map<int, std::size_t> from;
    for (const OpId op : match_.only_from) ++from[decided.of.from[op]];
    change.ops = match_.only_from.size();
    change.differs = change.ops > 0;
    change.decision = {composition(from, decided.texts), "-"};
    return change;
  }

  const PlanToCompare &from_, &to_;
  const OpMatch& match_;
  const Grouping& grouping_;
};

}  // namespace

std::vector<GroupChange> group_changes(const PlanToCompare& from, const PlanToCompare& to,
                                       const OpMatch& match,
                                       const Pair<std::vector<PathPiece>>& paths) {
  return GroupComparer(from, to, match).compare(paths);
}

}  // namespace strato
