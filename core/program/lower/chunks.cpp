#include "core/program/lower/chunks.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/disjoint_sets.h"
#include "core/base/error.h"

namespace strato {

Chunks::Chunks(const Tables& tables, const Placement& placement, bool splits)
    : tables_(tables), placement_(placement) {
  for (const OpId op : tables.early) {
    if (tables.is_repeated(op)) {
      repeated_.push_back(op);
      continue;
    }
    const auto is_late = [&](TensorId input) {
      const OpId producer = tables.graph->tensor(input).producer;
      return producer.valid() &&
             (tables.is_repeated(producer) || std::ranges::binary_search(after_, producer));
    };
    (std::ranges::any_of(tables.inputs(op), is_late) ? after_ : before_).push_back(op);
  }
  pass_of_.resize(tables.graph->op_count());
  find_stages();
  for (take_one_each(); in_order().size() < passes_.size(); take_one_each()) {
    find_visits();
    if (in_order().size() == passes_.size()) break;
    join_cycle();
  }
  number_along();
  if (splits) split_backward();
}

void Chunks::find_stages() {
  DisjointSets devices(tables_.cluster->device_count());
  for (const OpId op : repeated_) {
    const std::vector<Shard>& shards = placement_.layout(op).shards;
    for (const Shard& shard : shards) devices.join(shards[0].device.value(), shard.device.value());
  }
  stage_of_.resize(tables_.cluster->device_count(), -1);
  std::int32_t stages = 0;
  for (const OpId op : repeated_) {
    const std::int32_t set = devices.root(placement_.layout(op).shards[0].device.value());
    if (stage_of_[DeviceId(at(set))] >= 0) continue;
    for (const DeviceId device : stage_of_.ids())
      if (devices.root(device.value()) == set) stage_of_[device] = stages;
    ++stages;
  }
}

// As if each stage had a single chunk.
void Chunks::take_one_each() {
  chunks_.clear();
  for (const std::int32_t stage : Numbers{*std::ranges::max_element(stage_of_) + 1})
    chunks_.push_back({stage, 0});
  for (const OpId op : repeated_)
    pass_of_[op] = kPasses * at(stage_of(op)) + std::size_t{is_backward(op)};
  find_passes();
}

// Chunks by the visits of their stages: as often as the longest way to an op, within its pass, has
// come to its stage.
void Chunks::find_visits() {
  // Only stages that a cycle may lead through are visited twice.
  std::vector<std::int32_t> column(chunks_.size(), 0);
  for (const std::size_t pass : in_order()) column[pass / kPasses] += 1;
  std::size_t columns = 0;
  for (std::int32_t& of : column)
    of = of == std::int32_t{kPasses} ? -1 : static_cast<std::int32_t>(columns++);
  std::vector<std::int32_t> visits(columns * pass_of_.size(), 0);  // by op, then by stage
  std::vector<std::int32_t> count(column.size(), 1);
  IdVector<OpId, std::int32_t> visit(pass_of_.size(), 0);
  for (const OpId op : repeated_) {
    const std::span row = std::span(visits).subspan(columns * op.index(), columns);
    const std::int32_t stage = stage_of(op), own = column[at(stage)];
    std::int32_t here = 1;
    for (const TensorId input : tables_.inputs(op)) {
      const OpId producer = tables_.graph->tensor(input).producer;
      if (!producer.valid() || !tables_.is_repeated(producer)) continue;
      if (is_backward(producer) != is_backward(op)) continue;
      const std::span from = std::span(visits).subspan(columns * producer.index(), columns);
      std::ranges::transform(row, from, row.begin(),
                             [](std::int32_t a, std::int32_t b) { return std::max(a, b); });
      if (own >= 0) here = std::max(here, from[at(own)] + (stage_of(producer) != stage));
    }
    if (own < 0) continue;
    row[at(own)] = here;
    visit[op] = here - 1;
    count[at(stage)] = std::max(count[at(stage)], here);
  }
  std::vector<std::size_t> first;  // chunks, by stage
  chunks_.clear();
  for (const std::int32_t stage : Numbers{static_cast<std::int32_t>(count.size())}) {
    first.push_back(chunks_.size());
    for (const std::int32_t i : Numbers{count[at(stage)]}) chunks_.push_back({stage, i});
  }
  for (const OpId op : repeated_) {
    const std::size_t stage = at(stage_of(op));
    const std::int32_t chunk = is_backward(op) ? count[stage] - 1 - visit[op] : visit[op];
    pass_of_[op] = kPasses * (first[stage] + at(chunk)) + std::size_t{is_backward(op)};
  }
  find_passes();
}

void Chunks::find_passes() {
  passes_.assign(kPasses * chunks_.size(), Pass());
  for (const OpId op : repeated_) {
    const std::size_t own = pass_of_[op];
    passes_[own].ops.push_back(op);
    for (const TensorId input : tables_.inputs(op)) {
      const OpId producer = tables_.graph->tensor(input).producer;
      if (!producer.valid() || !tables_.is_repeated(producer)) continue;
      if (pass_of_[producer] != own) passes_[own].follows.push_back(pass_of_[producer]);
    }
  }
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    std::vector<std::size_t>& follows = passes_[i].follows;
    if (i % kPasses > 0) follows.push_back(i - 1);
    std::ranges::sort(follows);
    follows.erase(std::unique(follows.begin(), follows.end()), follows.end());
  }
}

// Passes, each after those that it follows; without those that are on a cycle or behind one.
std::vector<std::size_t> Chunks::in_order() const {
  std::vector<std::vector<std::size_t>> followers(passes_.size());
  std::vector<std::size_t> waits(passes_.size()), order;
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    waits[i] = passes_[i].follows.size();
    for (const std::size_t from : passes_[i].follows) followers[from].push_back(i);
    if (waits[i] == 0) order.push_back(i);
  }
  for (std::size_t done = 0; done < order.size(); ++done)
    for (const std::size_t next : followers[order[done]])
      if (--waits[next] == 0) order.push_back(next);
  return order;
}

// Makes one stage of those whose passes wait for each other.
void Chunks::join_cycle() {
  std::vector<char> waits(passes_.size(), true);
  for (const std::size_t pass : in_order()) waits[pass] = false;
  // From any pass that is left, backwards along what is left, until one comes again.
  auto at = static_cast<std::size_t>(std::ranges::find(waits, true) - waits.begin());
  std::vector<std::size_t> path;
  while (std::ranges::find(path, at) == path.end()) {
    path.push_back(at);
    at = *std::ranges::find_if(passes_[at].follows,
                               [&](std::size_t from) { return bool(waits[from]); });
  }
  std::vector<std::int32_t> joined;
  for (auto i = std::ranges::find(path, at); i != path.end(); ++i)
    joined.push_back(chunks_[*i / kPasses].stage);
  const std::int32_t into = *std::ranges::min_element(joined);
  CHECK(into < *std::ranges::max_element(joined), "a stage waits for itself");
  for (std::int32_t& stage : stage_of_)
    if (std::ranges::find(joined, stage) != joined.end()) stage = into;
  // Numbers without gaps.
  std::vector<std::int32_t> used(stage_of_.begin(), stage_of_.end());
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  if (used.front() < 0) used.erase(used.begin());
  for (std::int32_t& stage : stage_of_)
    if (stage >= 0)
      stage = static_cast<std::int32_t>(std::ranges::lower_bound(used, stage) - used.begin());
}

void Chunks::number_along() {
  stages_.assign(at(*std::ranges::max_element(stage_of_) + 1), Stage());
  std::vector<std::int32_t> depth(chunks_.size(), 0);   // chunks before it
  std::vector<std::int32_t> stages(chunks_.size(), 0);  // stages until it, its own included
  for (const std::size_t pass : in_order()) {
    if (pass % kPasses != 0) continue;
    const std::size_t own = pass / kPasses;
    std::int32_t& of_stage = stages_[at(chunks_[own].stage)].depth;
    for (const std::size_t from : passes_[pass].follows) {
      depth[own] = std::max(depth[own], depth[from / kPasses] + 1);
      stages[own] = std::max(stages[own], stages[from / kPasses]);
    }
    if (chunks_[own].visit == 0) of_stage = stages[own];
    stages[own] = std::max(stages[own], of_stage + 1);
  }
  // Those that only the backward pass visits come behind the others.
  for (std::size_t i = 1; i < chunks_.size(); ++i)
    if (chunks_[i].visit > 0) depth[i] = std::max(depth[i], depth[i - 1] + 1);
  std::vector<std::size_t> old_number(chunks_.size()), number(chunks_.size());
  for (std::size_t i = 0; i < old_number.size(); ++i) old_number[i] = i;
  std::ranges::sort(old_number, {}, [&](std::size_t i) {
    return std::tuple(depth[i], chunks_[i].stage, chunks_[i].visit);
  });
  const std::vector<Chunk> chunks = std::move(chunks_);
  chunks_.clear();
  for (const std::size_t old : old_number) {
    number[old] = chunks_.size();
    stages_[at(chunks[old].stage)].chunks.push_back(static_cast<std::int32_t>(chunks_.size()));
    chunks_.push_back(chunks[old]);
  }
  for (const OpId op : repeated_)
    pass_of_[op] = kPasses * number[pass_of_[op] / kPasses] + pass_of_[op] % kPasses;
  find_passes();
}

// What another pass waits for, at once or through others of its own, stays.
void Chunks::split_backward() {
  IdVector<OpId, char> stays(pass_of_.size(), false);
  for (std::size_t i = repeated_.size(); i-- > 0;) {
    const OpId op = repeated_[i];
    if (!is_backward(op)) continue;
    for (const TensorId output : tables_.outputs(op))
      for (const OpId reader : tables_.graph->consumers(output))
        if (tables_.is_repeated(reader) && (pass_of_[reader] != pass_of_[op] || stays[reader]))
          stays[op] = true;
  }
  for (const OpId op : repeated_)
    if (is_backward(op) && !stays[op]) ++pass_of_[op];
  find_passes();
}

}  // namespace strato
