#include "core/search/fit/fitting_plans.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::size_t kNearest = 3;
constexpr std::size_t kTogether = 4;  // evaluations between two looks at a stop

bool is_faster(const ChangedPlan& a, const ChangedPlan& b) {
  return a.score.step_time < b.score.step_time;
}

Bytes fullest_peak(const Cluster& cluster, const Feedback& feedback) {
  Bytes fullest;
  double most = 0;
  for (const DeviceGroupId group : feedback.device_groups.ids()) {
    const Bytes peak = feedback.device_groups[group].peak;
    const double fill = peak / cluster.gpu(cluster.groups()[group].devices.front()).memory;
    if (fill <= most) continue;
    most = fill;
    fullest = peak;
  }
  return fullest;
}

class Search {
 public:
  Search(const Problem& problem, const Strategy& strategy, Evaluator& evaluator,
         const std::stop_token& stop, const std::function<void(std::size_t, std::size_t)>& progress)
      : strategy_(strategy),
        evaluator_(evaluator),
        stop_(stop),
        progress_(progress),
        changes_(memory_changes(problem, strategy)) {}

  FittingPlans run() && {
    result_.now = evaluator_.evaluate(strategy_);
    std::vector<ChangedPlan> singles = scored(one_change(!result_.now.feasible));
    remember(singles);
    if (result_.now.feasible) {
      for (ChangedPlan& plan : singles)
        if (plan.score.better_than(result_.now)) result_.plans.push_back(std::move(plan));
      std::ranges::stable_sort(result_.plans, is_faster);
      drop_equals(result_.plans);
    } else {
      std::vector<ChangedPlan> pairs = scored(two_changes());
      keep_what_fits(std::move(singles), std::move(pairs));
    }
    result_.evaluations = static_cast<std::int64_t>(done_);
    return std::move(result_);
  }

 private:
  std::vector<ChangedPlan> one_change(bool saving) const {
    std::vector<ChangedPlan> plans;
    for (const MemoryChange& change : changes_)
      if (!saving || change.saves) plans.push_back({{change.words}, change.apply(strategy_)});
    return plans;
  }

  void remember(const std::vector<ChangedPlan>& singles) {
    for (const ChangedPlan& plan : singles) {
      of_one_.push_back(plan.strategy);
      freed_[plan.words.front()] = result_.now.overflow - plan.score.overflow;
    }
  }

  // What is freed once is not freed by the other change again. But where peaks come at other
  // moments then, both together may free somewhat more than their sum.
  bool may_be_enough(const MemoryChange& first, const MemoryChange& second) const {
    const auto a = freed_.find(first.words), b = freed_.find(second.words);
    if (a == freed_.end() || b == freed_.end()) return false;  // cannot be lowered
    constexpr std::int64_t kOf = 4;                            // four fifths of what is too much
    return (kOf + 1) * (a->second + b->second) >= kOf * result_.now.overflow;
  }

  std::vector<ChangedPlan> two_changes() const {
    std::vector<ChangedPlan> plans;
    for (auto first = changes_.begin(); first != changes_.end(); ++first)
      for (auto second = std::next(first); second != changes_.end(); ++second) {
        if (!first->saves || !second->saves || first->kind == second->kind ||
            !may_be_enough(*first, *second))
          continue;
        Strategy both = second->apply(first->apply(strategy_));
        if (std::ranges::find(of_one_, both) == of_one_.end())
          plans.push_back({{first->words, second->words}, std::move(both)});
      }
    return plans;
  }

  // Without those that cannot be lowered, and what a stop left out.
  std::vector<ChangedPlan> scored(std::vector<ChangedPlan> plans) {
    const std::size_t all = done_ + plans.size();
    std::vector<ChangedPlan> known;
    for (std::size_t first = 0; first < plans.size(); first += kTogether) {
      if (stop_.stop_requested()) {
        result_.stopped = true;
        break;
      }
      const std::size_t last = std::min(plans.size(), first + kTogether);
      score({plans.begin() + static_cast<std::ptrdiff_t>(first),
             plans.begin() + static_cast<std::ptrdiff_t>(last)},
            known);
      progress_(done_ += last - first, all);
    }
    return known;
  }

  void score(std::span<ChangedPlan> plans, std::vector<ChangedPlan>& known) try {
    std::vector<Strategy> strategies;
    for (const ChangedPlan& plan : plans) strategies.push_back(plan.strategy);
    const std::vector<Score> scores = evaluator_.evaluate(strategies);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      plans[i].score = scores[i];
      if (scores[i].feedback)
        plans[i].peak = fullest_peak(evaluator_.cluster(), *scores[i].feedback);
      known.push_back(std::move(plans[i]));
    }
  } catch (const InputError&) {
    if (plans.size() == 1) return;
    for (ChangedPlan& plan : plans) score({&plan, 1}, known);
  }

  // As fast as one before it, with as much in memory.
  static void drop_equals(std::vector<ChangedPlan>& plans) {
    const auto equal = [](const ChangedPlan& a, const ChangedPlan& b) {
      return a.score.step_time == b.score.step_time && a.score.overflow == b.score.overflow;
    };
    plans.erase(std::unique(plans.begin(), plans.end(), equal), plans.end());
  }

  void keep_what_fits(std::vector<ChangedPlan> singles, std::vector<ChangedPlan> pairs) {
    std::vector<ChangedPlan> others;
    const auto keep = [&](std::vector<ChangedPlan>& plans) {
      std::ranges::stable_sort(plans, is_faster);
      drop_equals(plans);
      const Nanos fastest =
          result_.plans.empty() ? Nanos::max() : result_.plans.front().score.step_time;
      for (ChangedPlan& plan : plans)
        if (!plan.score.feasible)
          others.push_back(std::move(plan));
        else if (plan.score.step_time < fastest)
          result_.plans.push_back(std::move(plan));
    };
    keep(singles);
    keep(pairs);
    if (!result_.plans.empty()) return;
    std::ranges::stable_sort(others, {}, [](const ChangedPlan& p) { return p.score.overflow; });
    if (others.size() > kNearest) others.resize(kNearest);
    result_.nearest = std::move(others);
  }

  const Strategy& strategy_;
  Evaluator& evaluator_;
  const std::stop_token& stop_;
  const std::function<void(std::size_t, std::size_t)>& progress_;
  const std::vector<MemoryChange> changes_;
  std::size_t done_ = 0;
  std::vector<Strategy> of_one_;        // change
  std::map<std::string, Bytes> freed_;  // by the words of a change
  FittingPlans result_;
};

}  // namespace

FittingPlans fitting_plans(const Problem& problem, const Strategy& strategy, Evaluator& evaluator,
                           const std::stop_token& stop,
                           const std::function<void(std::size_t, std::size_t)>& progress) {
  return Search(problem, strategy, evaluator, stop, progress).run();
}

}  // namespace strato
