#include "core/program/lower/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/program/lower/pipeline_order.h"

namespace strato {

// Through all cells, as far as the stages have come.
class Pipeline::Walk {
 public:
  Walk(const Chunks& chunks, Sequences sequences)
      : chunks_(chunks),
        sequences_(std::move(sequences)),
        next_(sequences_.size()),
        done_(chunks.passes().size()) {}
  // Adds the next cell of each stage, in turn, that need not wait. Were there any?
  bool advance(std::vector<ScheduleCell>& cells) {
    const std::size_t before = cells.size();
    for (std::size_t stage = 0; stage < sequences_.size(); ++stage) {
      if (is_through(stage) || awaited(next(stage))) continue;
      cells.push_back(next(stage));
      ++done_[Chunks::pass_of(next(stage))];
      ++next_[stage];
    }
    return cells.size() > before;
  }
  std::optional<std::size_t> waiting_stage() const;
  void take_what_can();
  std::string cycle_from(std::size_t stage) const;

 private:
  bool is_through(std::size_t stage) const { return next_[stage] == sequences_[stage].size(); }
  const ScheduleCell& next(std::size_t stage) const { return sequences_[stage][next_[stage]]; }
  std::optional<ScheduleCell> awaited(const ScheduleCell& cell) const;

  const Chunks& chunks_;
  Sequences sequences_;
  std::vector<std::size_t> next_;   // by stage
  std::vector<std::int32_t> done_;  // micro-batches, by pass
};

// Passes take micro-batches in their order: so gradients are added up.
std::optional<ScheduleCell> Pipeline::Walk::awaited(const ScheduleCell& cell) const {
  const std::size_t pass = Chunks::pass_of(cell);
  if (done_[pass] < cell.micro) return Chunks::cell_of(pass, cell.micro - 1);
  for (const std::size_t from : chunks_.passes()[pass].follows)
    if (done_[from] <= cell.micro) return Chunks::cell_of(from, cell.micro);
  return std::nullopt;
}

std::optional<std::size_t> Pipeline::Walk::waiting_stage() const {
  for (std::size_t stage = 0; stage < sequences_.size(); ++stage)
    if (!is_through(stage)) return stage;
  return std::nullopt;
}

// When all stages wait: moves the cell ahead that is nearest to its turn. There is one, since
// passes have no cycles: of the lowest micro-batch the first pass that is left.
void Pipeline::Walk::take_what_can() {
  std::size_t best = 0, ahead = 0;
  for (std::size_t stage = 0; stage < sequences_.size(); ++stage)
    for (std::size_t i = next_[stage]; i < sequences_[stage].size(); ++i) {
      if (ahead > 0 && i - next_[stage] >= ahead) break;
      if (awaited(sequences_[stage][i])) continue;
      best = stage;
      ahead = i - next_[stage];
      break;
    }
  CHECK(ahead > 0, "passes wait for each other");
  const auto first = sequences_[best].begin() + static_cast<std::ptrdiff_t>(next_[best]);
  const auto cell = first + static_cast<std::ptrdiff_t>(ahead);
  std::rotate(first, cell, cell + 1);
}

// "0B0 waits for 1B0, which comes after 1F1; 1F1 waits for ...", from one that waits for itself.
std::string Pipeline::Walk::cycle_from(std::size_t stage) const {
  std::vector<std::size_t> path;
  const auto owner = [&](const ScheduleCell& cell) {
    return at(chunks_.stage_of_chunk(cell.chunk));
  };
  for (; std::ranges::find(path, stage) == path.end(); stage = owner(*awaited(next(stage))))
    path.push_back(stage);
  std::string text;
  for (auto i = std::ranges::find(path, stage); i != path.end(); ++i) {
    const ScheduleCell cell = *awaited(next(*i)), first = next(owner(cell));
    text += fmt::format("{}{} waits for {}", text.empty() ? "" : "; ", name_of(next(*i)),
                        name_of(cell));
    if (cell != first) text += fmt::format(", which comes after {}", name_of(first));
  }
  return text;
}

Pipeline::Pipeline(const Tables& tables, const Placement& placement,
                   const MicroBatches& micro_batches)
    : micro_batches_(micro_batches), chunks_(tables, placement, splits_backward(micro_batches)) {}

// Two chunks on each stage, down and up again; those of the deepest are one, and not two of which
// the backward pass alone visits one.
bool Pipeline::is_in_v() const {
  const auto last = static_cast<std::int32_t>(chunks_.count()) - 1;
  return last % 2 == 0 && std::ranges::all_of(chunks_.stages(), [&](const Chunks::Stage& stage) {
           std::vector<std::int32_t> both = {stage.depth};
           if (2 * stage.depth < last) both.push_back(last - stage.depth);
           return stage.chunks == both;
         });
}

void Pipeline::check_rows() const {
  const ScheduleTable& table = micro_batches_.table;
  check_table(table, micro_batches_.count);
  const auto place = [](std::size_t row) { return fmt::format("schedule, row {}", row + 1); };
  const std::size_t stages = chunks_.stages().size();
  if (table.size() > stages)
    throw InputError("", place(stages),
                     fmt::format("is of no stage: the strategy makes {} of its devices", stages),
                     "give each stage one row");
  if (table.size() < stages)
    throw InputError("", place(table.size()),
                     fmt::format("is missing: the strategy makes {} stages of its devices", stages),
                     "give each stage one row");
  for (std::size_t row = 0; row < stages; ++row) {
    const std::vector<std::int32_t>& own = chunks_.stages()[row].chunks;
    for (const ScheduleCell& cell : table[row])
      if (std::ranges::find(own, cell.chunk) == own.end())
        throw InputError(
            "", place(row),
            fmt::format("has the cell {} of a chunk that is not its stage's", name_of(cell)),
            fmt::format("its chunks are {}", fmt::join(own, ", ")));
    for (const std::int32_t chunk : own)
      if (std::ranges::find(table[row], chunk, &ScheduleCell::chunk) == table[row].end())
        throw InputError("", place(row),
                         fmt::format("has no cell {}", name_of(ScheduleCell{chunk})),
                         fmt::format("its chunks are {}", fmt::join(own, ", ")));
  }
}

Pipeline::Sequences Pipeline::sequences() const {
  if (micro_batches_.schedule == PipelineSchedule::ByHand) {
    check_rows();
    return micro_batches_.table;
  }
  StagePlace place;
  place.is_in_v = is_in_v();
  for (const Chunks::Stage& stage : chunks_.stages())
    place.stages = std::max(place.stages, stage.depth + 1);
  Sequences result;
  for (const Chunks::Stage& stage : chunks_.stages()) {
    place.depth = stage.depth;
    place.chunks = static_cast<std::int32_t>(stage.chunks.size());
    result.push_back(stage_order(micro_batches_, place));
    for (ScheduleCell& cell : result.back()) cell.chunk = stage.chunks[at(cell.chunk)];
  }
  return result;
}

std::vector<ScheduleCell> Pipeline::cells() const {
  Walk walk(chunks_, sequences());
  std::vector<ScheduleCell> cells;
  while (true) {
    while (walk.advance(cells)) {
    }
    const std::optional<std::size_t> waiting = walk.waiting_stage();
    if (!waiting) return cells;
    if (micro_batches_.schedule == PipelineSchedule::ByHand)
      throw InputError("", fmt::format("schedule, row {}", *waiting + 1),
                       fmt::format("cannot go on: {}", walk.cycle_from(*waiting)),
                       "put a cell behind those that it waits for");
    walk.take_what_can();
  }
}

}  // namespace strato
