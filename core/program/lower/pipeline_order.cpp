#include "core/program/lower/pipeline_order.h"

#include <algorithm>
#include <array>
#include <deque>
#include <set>

namespace strato {
namespace {

using enum PassKind;

std::vector<ScheduleCell> all_forward_first(std::int32_t micros, std::int32_t chunks) {
  std::vector<ScheduleCell> cells;
  for (std::int32_t chunk = 0; chunk < chunks; ++chunk)
    for (std::int32_t micro = 0; micro < micros; ++micro) cells.push_back({chunk, Forward, micro});
  for (std::int32_t chunk = chunks; chunk-- > 0;)
    for (std::int32_t micro = 0; micro < micros; ++micro) cells.push_back({chunk, Backward, micro});
  return cells;
}

// Groups of as many micro-batches as there are stages, chunk by chunk.
std::vector<ScheduleCell> passes(PassKind pass, std::int32_t micros, const StagePlace& place) {
  std::vector<ScheduleCell> cells;
  for (std::int32_t begin = 0; begin < micros; begin += place.stages)
    for (std::int32_t i = 0; i < place.chunks; ++i)
      for (std::int32_t micro = begin; micro < std::min(micros, begin + place.stages); ++micro)
        cells.push_back({pass == Forward ? i : place.chunks - 1 - i, pass, micro});
  return cells;
}

// One forward and one backward pass in turn, when `ahead` forward passes are done. `late`: so many
// backward passes are done when the first of their weights follows; below 0: they are not in two.
std::vector<ScheduleCell> one_each(std::int32_t micros, const StagePlace& place, std::int32_t ahead,
                                   std::int32_t late) {
  const std::vector<ScheduleCell> forward = passes(Forward, micros, place),
                                  backward = passes(Backward, micros, place);
  const auto first = static_cast<std::size_t>(std::min(std::ssize(forward), std::ptrdiff_t{ahead}));
  std::vector<ScheduleCell> cells(forward.begin(), forward.begin() + std::ptrdiff_t(first));
  std::size_t weights = 0;
  const auto add_weights = [&] {
    cells.push_back(backward[weights++]);
    cells.back().pass = Weights;
  };
  for (std::size_t i = 0; i < backward.size(); ++i) {
    cells.push_back(backward[i]);
    if (late >= 0 && std::cmp_greater_equal(i, late)) add_weights();
    if (i + first < forward.size()) cells.push_back(forward[i + first]);
  }
  while (late >= 0 && weights < backward.size()) add_weights();
  return cells;
}

// Two chunks, whose cells come in the order of micro-batches each.
class VOrder {
 public:
  void add(PassKind pass, std::int32_t chunk) {
    cells_.push_back({chunk, pass, done_[at(pass)][at(chunk)]++});
  }
  void add_backward(std::int32_t chunk) {  // both halves
    add(Backward, chunk);
    add(Weights, chunk);
  }
  std::int32_t done(PassKind pass, std::int32_t chunk) const { return done_[at(pass)][at(chunk)]; }
  void add_left(std::int32_t chunk) {
    while (done(Weights, chunk) < done(Backward, chunk)) add(Weights, chunk);
  }
  // The deepest stage has a single chunk: what comes first of two cells is it.
  std::vector<ScheduleCell> take(std::int32_t micros, bool is_deepest) const {
    std::vector<ScheduleCell> result;
    std::set<ScheduleCell> seen;
    for (ScheduleCell cell : cells_) {
      if (is_deepest) cell.chunk = 0;
      if (cell.micro < micros && seen.insert(cell).second) result.push_back(cell);
    }
    return result;
  }

 private:
  template <class Number>
  static std::size_t at(Number number) {
    return static_cast<std::size_t>(number);
  }
  std::vector<ScheduleCell> cells_;
  std::array<std::array<std::int32_t, 2>, 3> done_{};
};

template <class Work>
void repeat(std::int32_t times, const Work& work) {
  for (std::int32_t i = 0; i < times; ++i) work();
}

// As if there were enough micro-batches: those that there are not are left out.
std::vector<ScheduleCell> zero_bubble_v(std::int32_t micros, const StagePlace& place) {
  const std::int32_t above = place.depth, below = place.stages - above;
  const std::int32_t all = std::max(micros, 2 * place.stages - 1);
  VOrder order;
  repeat(2 * below - 1, [&] { order.add(Forward, 0); });
  repeat(above, [&] { order.add(Forward, 1), order.add(Forward, 0); });
  repeat(below, [&] { order.add(Forward, 1), order.add_backward(1); });
  while (order.done(Forward, 1) < all) {
    if (order.done(Forward, 0) < all) order.add(Forward, 0);
    order.add_backward(0);
    order.add(Forward, 1);
    order.add_backward(1);
  }
  repeat(above, [&] { order.add(Backward, 0), order.add(Backward, 1); });
  repeat(below, [&] { order.add(Backward, 0), order.add(Weights, 0); });
  order.add_left(1);
  order.add_left(0);
  return order.take(micros, below == 1);
}

std::vector<ScheduleCell> dualpipe_v(std::int32_t micros, const StagePlace& place) {
  const std::int32_t above = place.depth, below = place.stages - above - 1;
  const std::int32_t all = std::max(micros, 2 * place.stages);
  VOrder order;
  std::deque<std::int32_t> late;  // chunks whose weights are left
  const auto inputs = [&](std::int32_t chunk) {
    order.add(Backward, chunk);
    late.push_back(chunk);
  };
  const auto weights = [&] {
    order.add(Weights, late.front());
    late.pop_front();
  };
  repeat(2 * below, [&] { order.add(Forward, 0); });
  repeat(above + 1, [&] { order.add(Forward, 0), order.add(Forward, 1); });
  repeat(below, [&] { inputs(1), weights(), order.add(Forward, 1); });
  repeat(all - 2 * place.stages + above + 1, [&] {
    order.add(Forward, 0), order.add_backward(1);
    order.add(Forward, 1), order.add_backward(0);
  });
  repeat(below, [&] { order.add_backward(1), order.add(Forward, 1), order.add_backward(0); });
  // The later half of what is left is in two: the second of the pair first, in every other stage.
  for (std::int32_t i = 0; i < 2 * (above + 1); ++i) {
    const std::int32_t chunk = 1 - i % 2;
    i > above ? inputs(chunk) : order.add_backward(chunk);
  }
  repeat(below, [&] { weights(), inputs(0); });
  while (!late.empty()) weights();
  return order.take(micros, below == 0);
}

}  // namespace

bool splits_backward(const MicroBatches& micro_batches) {
  if (micro_batches.schedule == PipelineSchedule::ByHand)
    return splits_backward(micro_batches.table);
  return micro_batches.schedule >= PipelineSchedule::ZbH1;
}

std::vector<ScheduleCell> stage_order(const MicroBatches& micro_batches, const StagePlace& place) {
  const std::int32_t micros = micro_batches.count;
  const std::int32_t below = place.stages - place.depth;
  const std::int32_t fewest = below + (place.chunks - 1) * place.stages;
  switch (micro_batches.schedule) {
    case PipelineSchedule::Gpipe:
      return all_forward_first(micros, place.chunks);
    case PipelineSchedule::Interleaved:
      return one_each(micros, place, fewest + (place.chunks > 1 ? below - 1 : 0), -1);
    case PipelineSchedule::ZbV:
      if (place.is_in_v) return zero_bubble_v(micros, place);
      break;
    case PipelineSchedule::DualPipeV:
      if (place.is_in_v) return dualpipe_v(micros, place);
      break;
    case PipelineSchedule::ZbH1:
      break;
    default:
      return one_each(micros, place, fewest, -1);
  }
  return one_each(micros, place, fewest, place.depth);
}

}  // namespace strato
