#include "core/schedule/list/stage_layers.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/schedule/list/placement.h"

namespace strato {
namespace {

constexpr std::int32_t kNoChunk = -1;

// By layer the chunk of its first op that runs for each micro-batch in the forward pass.
std::vector<std::int32_t> chunks_of_layers(const Problem& problem, const StagePlan& plan,
                                           const Layers& layers) {
  std::vector<std::int32_t> chunk_of(at(layers.count), kNoChunk);
  for (const OpId op : problem.graph->ops().ids()) {
    const auto cell = plan.cell_of(op);
    std::int32_t& chunk = chunk_of[at(layers.of_op[op.index()])];
    if (chunk == kNoChunk && cell && cell->pass == PassKind::Forward) chunk = cell->chunk;
  }
  std::int32_t before = 0;  // what runs once belongs to the layer in front of it
  for (std::int32_t& chunk : chunk_of) {
    if (chunk == kNoChunk) chunk = before;
    before = chunk;
  }
  return chunk_of;
}

OpId first_op(const StageLayers& stages, std::int32_t layer) {
  return OpId(static_cast<std::size_t>(std::ranges::find(stages.layers.of_op, layer) -
                                       stages.layers.of_op.begin()));
}

}  // namespace

StageLayers stage_layers(const Problem& problem, const StagePlan& plan) {
  StageLayers stages;
  stages.layers = layers_of(*problem.graph);
  const auto chunk_of = chunks_of_layers(problem, plan, stages.layers);
  const auto chunks = static_cast<std::int32_t>(plan.chunk_count());
  for (std::int32_t chunk = 0; chunk <= chunks; ++chunk)
    stages.begins.push_back(static_cast<std::int32_t>(
        std::ranges::find_if(chunk_of, [&](std::int32_t of) { return of >= chunk; }) -
        chunk_of.begin()));
  const bool is_empty = std::ranges::adjacent_find(stages.begins) != stages.begins.end();
  if (chunks == 0 || is_empty || !std::ranges::is_sorted(chunk_of))
    throw InputError("", "strategy", "its stages do not follow each other along the model's layers",
                     "plan with the planner pipeline");
  const auto times = mean_op_times(*problem.graph, *problem.cluster, *problem.cost);
  stages.work.resize(chunk_of.size());
  stages.names.resize(chunk_of.size());
  for (const OpId op : problem.graph->ops().ids()) {
    const std::size_t layer = at(stages.layers.of_op[op.index()]);
    stages.work[layer] += times[op.index()];
    if (stages.names[layer].empty()) stages.names[layer] = problem.graph->op(op).name;
  }
  return stages;
}

Strategy with_chunk_at(const Problem& opened, const Problem& shown, const Strategy& strategy,
                       const StageLayers& stages, std::size_t chunk, std::int32_t layer) {
  if (chunk == 0 || chunk >= stages.chunk_count() || layer < stages.earliest(chunk) ||
      layer > stages.latest(chunk))
    throw InputError("", fmt::format("chunk {}", chunk), "would leave one without a layer",
                     "keep a layer in each");
  const Grouping& grouping = *shown.grouping;
  const Strategy whole = complete(strategy, *shown.cluster);
  const std::int32_t now = stages.begins[chunk];
  const auto decision_at = [&](std::int32_t of_layer) {
    return *whole.groups[grouping.group_of(first_op(stages, of_layer))];
  };
  const Decision moved = decision_at(layer < now ? now : now - 1);
  const auto [from, to] = std::minmax(layer, now);
  std::vector<Decision> choices;
  std::vector<std::int32_t> choice_of;
  const auto choice = [&](const Decision& decision) {
    const auto known = std::ranges::find(choices, decision);
    const auto place = static_cast<std::int32_t>(known - choices.begin());
    if (known == choices.end()) choices.push_back(decision);
    return place;
  };
  const std::int32_t choice_of_moved = choice(moved);
  std::vector<std::int32_t> choice_of_group;
  for (const std::optional<Decision>& decision : whole.groups)
    choice_of_group.push_back(choice(*decision));
  for (std::size_t op = 0; op < stages.layers.of_op.size(); ++op) {
    const std::int32_t of = stages.layers.of_op[op];
    choice_of.push_back(from <= of && of < to
                            ? choice_of_moved
                            : choice_of_group[grouping.group_of(OpId(op)).index()]);
  }
  const Strategy made = strategy_by_ops(opened, choice_of, choices);
  Strategy result = strategy;
  result.groups = made.groups;
  result.grouping = made.grouping;
  return result;
}

}  // namespace strato
