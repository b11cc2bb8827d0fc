#include "plugins/planners/baselines/meshes.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "plugins/planners/baselines/mesh_space.h"

namespace strato::meshes {
namespace {

constexpr std::size_t kTogether = 4;  // where there are many devices: a stop is looked for between

std::optional<MicroBatches> given(const PlannerOptions& options) {
  if (options.micro_batches.count > 1) return options.micro_batches;
  return std::nullopt;
}

class Climb {
 public:
  Climb(const PlanRequest& request, const Settings& settings)
      : request_(request),
        settings_(settings),
        space_(request.problem, request.options.constraints.get(), given(request.options),
               {settings.whole_layers, settings.overlap}),
        reporter_(request.observer) {}

  // Throws InputError where no start can be evaluated.
  PlanResult run() {
    std::vector<Point> starts = space_.beginnings();
    if (starts.size() > 1 && !space_.is_possible(starts.front())) starts.erase(starts.begin());
    evaluate(starts);
    if (!best_) std::rethrow_exception(refusal_);
    std::erase_if(starts, [&](const Point& point) { return !known_.contains(point); });
    std::ranges::stable_sort(starts, [&](const Point& a, const Point& b) {
      return known_.at(a).better_than(known_.at(b));
    });
    for (const Point& start : starts) climb(start);
    reach_.hosts = !known_.at(*best_).feasible && may_try_hosts(*request_.problem.cluster);
    if (reach_.hosts) climb(*best_);
    reach_.fewer_rows = true;
    climb(*best_);
    reach_.zero_bubble = settings_.zero_bubble;
    if (reach_.zero_bubble) climb(*best_);
    PlanResult found = result();
    try_beyond(found);
    return found;
  }

 private:
  bool is_over() const {
    return best_ && (request_.stop.stop_requested() || std::ssize(known_) >= settings_.most);
  }

  // Those that are not known yet. What cannot be evaluated (an op that needs all samples at once,
  // more tasks than there is memory for) is as if it were not possible.
  void evaluate(const std::vector<Point>& points) {
    std::vector<Point> fresh;
    for (const Point& point : points)
      if (!known_.contains(point) && !refused_.contains(point)) fresh.push_back(point);
    const std::size_t together = space_.are_many() ? kTogether : fresh.size();
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
    for (const Point& point : points) strategies.push_back(space_.strategy_of(point));
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
      const std::vector<Point> around = space_.neighbours(at, known_.at(at).feasible, reach_);
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
    const auto say = [&](const char* name, bool worth_it, std::string_view value) {
      if (worth_it) result.facts.push_back({name, std::string(value)});
    };
    const auto count = [&](const char* name, std::int32_t value) {
      say(name, value > 1, std::to_string(value));
    };
    count("stages", best_->stages);
    count("tensor", best_->tensor);
    count("expert", best_->expert);
    count("context", best_->context);
    count("chunks", best_->chunks);
    say("schedule", best_->schedule != PipelineSchedule::OneFOneB, name_of(best_->schedule));
    say("kept in parts", best_->shard != pipeline::StageSharding::Nothing,
        pipeline::kShardings[static_cast<std::size_t>(best_->shard)]);
    count("rows with all parts", best_->shard_rows);
    say("computed again", best_->recompute != Recomputing::None,
        kRecomputing[static_cast<std::size_t>(best_->recompute)]);
    say("on hosts", best_->offload != Offloading::None,
        kOffloading[static_cast<std::size_t>(best_->offload)]);
    return result;
  }

  // Says what would be gained by what no framework, or not each of them, can be told: stages that
  // begin within layers, backward passes in two, exchanges of columns in pieces.
  void try_beyond(PlanResult& found) {
    const auto gain = [&](const char* what, const char* option, const Point& point,
                          const Space::Habits& habits) {
      if (is_over()) return;
      try {
        const Score score = request_.evaluator.evaluate(space_.strategy_of(point, habits));
        ++found.evaluations;
        if (score.better_than(found.score))
          found.facts.push_back({what, fmt::format("{} ({})", time_text(score.step_time), option)});
      } catch (const InputError&) {  // the schedule has no place for so few micro-batches
      }
    };
    const Space::Habits& own = space_.habits();
    if (best_->tensor > 1 && !own.overlap)
      gain("columns that exchange in pieces", "overlap=true", *best_, {own.whole_layers, true});
    if (best_->stages == 1) return;
    if (own.whole_layers)
      gain("stages within layers", "whole_layers=false", *best_, {false, own.overlap});
    Point divided = *best_;
    divided.schedule = PipelineSchedule::ZbH1;
    divided.chunks = 1;
    if (!settings_.zero_bubble && space_.is_possible(divided))
      gain("backward passes in two", "zero_bubble=true", divided, own);
  }

  const PlanRequest& request_;
  const Settings settings_;
  const Space space_;
  Space::Reach reach_;
  std::map<Point, Score> known_;
  std::set<Point> refused_;
  std::exception_ptr refusal_;  // the last one
  std::optional<Point> best_;
  Strategy strategy_;  // of the best
  Reporter reporter_;
};

}  // namespace

OptionTable Settings::option_table() {
  return {
      {"most", most, {1, 1e6}, "evaluations, at most; the neighbours of a point go together"},
      {"whole_layers", whole_layers,
       "stages begin with a layer, as frameworks launch them, where the model has layers"},
      {"zero_bubble", zero_bubble,
       "schedules that divide the backward pass (zb-h1, zb-v, dualpipe-v), too, which not every "
       "framework has"},
      {"overlap", overlap,
       "columns exchange what products read and make in pieces, while these compute "
       "(--tp-comm-overlap)"}};
}

PlanResult plan(const PlanRequest& request, const Settings& settings) {
  return Climb(request, settings).run();
}

}  // namespace strato::meshes
