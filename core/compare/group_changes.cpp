// What is decided otherwise, and what it costs, by the second plan's groups.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/compare/changes.h"

namespace strato {
namespace {

// Texts as numbers, so that those of many ops compare quickly.
class Texts {
 public:
  int number_of(const std::string& text) {
    const auto [at, added] = numbers_.try_emplace(text, static_cast<int>(texts_.size()));
    if (added) texts_.push_back(text);
    return at->second;
  }
  const std::string& operator[](int number) const {
    return texts_[static_cast<std::size_t>(number)];
  }

 private:
  std::map<std::string, int> numbers_;
  std::vector<std::string> texts_;
};

std::string split_text(const OpSplit& split, const Cluster& cluster) {
  Decision devices;
  devices.devices = split.parts;
  devices.mode = Mode::ModelParallel;
  const std::string text = describe(devices, cluster);
  return fmt::format("split along axis {}{}", split.axis, text.substr(text.find(" on ")));
}

// What is decided for each op of a plan.
IdVector<OpId, int> decisions_of(const PlanToCompare& plan, Texts& texts) {
  const Problem& problem = plan.problem;
  IdVector<GroupId, int> groups;
  for (const auto& decision : plan.strategy.groups)
    groups.push_back(
        texts.number_of(decision ? describe(*decision, *problem.cluster) : "undecided"));
  IdVector<OpId, int> ops;
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i)
    ops.push_back(groups[problem.grouping->group_of(OpId(i))]);
  for (const OpId op : plan.strategy.duplicated)
    ops[op] = texts.number_of(texts[ops[op]] + ", whole on each");
  for (const OpSplit& split : plan.strategy.splits)
    ops[split.op] = texts.number_of(split_text(split, *problem.cluster));
  return ops;
}

// "AllReduce on v100", or with the ops of the most frequent ones: "AllReduce on v100 (12 of 14 ops), on
// v100:0 (2)".
std::string composition(const std::map<int, std::size_t>& counts, const Texts& texts) {
  constexpr std::size_t shown = 2;
  if (counts.empty()) return "-";
  if (counts.size() == 1) return texts[counts.begin()->first];
  std::vector<std::pair<std::size_t, int>> order;
  std::size_t all = 0;
  for (const auto& [text, count] : counts) {
    order.emplace_back(count, text);
    all += count;
  }
  std::ranges::sort(order, [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : texts[a.second] < texts[b.second];
  });
  std::string result;
  for (std::size_t i = 0; i < std::min(shown, order.size()); ++i)
    result += fmt::format("{}{} ({}{})", i > 0 ? "; " : "", texts[order[i].second], order[i].first,
                          i == 0 ? fmt::format(" of {} ops", all) : "");
  if (order.size() > shown) result += fmt::format("; {} more", order.size() - shown);
  return result;
}

struct RowTimes {
  Nanos on_path, busy;
};

// By row: `row_of` an op of this plan.
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
    const auto decided_from = decisions_of(from_, texts_), decided_to = decisions_of(to_, texts_);
    std::vector<GroupChange> rows;
    for (std::size_t g = 0; g < grouping_.size(); ++g)
      rows.push_back(row(GroupId(g), decided_from, decided_to));
    rows.push_back(row_of_gone(decided_from));
    const auto times_from = times_of(*from_.outcome.timeline, paths.from, rows.size(), [&](OpId op) {
      return op.valid() ? row_of(match_.to_of_from[op]) : grouping_.size();
    });
    const auto times_to = times_of(*to_.outcome.timeline, paths.to, rows.size(),
                                   [&](OpId op) { return row_of(op); });
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

  GroupChange row(GroupId id, const IdVector<OpId, int>& decided_from,
                  const IdVector<OpId, int>& decided_to) const {
    const OpGroup& group = grouping_.group(id);
    GroupChange change;
    change.group = id;
    change.name = group.name;
    change.ops = group.ops.size();
    std::map<int, std::size_t> from, to;
    for (const OpId op : group.ops) {
      ++to[decided_to[op]];
      const OpId other = match_.from_of_to[op];
      if (other.valid()) {
        ++from[decided_from[other]];
        change.differs |= decided_from[other] != decided_to[op];
      } else {
        ++change.unmatched;
        change.differs = true;
      }
    }
    change.decision = {composition(from, texts_), composition(to, texts_)};
    return change;
  }

  GroupChange row_of_gone(const IdVector<OpId, int>& decided_from) const {
    GroupChange change;
    change.name = fmt::format("only in {}", from_.label);
    std::map<int, std::size_t> from;
    for (const OpId op : match_.only_from) ++from[decided_from[op]];
    change.ops = match_.only_from.size();
    change.differs = change.ops > 0;
    change.decision = {composition(from, texts_), "-"};
    return change;
  }

  const PlanToCompare &from_, &to_;
  const OpMatch& match_;
  const Grouping& grouping_;
  Texts texts_;
};

}  // namespace

std::vector<GroupChange> group_changes(const PlanToCompare& from, const PlanToCompare& to,
                                       const OpMatch& match,
                                       const Pair<std::vector<PathPiece>>& paths) {
  return GroupComparer(from, to, match).compare(paths);
}

}  // namespace strato
