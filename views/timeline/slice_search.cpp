#include "views/timeline/slice_search.h"

#include <algorithm>
#include <array>

#include "views/style/text.h"
#include "views/timeline/range_totals.h"
#include "views/timeline/slice_colours.h"

namespace strato {
namespace {

// Where one word is found: names are compared once each, not once a task.
struct WordPlaces {
  std::vector<bool> ops, tensors, devices;
  std::array<bool, kTaskKinds> kinds{};

  WordPlaces(const Program& program, const Grouping* grouping, const QString& word) {
    const auto has = [&](const QString& name) { return name.contains(word, Qt::CaseInsensitive); };
    std::vector<bool> groups;
    if (grouping) {
      for (const OpGroup& group : grouping->groups()) groups.push_back(has(text(group.name)));
    }
    const Graph& graph = *program.graph;
    for (std::size_t o = 0; o < graph.op_count(); ++o) {
      const Op& op = graph.op(OpId(o));
      ops.push_back(has(text(op.name)) || has(text(op.type)) ||
                    (grouping && groups[grouping->group_of(OpId(o)).index()]));
    }
    for (std::size_t t = 0; t < graph.tensor_count(); ++t)
      tensors.push_back(has(text(graph.tensor(TensorId(t)).name)));
    for (std::size_t d = 0; d < program.cluster->device_count(); ++d)
      devices.push_back(has(text(program.cluster->device(DeviceId(d)).name)));
    for (std::size_t k = 0; k < kTaskKinds; ++k)
      kinds[k] = has(kind_label(static_cast<TaskKind>(k)));
  }

  bool in(const Task& task) const {
    return (task.op.valid() && ops[task.op.index()]) ||
           (task.tensor.valid() && tensors[task.tensor.index()]) ||
           (task.device.valid() && devices[task.device.index()]) ||
           (task.target.valid() && devices[task.target.index()]) ||
           kinds[static_cast<std::size_t>(task.kind)];
  }
};

}  // namespace

FoundSlices find_slices(const Timeline& timeline, const Grouping* grouping, const QString& query) {
  const Program& program = *timeline.program;
  std::vector<WordPlaces> words;
  for (const QString& word : query.split(QLatin1Char(' '), Qt::SkipEmptyParts))
    words.emplace_back(program, grouping, word);
  FoundSlices found;
  if (words.empty()) return found;
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const Task& task = program.tasks[TaskId(t)];
    if (!std::ranges::all_of(words, [&](const WordPlaces& word) { return word.in(task); }))
      continue;
    found.tasks.emplace_back(t);
    found.time += timeline.tasks[TaskId(t)].end - timeline.tasks[TaskId(t)].start;
  }
  found.count = found.tasks.size();
  const auto longer = [&](TaskId a, TaskId b) {
    const TaskTimes &x = timeline.tasks[a], &y = timeline.tasks[b];
    const Nanos p = x.end - x.start, q = y.end - y.start;
    return p != q ? p > q : a < b;
  };
  const std::size_t kept = std::min(found.count, FoundSlices::kMost);
  const auto middle = found.tasks.begin() + static_cast<std::ptrdiff_t>(kept);
  std::ranges::partial_sort(found.tasks, middle, longer);
  found.tasks.resize(kept);
  return found;
}

}  // namespace strato
