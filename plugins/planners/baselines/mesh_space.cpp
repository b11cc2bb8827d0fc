#include "plugins/planners/baselines/mesh_space.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/framework/layout/model_layers.h"
#include "core/graph/axes/expert_letters.h"

namespace strato::meshes {
namespace {

using pipeline::StageSharding;

constexpr std::size_t kManyDevices = 64;

constexpr std::array kShards = {StageSharding::Nothing, StageSharding::Updates,
                                StageSharding::Gradients, StageSharding::Parameters};
constexpr std::array kAgain = {Recomputing::None, Recomputing::Cheap, Recomputing::Blocks};
constexpr std::array kOnHosts = {Offloading::None, Offloading::States, Offloading::Activations,
                                 Offloading::All};
struct ScheduledChunks {
  PipelineSchedule schedule;
  std::int32_t chunks;
};
constexpr std::array kZeroBubble = {
    ScheduledChunks{PipelineSchedule::OneFOneB, 1}, ScheduledChunks{PipelineSchedule::ZbH1, 1},
    ScheduledChunks{PipelineSchedule::ZbV, 2}, ScheduledChunks{PipelineSchedule::DualPipeV, 2}};

bool has_layers(const Graph& graph) try {
  return frameworks::model_layers(graph).count > 0;
} catch (const InputError&) {
  return false;  // none are numbered, or two stacks are
}

Point changed(Point point, std::int32_t Point::*dimension, std::int32_t to) {
  point.*dimension = to;
  return point;
}

}  // namespace

Space::Space(const Problem& problem, const Constraints* constraints,
             std::optional<MicroBatches> given, Habits habits)
    : problem_(problem),
      constraints_(constraints),
      given_(std::move(given)),
      habits_{habits.whole_layers && has_layers(*problem.graph), habits.overlap},
      are_many_(problem.cluster->device_count() > kManyDevices),
      experts_(experts_of(*problem.graph)),
      has_attention_(std::ranges::any_of(problem.graph->ops(),
                                         [](const Op& op) { return op.type == "Attention"; })),
      plain_(with_samples()),
      needs_samples_(has_samples(plain_)) {}

// As many columns, stages and rows that have positions together as leave a sample for each row.
Point Space::with_samples() const {
  Point plain;
  if (given_) plain.micro_batches = given_->count;
  for (std::int32_t Point::*more : {&Point::tensor, &Point::stages, &Point::context})
    while (!has_samples(plain) && may_be(changed(plain, more, plain.*more * 2))) plain.*more *= 2;
  return plain;
}

std::vector<Point> Space::beginnings() const {
  Point wide = plain_;
  wide.tensor = 1;
  for (std::int32_t columns = 2; columns <= 8; columns *= 2)
    if (may_be(changed(wide, &Point::tensor, columns))) wide.tensor = columns;
  Point sharded = plain_;
  sharded.shard = StageSharding::Parameters;
  sharded.recompute = wide.recompute = Recomputing::Cheap;
  wide.shard = StageSharding::Updates;
  std::vector<Point> starts{plain_};
  for (const Point& point : {sharded, wide})
    if (is_possible(point)) starts.push_back(point);
  return starts;
}

std::vector<Point> Space::neighbours(const Point& at, bool fits, const Reach& reach) const {
  std::vector<Point> points;
  const auto add = [&](auto change) {
    Point point = at;
    change(point);
    if (point.stages == 1) point.chunks = 1, point.schedule = PipelineSchedule::OneFOneB;
    if (point.shard == StageSharding::Nothing) point.shard_rows = 0;
    if (point.shard_rows > 0) point.shard_rows = rows_of_machine(point);
    points.push_back(point);
  };
  const auto step = [&](std::int32_t Point::*dimension) {
    for (const std::int32_t factor : {2, 3}) {
      add([&](Point& point) { point.*dimension *= factor; });
      if (at.*dimension % factor == 0) add([&](Point& point) { point.*dimension /= factor; });
    }
  };
  const auto trade = [&](std::int32_t Point::*more, std::int32_t Point::*less) {
    if (at.*less % 2 != 0) return;
    add([&](Point& point) {
      point.*more *= 2;
      point.*less /= 2;
    });
  };
  step(&Point::stages);
  step(&Point::tensor);
  step(&Point::micro_batches);
  if (experts_ > 0) step(&Point::expert);
  if (has_attention_ && needs_context(at, fits)) step(&Point::context);
  trade(&Point::stages, &Point::tensor);
  trade(&Point::tensor, &Point::stages);
  add([](Point& point) { point.stages *= 2, point.micro_batches *= 2; });
  if (at.stages > 1 && at.schedule == PipelineSchedule::OneFOneB) step(&Point::chunks);
  for (const StageSharding shard : kShards) add([&](Point& point) { point.shard = shard; });
  // Of experts such rows stand for others less often: on many devices that takes too long.
  if (reach.fewer_rows && (at.expert == 1 || !are_many_))
    for (const std::int32_t rows : {0, rows_of_machine(at)})
      add([&](Point& point) { point.shard_rows = rows; });
  for (const Recomputing recompute : kAgain)
    add([&](Point& point) { point.recompute = recompute; });
  if (reach.hosts)
    for (const Offloading offload : kOnHosts) add([&](Point& point) { point.offload = offload; });
  if (reach.zero_bubble && !given_ && at.stages > 1)
    for (const ScheduledChunks& as : kZeroBubble)
      add([&](Point& point) { point.schedule = as.schedule, point.chunks = as.chunks; });
  return possible(std::move(points));
}

// Positions are divided for memory, or for want of samples: else it only adds exchanges.
bool Space::needs_context(const Point& at, bool fits) const {
  const std::int64_t samples = problem_.graph->batch() / at.micro_batches;
  return at.context > 1 || !fits || samples < 2 * std::int64_t{rows_of(at)};
}

pipeline::Settings Space::settings_of(const Point& point, const Habits& habits) const {
  pipeline::Settings whole;
  whole.stages = point.stages;
  whole.tensor = point.tensor;
  whole.expert = point.expert;
  whole.context = point.context;
  whole.micro_batches = point.micro_batches;
  whole.chunks = point.chunks;
  const bool interleaved = point.schedule == PipelineSchedule::OneFOneB && point.chunks > 1;
  whole.schedule = given_        ? given_->schedule
                   : interleaved ? PipelineSchedule::Interleaved
                                 : point.schedule;
  whole.shard = point.shard;
  whole.shard_rows = point.shard_rows;
  whole.recompute = point.recompute;
  whole.offload = point.offload;
  whole.whole_layers = habits.whole_layers;
  whole.pieces = habits.overlap ? 0 : 1;
  return whole;
}

Strategy Space::strategy_of(const Point& point, const Habits& habits) const {
  Strategy strategy = pipeline::strategy_of(problem_, settings_of(point, habits));
  if (given_) strategy.micro_batches = *given_;
  return strategy;
}

bool Space::is_allowed(const Point& point) const {
  const auto keeps_out = [&](bool wanted, Role role) {
    return !wanted || constraints_ == nullptr || !forbids_everywhere(*constraints_, role);
  };
  return keeps_out(point.stages > 1, Role::Pipeline) && keeps_out(point.tensor > 1, Role::Tensor) &&
         keeps_out(point.expert > 1, Role::Expert) && keeps_out(point.context > 1, Role::Context) &&
         keeps_out(point.shard != StageSharding::Nothing, Role::Sharding) &&
         keeps_out(point.recompute != Recomputing::None, Role::Recompute) &&
         keeps_out(point.offload != Offloading::None, Role::Offload);
}

std::int32_t Space::rows_of(const Point& point) const {
  const auto devices = static_cast<std::int32_t>(problem_.cluster->device_count());
  return devices / (point.stages * point.tensor);
}

// Of a stage, in a machine: 0 where these are all that the stage has, or not whole rows.
std::int32_t Space::rows_of_machine(const Point& point) const {
  const Cluster& cluster = *problem_.cluster;
  const std::size_t machines = cluster.machines().size();
  if (cluster.device_count() % machines != 0) return 0;
  const auto together = static_cast<std::int32_t>(cluster.device_count() / machines);
  const std::int32_t rows = together / point.tensor;
  return together % point.tensor == 0 && rows > 1 && rows < rows_of(point) ? rows : 0;
}

bool Space::has_samples(const Point& point) const {
  return problem_.graph->batch() / point.micro_batches >= rows_of(point) / point.context;
}

// Where more rows have positions together than have experts, what these need may have to be sent
// device by device: then no device stands for others, and on many an evaluation takes a minute.
bool Space::is_foldable(const Point& point) const {
  return !are_many_ || point.expert == 1 || point.expert >= point.context;
}

// What rows have in parts is divided by whole groups of those that have something among them.
bool Space::may_share(const Point& point) const {
  const std::int32_t rows = rows_of(point);
  if (point.shard == StageSharding::Nothing) return point.shard_rows == 0;
  if (rows == 1) return false;
  return point.shard_rows == 0 || (rows % point.shard_rows == 0 && point.shard_rows < rows &&
                                   point.shard_rows % (point.expert * point.context) == 0);
}

// Whether or not each row has a sample.
bool Space::may_be(const Point& point) const {
  const bool given = !given_ || point.micro_batches == given_->count;
  return given && is_allowed(point) && is_foldable(point) && may_share(point) &&
         experts_ % point.expert == 0 && (point.context == 1 || has_attention_) &&
         (point.stages > 1 || point.schedule == PipelineSchedule::OneFOneB) &&
         pipeline::is_possible(problem_, settings_of(point, habits_));
}

bool Space::is_possible(const Point& point) const {
  return may_be(point) && (has_samples(point) || !needs_samples_);
}

std::vector<Point> Space::possible(std::vector<Point> points) const {
  std::erase_if(points, [&](const Point& point) { return !is_possible(point); });
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

}  // namespace strato::meshes
