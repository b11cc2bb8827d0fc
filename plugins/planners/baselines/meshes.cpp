#include "plugins/planners/baselines/meshes.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/framework/layout/model_layers.h"
#include "core/graph/axes/expert_letters.h"
#include "core/search/constraints/constraints.h"
#include "plugins/planners/baselines/pipeline.h"

namespace strato::meshes {
namespace {

using pipeline::StageSharding;

struct Point {
  std::int32_t stages = 1, tensor = 1, expert = 1, context = 1, micro_batches = 1, chunks = 1;
  StageSharding shard = StageSharding::Nothing;
  Recomputing recompute = Recomputing::None;
  friend auto operator<=>(const Point&, const Point&) = default;
};

// Of more devices an evaluation may take seconds: a stop is looked for after so many.
constexpr std::size_t kManyDevices = 64, kTogether = 4;

bool has_layers(const Graph& graph) try {
  return frameworks::model_layers(graph).count > 0;
} catch (const InputError&) {
  return false;  // none are numbered, or two stacks are
}

class Climb {
 public:
  Climb(const PlanRequest& request, const Settings& settings)
      : request_(request),
        most_(settings.most),
        whole_layers_(settings.whole_layers && has_layers(*request.problem.graph)),
        reporter_(request.observer) {
    const MicroBatches& of_any = request.options.micro_batches;
    if (of_any.count > 1) given_ = of_any;
  }

  // Throws InputError where no start can be evaluated.
  PlanResult run() {
    const std::vector<Point> all = beginnings();
    std::vector<Point> starts = possible(all);
    if (starts.empty()) starts = {all.front()};  // rows that have no samples do nothing
    evaluate(starts);
    if (!best_) std::rethrow_exception(refusal_);
    std::erase_if(starts, [&](const Point& point) { return !known_.contains(point); });
    std::ranges::stable_sort(starts, [&](const Point& a, const Point& b) {
      return known_.at(a).better_than(known_.at(b));
    });
    for (const Point& start : starts) climb(start);
    PlanResult found = result();
    if (whole_layers_ && best_->stages > 1) try_within_layers(found);
    return found;
  }

 private:
  bool is_over() const {
    return best_ && (request_.stop.stop_requested() || std::ssize(known_) >= most_);
  }

  std::vector<Point> beginnings() {
    Point plain;
    if (given_) plain.micro_batches = given_->count;
    Point wide = plain;
    for (std::int32_t columns = 2; columns <= 8; columns *= 2)
      if (is_possible(changed(plain, &Point::tensor, columns))) wide.tensor = columns;
    // As many columns, stages and rows that have positions together as leave a sample for each row.
    for (std::int32_t Point::*more : {&Point::tensor, &Point::stages, &Point::context})
      while (!has_samples(plain) && is_possible(changed(plain, more, plain.*more * 2)))
        plain.*more *= 2;
    needs_samples_ = has_samples(plain);
    Point sharded = plain;
    sharded.shard = StageSharding::Parameters;
    sharded.recompute = wide.recompute = Recomputing::Cheap;
    wide.shard = StageSharding::Updates;
    wide.stages = plain.stages;
    wide.context = plain.context;
    return {plain, sharded, wide};
  }
  static Point changed(Point point, std::int32_t Point::*dimension, std::int32_t to) {
    point.*dimension = to;
    return point;
  }

  // Up and down along each dimension, and along two that make up for each other.
  std::vector<Point> neighbours(const Point& at) const {
    std::vector<Point> points;
    const auto add = [&](auto change) {
      Point point = at;
      change(point);
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
    if (has_attention_ && needs_context(at)) step(&Point::context);
    trade(&Point::stages, &Point::tensor);
    trade(&Point::tensor, &Point::stages);
    add([](Point& point) { point.stages *= 2, point.micro_batches *= 2; });
    if (at.stages > 1) step(&Point::chunks);
    for (const auto shard : {StageSharding::Nothing, StageSharding::Updates,
                             StageSharding::Gradients, StageSharding::Parameters})
      add([&](Point& point) { point.shard = shard; });
    for (const auto recompute : {Recomputing::None, Recomputing::Cheap, Recomputing::Blocks})
      add([&](Point& point) { point.recompute = recompute; });
    return possible(std::move(points));
  }

  // Positions are divided for memory, or for want of samples: else it only adds exchanges.
  bool needs_context(const Point& at) const {
    const std::int64_t samples = request_.problem.graph->batch() / at.micro_batches;
    return at.context > 1 || !known_.at(at).feasible || samples < 2 * std::int64_t{rows_of(at)};
  }

  pipeline::Settings settings_of(const Point& point) const {
    return settings_of(point, whole_layers_);
  }
  pipeline::Settings settings_of(const Point& point, bool whole_layers) const {
    pipeline::Settings whole;
    whole.stages = point.stages;
    whole.tensor = point.tensor;
    whole.expert = point.expert;
    whole.context = point.context;
    whole.micro_batches = point.micro_batches;
    whole.chunks = point.chunks;
    whole.schedule = given_             ? given_->schedule
                     : point.chunks > 1 ? PipelineSchedule::Interleaved
                                        : PipelineSchedule::OneFOneB;
    whole.shard = point.shard;
    whole.recompute = point.recompute;
    whole.offload = Offloading::None;
    whole.whole_layers = whole_layers;
    return whole;
  }

  bool is_allowed(const Point& point) const {
    const Constraints* constraints = request_.options.constraints.get();
    const auto keeps_out = [&](bool wanted, Role role) {
      return !wanted || constraints == nullptr || !forbids_everywhere(*constraints, role);
    };
    return keeps_out(point.stages > 1, Role::Pipeline) &&
           keeps_out(point.tensor > 1, Role::Tensor) && keeps_out(point.expert > 1, Role::Expert) &&
           keeps_out(point.context > 1, Role::Context) &&
           keeps_out(point.shard != StageSharding::Nothing, Role::Sharding) &&
           keeps_out(point.recompute != Recomputing::None, Role::Recompute);
  }

  std::int32_t rows_of(const Point& point) const {
    const auto devices = static_cast<std::int32_t>(request_.problem.cluster->device_count());
    return devices / (point.stages * point.tensor);
  }
  bool has_samples(const Point& point) const {
    return request_.problem.graph->batch() / point.micro_batches >= rows_of(point) / point.context;
  }
  // Where more rows have positions together than have experts, what these need may have to be sent
  // device by device: then no device stands for others, and on many an evaluation takes a minute.
  bool is_foldable(const Point& point) const {
    return !are_many_ || point.expert == 1 || point.expert >= point.context;
  }
  bool is_possible(const Point& point) const {
    const std::int32_t rows = rows_of(point);
    const bool given = !given_ || point.micro_batches == given_->count;
    return given && is_allowed(point) && is_foldable(point) &&
           (rows > 1 || point.shard == StageSharding::Nothing) &&
           (has_samples(point) || !needs_samples_) && experts_ % point.expert == 0 &&
           (point.context == 1 || has_attention_) &&
           pipeline::is_possible(request_.problem, settings_of(point));
  }

  std::vector<Point> possible(std::vector<Point> points) const {
    std::erase_if(points, [&](const Point& point) { return !is_possible(point); });
    std::ranges::sort(points);
    points.erase(std::unique(points.begin(), points.end()), points.end());
    return points;
  }

  // Those that are not known yet. What cannot be evaluated (an op that needs all samples at once,
  // more tasks than there is memory for) is as if it were not possible.
  void evaluate(const std::vector<Point>& points) {
    std::vector<Point> fresh;
    for (const Point& point : points)
      if (!known_.contains(point) && !refused_.contains(point)) fresh.push_back(point);
    const std::size_t together = are_many_ ? kTogether : fresh.size();
    for (std::size_t first = 0; first < fresh.size() && !is_over(); first += together) {
      const std::vector<Point> part(
          fresh.begin() + static_cast<std::ptrdiff_t>(first),
          fresh.begin() + static_cast<std::ptrdiff_t>(std::min(fresh.size(), first + together)));
      if (score(part) || part.size() == 1) continue;
      for (const Point& point : part) score({point});
    }
  }

  // False: one of them is refused.
  bool score(const std::vector<Point>& points) try {
    std::vector<Strategy> strategies;
    for (const Point& point : points)
      strategies.push_back(pipeline::strategy_of(request_.problem, settings_of(point)));
    if (given_)
      for (Strategy& strategy : strategies) strategy.micro_batches = *given_;
    const std::vector<Score> scores = request_.evaluator.evaluate(strategies);
    for (std::size_t i = 0; i < points.size(); ++i) add(points[i], strategies[i], scores[i]);
    return true;
  } catch (const InputError&) {
    refusal_ = std::current_exception();
    if (points.size() == 1) refused_.insert(points.front());
    return false;
  }

  void add(const Point& point, Strategy& strategy, const Score& score) {
    known_.emplace(point, score);
    const bool better = !best_ || score.better_than(known_.at(*best_));
    if (better) {
      best_ = point;
      strategy_ = std::move(strategy);
    }
    const std::int64_t count = std::ssize(known_);
    const Progress progress{count, count, reporter_.elapsed(), known_.at(*best_)};
    better ? reporter_.improvement(strategy_, progress) : reporter_.progress(progress, false);
  }

  void climb(Point at) {
    while (!is_over()) {
      const std::vector<Point> around = neighbours(at);
      evaluate(around);
      const Point before = at;
      for (const Point& point : around)
        if (known_.contains(point) && known_.at(point).better_than(known_.at(at))) at = point;
      if (at == before) return;
    }
  }

  PlanResult result() {
    PlanResult result;
    result.strategy = std::move(strategy_);
    result.score = known_.at(*best_);
    result.evaluations = std::ssize(known_);
    const auto fact = [&](const char* name, std::int32_t value) {
      if (value > 1) result.facts.push_back({name, std::to_string(value)});
    };
    fact("stages", best_->stages);
    fact("tensor", best_->tensor);
    fact("expert", best_->expert);
    fact("context", best_->context);
    fact("chunks", best_->chunks);
    if (best_->shard != StageSharding::Nothing)
      result.facts.push_back(
          {"kept in parts", pipeline::kShardings[static_cast<std::size_t>(best_->shard)]});
    if (best_->recompute != Recomputing::None)
      result.facts.push_back(
          {"computed again",
           std::string(kRecomputing[static_cast<std::size_t>(best_->recompute)])});
    return result;
  }

  // Says what stages that begin within layers would gain, which no framework can be told.
  void try_within_layers(PlanResult& found) {
    if (request_.stop.stop_requested()) return;
    const Strategy within = pipeline::strategy_of(request_.problem, settings_of(*best_, false));
    const Score score = request_.evaluator.evaluate(within);
    ++found.evaluations;
    if (score.better_than(found.score))
      found.facts.push_back({"stages within layers",
                             fmt::format("{} (whole_layers=false)", time_text(score.step_time))});
  }

  const PlanRequest& request_;
  const std::int64_t most_;
  const bool whole_layers_;
  const bool are_many_ = request_.problem.cluster->device_count() > kManyDevices;
  const std::int64_t experts_ = experts_of(*request_.problem.graph);
  const bool has_attention_ = std::ranges::any_of(
      request_.problem.graph->ops(), [](const Op& op) { return op.type == "Attention"; });
  std::optional<MicroBatches> given_;  // that any planner is asked for
  bool needs_samples_ = false;         // each row of a point
  std::map<Point, Score> known_;
  std::set<Point> refused_;
  std::exception_ptr refusal_;  // the last one
  std::optional<Point> best_;
  Strategy strategy_;  // of the best
  Reporter reporter_;
};

}  // namespace

OptionTable Settings::option_table() {
  return {{"most", most, {1, 1e6}, "evaluations, at most; the neighbours of a point go together"},
          {"whole_layers", whole_layers,
           "stages begin with a layer, as frameworks launch them, where the model has layers"}};
}

PlanResult plan(const PlanRequest& request, const Settings& settings) {
  return Climb(request, settings).run();
}

}  // namespace strato::meshes
