// Which ops a planner splits (FastT table 5), with their times before that and their parameters.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/cli/study/table.h"
#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/schedule/list/steps.h"

namespace strato::cli {
namespace {

OpId op_named(const SearchStudy& study, const Graph& graph, const std::string& name) {
  for (std::size_t i = 0; i < graph.op_count(); ++i)
    if (graph.op(OpId(i)).name == name) return OpId(i);
  throw InputError(study.file, "ops", fmt::format("\"{}\" is no op of {}", name, graph.name()),
                   "take a name from 'stratoscope-cli inspect --graph MODEL'");
}

double thousand_parameters(const Graph& graph, const Op& op) {
  std::int64_t elements = 0;
  for (const TensorId input : op.inputs)
    if (input.valid() && graph.tensor(input).role == TensorRole::Parameter)
      elements += graph.tensor(input).elements();
  return static_cast<double>(elements) / 1000;
}

// "Conv 16, MatMul 2": how many ops of each type are split.
std::string split_types(const Graph& graph, const PlanningSteps& steps) {
  std::map<std::string, int> counts;
  for (const PlanningSteps::Trial& trial : steps.trials)
    if (trial.taken) ++counts[graph.op(trial.op).type];
  std::string text;
  for (const auto& [type, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", type, count);
  return text.empty() ? "none" : text;
}

bool is_split(const PlanningSteps& steps, OpId op) {
  return std::ranges::any_of(steps.trials, [&](const PlanningSteps::Trial& trial) {
    return trial.taken && trial.op == op;
  });
}

std::string optional_text(const std::optional<double>& value) {
  return value ? significant_text(*value, 4) : "-";
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

void add_op(const StudyMaker& maker, const Problem& problem, const PlanningSteps& steps,
            const OpRow& row, StudyTable& table) {
  const OpId id = op_named(maker.study, *problem.graph, row.op);
  const Op& op = problem.graph->op(id);
  const Device& device = problem.cluster->device(DeviceId(0));
  const auto devices = static_cast<std::int64_t>(problem.cluster->device_count());
  const std::int64_t samples = std::max<std::int64_t>(1, problem.graph->batch() / devices);
  const double time = to_seconds(problem.cost->compute(id, device.type, samples)) * 1e3;
  const double size = thousand_parameters(*problem.graph, op);
  const bool split = is_split(steps, id);
  table.cells.push_back({row.label, optional_text(row.milliseconds), significant_text(time, 4),
                         optional_text(row.thousand_parameters), significant_text(size, 4),
                         row.is_split ? "yes" : "no", split ? "yes" : "no"});
  table.rows.push_back(
      {{"op", row.label},
       {"milliseconds", {{"theirs", optional_json(row.milliseconds)}, {"ours", time}}},
       {"thousand_parameters",
        {{"theirs", optional_json(row.thousand_parameters)}, {"ours", size}}},
       {"split", {{"theirs", row.is_split}, {"ours", split}}}});
  table.directions.compare(split == row.is_split,
                           fmt::format("{}: {} here, in the paper it is{}", row.label,
                                       split ? "split" : "not split", row.is_split ? "" : " not"));
}

}  // namespace

StudyTable splits_table(const StudyMaker& maker) {
  const SearchStudy& study = maker.study;
  StudyTable table;
  table.cells.push_back(
      {"op", "ms: paper", "ours", "1000 parameters: paper", "ours", "split: paper", "ours"});
  for (const SearchRow& row : study.rows) {
    StudySearch search = maker.search(row, study.columns.front());
    search.with_steps = true;
    const StudyResult& found = maker.run(search, row, table);
    if (found.steps == nullptr) {
      table.notes.push_back(fmt::format("{}: {}", row.label, missing_text(found)));
      continue;
    }
    const Problem& problem = maker.searches.problem(search);
    for (const OpRow& op : study.ops) add_op(maker, problem, *found.steps, op, table);
    table.notes.push_back(
        fmt::format("{}, ops split: {}", row.label, split_types(*problem.graph, *found.steps)));
  }
  return table;
}

}  // namespace strato::cli
