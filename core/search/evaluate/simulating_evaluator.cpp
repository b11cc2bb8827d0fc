#include "core/search/evaluate/simulating_evaluator.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <unordered_map>

#include "core/base/parallel.h"
#include "core/program/delta/delta_lower.h"
#include "core/program/lower/lower.h"
#include "core/program/place/symmetry.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/outcome.h"
#include "core/sim/engine/delta.h"
#include "core/sim/timeline/feedback.h"

namespace strato {
namespace {

template <class Result>  // a timeline, or what a delta evaluation gives
Score score_of(const Result& result) {
  Score score;
  score.step_time = result.step_time;
  score.feasible = result.feasible;
  for (const DeviceUse& use : result.devices)
    if (!use.fits()) score.overflow += use.peak - use.capacity;
  for (const HostUse& use : result.hosts)
    if (!use.fits()) score.overflow += use.peak - use.capacity;
  return score;
}

// Each of the device's own links is as busy as its representative's.
void unfold_links(Timeline& timeline, DeviceId device, DeviceId representative) {
  const Cluster& cluster = *timeline.program->cluster;
  const std::vector<LinkId>&own = cluster.ports(device), &like = cluster.ports(representative);
  for (std::size_t i = 0; i < own.size(); ++i)
    timeline.link_busy[own[i]] = timeline.link_busy[like[i]];
}

// The devices that were left out get what their representatives have.
void unfold(Timeline& timeline, const Fold& fold) {
  if (fold.left_out == 0) return;
  for (const DeviceId device : timeline.devices.ids()) {
    if (fold.keeps(device)) continue;
    DeviceUse& use = timeline.devices[device] = timeline.devices[fold.representative[device]];
    use.resident += fold.more_resident[device];
    use.peak += fold.more_resident[device];
    if (fold.on_meshes[device]) unfold_links(timeline, device, fold.representative[device]);
    timeline.feasible = timeline.feasible && use.fits();
  }
}

// Evaluates strategies of one grouping, one at a time. A search asks for neighbours: the delta
// evaluator is set up by the first of them.
class GroupedEvaluator {
 public:
  explicit GroupedEvaluator(const Problem& problem)
      : problem_(problem),
        lowering_(problem.graph, problem.grouping, problem.cluster, problem.cost) {}

  const Digest& grouping() const { return problem_.grouping->digest(); }

  Score evaluate(const CompleteStrategy& strategy, bool with_feedback) {
    if ((delta_ && delta_->is_near(strategy)) ||
        (last_ && DeltaLowering::are_near(*strategy, **last_, *problem_.grouping)))
      return evaluate_delta(strategy, with_feedback);
    if (DeltaLowering::is_plain(*strategy)) last_ = strategy;
    return evaluate_in_full(strategy, with_feedback);
  }

 private:
  Score evaluate_delta(const CompleteStrategy& strategy, bool with_feedback) {
    if (!delta_)
      delta_ = std::make_unique<DeltaEvaluator>(problem_.graph, problem_.grouping, problem_.cluster,
                                                problem_.cost);
    Score score = score_of(delta_->evaluate(strategy));
    if (with_feedback) score.feedback = std::make_shared<const Feedback>(delta_->feedback());
    return score;
  }

  Score evaluate_in_full(const CompleteStrategy& strategy, bool with_feedback) {
    LowerOptions options;
    options.fold = &fold_;
    options.mesh_twins = true;
    timeline_.program.reset();
    if (program_.use_count() != 1) program_ = std::make_shared<Program>();
    lowering_.lower(strategy, *program_, options);
    simulator_.simulate(program_, {}, timeline_);
    unfold(timeline_, fold_);
    Score score = score_of(timeline_);
    if (with_feedback)
      score.feedback = std::make_shared<const Feedback>(feedback(timeline_, *problem_.grouping));
    return score;
  }

  Problem problem_;
  Lowering lowering_;
  Simulator simulator_;
  std::shared_ptr<Program> program_;  // its arrays, and the timeline's, are reused
  Timeline timeline_;
  Fold fold_;
  std::unique_ptr<DeltaEvaluator> delta_;
  std::optional<CompleteStrategy> last_;  // that was evaluated in full
};

// Workers race for strategies, but every score depends on its strategy alone.
class SimulatingEvaluator final : public Evaluator {
 public:
  SimulatingEvaluator(const Problem& problem, int threads, bool with_feedback)
      : Evaluator(*problem.cluster),
        problem_(problem),
        with_feedback_(with_feedback),
        workers_(thread_count(threads)) {}

  std::vector<Score> score(std::span<const CompleteStrategy> strategies) override {
    std::vector<Score> scores(strategies.size());
    const std::size_t used = std::min(workers_.size(), strategies.size());
    std::atomic<std::size_t> next = 0;
    parallel_for(used, static_cast<int>(used), [&](std::size_t w) {
      for (std::size_t i; (i = next.fetch_add(1)) < strategies.size();)
        scores[i] = workers_[w]
                        .evaluator_for(problem_, *strategies[i])
                        .evaluate(strategies[i], with_feedback_);
    });
    return scores;
  }

 private:
  static std::size_t thread_count(int threads) {
    if (threads > 0) return static_cast<std::size_t>(threads);
    return std::max<std::size_t>(1, std::thread::hardware_concurrency());
  }

  // A worker evaluates in the problem's groups, and in the last others that a strategy brought
  // along.
  struct Worker {
    GroupedEvaluator& evaluator_for(const Problem& problem, const Strategy& strategy) {
      const bool foreign =
          strategy.grouping != nullptr && strategy.grouping->digest() != problem.grouping->digest();
      std::unique_ptr<GroupedEvaluator>& evaluator = foreign ? others : own;
      if (!evaluator || (foreign && evaluator->grouping() != strategy.grouping->digest()))
        evaluator =
            std::make_unique<GroupedEvaluator>(foreign ? problem_for(problem, strategy) : problem);
      return *evaluator;
    }
    std::unique_ptr<GroupedEvaluator> own, others;
  };

  Problem problem_;
  bool with_feedback_;
  std::vector<Worker> workers_;
};

class CachingEvaluator final : public Evaluator {
 public:
  explicit CachingEvaluator(Evaluator& inner) : Evaluator(inner.cluster()), inner_(inner) {}

  std::vector<Score> score(std::span<const CompleteStrategy> strategies) override {
    std::vector<CompleteStrategy> misses;
    for (const CompleteStrategy& strategy : strategies)
      if (!known_.contains(strategy.digest()) &&
          std::ranges::count(misses, strategy.digest(), &CompleteStrategy::digest) == 0)
        misses.push_back(strategy);
    if (!misses.empty()) {
      const std::vector<Score> fresh = inner_.score(misses);
      for (std::size_t i = 0; i < fresh.size(); ++i) known_.emplace(misses[i].digest(), fresh[i]);
    }
    std::vector<Score> scores;
    for (const CompleteStrategy& strategy : strategies)
      scores.push_back(known_.at(strategy.digest()));
    return scores;
  }

 private:
  Evaluator& inner_;
  std::unordered_map<Digest, Score> known_;
};

}  // namespace

std::unique_ptr<Evaluator> make_simulating_evaluator(const Problem& problem, int threads,
                                                     bool with_feedback) {
  return std::make_unique<SimulatingEvaluator>(problem, threads, with_feedback);
}

std::unique_ptr<Evaluator> make_caching_evaluator(Evaluator& inner) {
  return std::make_unique<CachingEvaluator>(inner);
}

namespace {

Outcome simulate(const Problem& given, const Strategy& strategy, bool with_feedback,
                 const SimulateOptions& options, const LowerOptions& lower) {
  const Problem problem = problem_for(given, strategy);
  Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
  Outcome outcome;
  outcome.program = std::make_shared<const Program>(lowering.lower(strategy, lower));
  const auto timeline = std::make_shared<Timeline>(Simulator().simulate(outcome.program, options));
  if (lower.fold != nullptr && lower.fold->left_out > 0) {
    unfold(*timeline, *lower.fold);
    timeline->like = lower.fold->representative;
  }
  outcome.timeline = timeline;
  outcome.score = score_of(*timeline);
  if (with_feedback)
    outcome.score.feedback =
        std::make_shared<const Feedback>(feedback(*timeline, *problem.grouping));
  return outcome;
}

}  // namespace

Outcome simulate_strategy(const Problem& problem, const Strategy& strategy, bool with_feedback,
                          const SimulateOptions& options) {
  return simulate(problem, strategy, with_feedback, options, {});
}

// Twins are none where links are shared fairly: what one of them has depends on all.
Outcome simulate_outline(const Problem& problem, const Strategy& strategy, bool with_feedback,
                         const SimulateOptions& options) {
  constexpr std::size_t kMostTasks = 4'000'000, kMostDevices = 1024;
  if (options.fair_links) return simulate_strategy(problem, strategy, with_feedback, options);
  Fold fold;
  LowerOptions lower;
  lower.fold = &fold;
  lower.mesh_twins = true;
  lower.fold_from = problem.cluster->device_count() > kMostDevices ? 0 : kMostTasks;
  return simulate(problem, strategy, with_feedback, options, lower);
}

}  // namespace strato
