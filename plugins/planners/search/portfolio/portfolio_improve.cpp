// The third part of a run: successive halving between the searches that may improve the best.
#include <algorithm>

#include "core/base/error.h"
#include "plugins/planners/search/portfolio/portfolio.h"

namespace strato::portfolio {
namespace {

constexpr std::size_t kSeeds = 4;           // for each arm: the best, and some that are different
constexpr std::int64_t kShortestTurn = 96;  // half of it is a tree search's first look around
constexpr std::size_t kLargestFrame =
    2048;  // groups: beyond, a few hundred evaluations say nothing

}  // namespace

Frame::Frame(const Problem& problem, const Strategy& strategy)
    : problem_(problem_for(problem, strategy)), empty_(strategy.groups.empty()), rest_(strategy) {
  rest_.groups.clear();
  if (problem_.grouping->digest() == problem.grouping->digest()) rest_.grouping.reset();
}

bool Frame::is_needed(const Problem& problem, const Strategy& strategy) {
  return !Frame(problem).holds(strategy) || !strategy.priorities.empty() ||
         !strategy.splits.empty() || !strategy.duplicated.empty() || strategy.bucket > Bytes(0);
}

bool Frame::holds(const Strategy& strategy) const {
  if (strategy.grouping == nullptr) return rest_.grouping == nullptr;
  return strategy.grouping->digest() == problem_.grouping->digest();
}

Strategy Frame::inside(const Strategy& strategy) const {
  Strategy result;
  result.groups = strategy.groups;
  return result;
}

// Decisions that a search adds itself (TAG duplicates ops) outrank the frame's; a result in groups
// of its own has left the frame.
Strategy Frame::complete(const Strategy& inside) const {
  if (empty_ || inside.grouping != nullptr) return inside;
  Strategy result = rest_;
  result.groups = inside.groups;
  if (!inside.duplicated.empty()) result.duplicated = inside.duplicated;
  return result;
}

// The best first, none twice.
std::vector<Strategy> Portfolio::seeds_for(const Frame& frame) const {
  const Found leader{leader_.strategy(), *leader_.score()};
  std::vector<const Found*> fitting{&leader};
  for (const Found& found : found_) fitting.push_back(&found);
  std::erase_if(fitting, [&](const Found* found) { return !frame.holds(found->strategy); });
  std::ranges::stable_sort(
      fitting, [](const Found* a, const Found* b) { return a->score.better_than(b->score); });
  std::vector<Strategy> seeds;
  for (const Found* found : fitting) {
    Strategy seed = frame.inside(found->strategy);
    if (std::ranges::find(seeds, seed) == seeds.end()) seeds.push_back(std::move(seed));
    if (seeds.size() == kSeeds) break;
  }
  return seeds;
}

std::vector<Portfolio::Arm> Portfolio::arms() {
  if (Frame::is_needed(problem_, leader_.strategy())) {
    Frame own(problem_, leader_.strategy());
    if (own.problem().grouping->size() <= kLargestFrame) frames_.push_back(std::move(own));
  }
  std::vector<Arm> arms;
  for (const Frame& frame : frames_)
    for (const Entrant& entrant : entrants_) {
      if (entrant.effort != Effort::Search || entrant.planner == nullptr) continue;
      if (frame.is_empty() && !trees_.contains(entrant.name)) continue;  // it refused
      Arm arm{entrant.name, entrant.planner, &frame, nullptr, options_.seed, 0, {}, false};
      if (frame.is_empty()) {
        arm.tree = trees_[entrant.name];
      } else {
        arm.planner = registry_.planner(entrant.name);
        arm.name += " around the best's own groups or order";
      }
      if (arm.tree == nullptr) ++arm.seed;  // not the same search again
      arm.best = scores_.contains(entrant.name) ? scores_[entrant.name] : *leader_.score();
      arms.push_back(std::move(arm));
    }
  // A small budget is for the planner that was best on its own.
  std::ranges::stable_sort(arms,
                           [](const Arm& a, const Arm& b) { return a.best.better_than(b.best); });
  return arms;
}

void Portfolio::take_turn(Arm& arm, std::int64_t iterations, double budget_seconds) {
  PlannerOptions options = options_for(iterations, budget_seconds);
  options.seed = arm.seed;
  options.seeds = seeds_for(*arm.frame);
  const Score before = *leader_.score();
  const std::int64_t count_before = evaluator_.count();
  const bool shows_tree = arm.frame->is_empty() && arm.name == tree_of_;
  try {
    PlanResult result = run_one(arm.name, *arm.planner, *arm.frame, options, arm.tree, shows_tree);
    arm.tree = result.tree;
    if (arm.tree == nullptr) ++arm.seed;
    if (arm.frame->is_empty()) trees_[arm.name] = arm.tree;
    arm.best = result.score;
    found_.push_back({std::move(result.strategy), result.score});
  } catch (const InputError&) {
    arm.refused = true;
  }
  searched_ += iterations;
  const double spent =
      static_cast<double>(std::max<std::int64_t>(1, evaluator_.count() - count_before));
  arm.gain = 0;
  if (!leader_.score()->better_than(before)) return;
  arm.gain = (before.feasible == leader_.score()->feasible
                  ? 1 - leader_.score()->step_time / std::max(before.step_time, Nanos(1))
                  : 1) /
             spent;
}

void Portfolio::improve() {
  std::vector<Arm> alive = arms();
  std::int64_t left = improving();
  const auto goes_on = [&] {
    return !alive.empty() && !over_.stop_requested() && (timed() ? seconds_left() > 0 : left > 0);
  };
  while (goes_on()) {
    const auto parts = static_cast<std::int64_t>(alive.size() == 1 ? 1 : 2 * alive.size());
    const std::int64_t turn = std::max(left / parts, kShortestTurn);
    const double seconds = std::max(seconds_left(), 0.0) / static_cast<double>(parts);
    for (Arm& arm : alive) {
      if (!goes_on()) break;
      const std::int64_t now = timed() ? options_.iterations : std::min(turn, left);
      take_turn(arm, now, timed() ? std::max(seconds, 1e-3) : 0);
      left -= now;
    }
    std::erase_if(alive, [](const Arm& arm) { return arm.refused; });
    std::ranges::stable_sort(alive, [](const Arm& a, const Arm& b) {
      return a.gain != b.gain ? a.gain > b.gain : a.best.better_than(b.best);
    });
    if (parts == 1) break;  // it had all that was left
    alive.resize((alive.size() + 1) / 2);
  }
}

}  // namespace strato::portfolio
