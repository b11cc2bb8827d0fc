// Searches of which trees of version 2 are kept in tests/core/search/legacy: NAME.half as the
// program of then stored it after half the iterations, NAME.whole after all of them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/search/api/planner.h"
#include "tests/core/search/toy.h"

namespace strato::legacy {

// Prefers actions on few devices, the more so the later the group.
class FewDevices final : public PriorProvider {
 public:
  std::vector<std::vector<float>> priors(const Problem&, const std::vector<Decision>& actions,
                                         std::span<const PriorQuery> queries) override {
    std::vector<std::vector<float>> rows;
    for (const PriorQuery& query : queries) {
      auto& row = rows.emplace_back();
      for (const Decision& action : actions)
        row.push_back(1.0F /
                      static_cast<float>(1 + action.devices.size() * (1 + query.next.index())));
      float sum = 0;
      for (const float p : row) sum += p;
      for (float& p : row) p /= sum;
    }
    return rows;
  }
};

// Finished, each group that is changed makes it slower; unfinished, faster until half of them are.
inline Score deceptive(const Strategy& strategy) {
  std::int64_t changed = 0;
  for (const auto& decision : strategy.groups) changed += decision->mode == Mode::ModelParallel;
  changed = std::min(changed, static_cast<std::int64_t>(strategy.groups.size()) - changed);
  const bool plain = strategy.duplicated.empty();
  return {Nanos(plain ? 12'000 - 1'000 * changed : 10'000 + 500 * changed), true, Bytes(0),
          nullptr};
}

// Nothing fits: the more devices, the less is missing.
inline Score nothing_fits(const Strategy& strategy) {
  Score score = toy::separable(strategy);
  std::int64_t missing = 1'000'000;
  for (const auto& decision : strategy.groups)
    missing -= 1'000 * static_cast<std::int64_t>(decision->devices.size());
  score.feasible = false;
  score.overflow = Bytes(missing);
  return score;
}

struct Search {
  std::string name;
  std::int64_t half, rest;
  Problem problem;
  toy::FakeEvaluator::Formula formula;
  TreeSearchOptions options;
  bool prior = false;

  PlanResult run(std::int64_t iterations, std::shared_ptr<const SearchTree> resume) const {
    PlannerOptions common;
    common.iterations = iterations;
    common.seed = 3;
    toy::FakeEvaluator evaluator(*problem.cluster, formula);
    FewDevices few;
    PriorProvider* const asked = prior ? &few : nullptr;
    Observer nobody;
    return tree_search({problem, evaluator, common, nobody, {}, std::move(resume)}, options, asked);
  }
};

inline std::vector<Search> searches() {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 6);
  std::vector<Search> all;
  all.push_back({"uniform", 160, 160, problem, toy::separable, {}});
  all.push_back({"prior", 72, 120, problem, toy::separable, {}, true});
  all.push_back(
      {"small_space", 24, 16, toy::chain_problem(toy::small_cluster(1, 1), 3), toy::separable, {}});
  all.push_back({"nothing_fits", 96, 96, problem, nothing_fits, {}});
  Search finishing{"finishing", 200, 200, problem, deceptive, {}};
  finishing.options.finish_always = false;
  finishing.options.finish = [problem](Strategy& strategy) {
    for (const OpGroup& group : problem.grouping->groups())
      strategy.duplicated.push_back(group.ops.front());
    std::ranges::sort(strategy.duplicated);
  };
  all.push_back(finishing);
  // Finishing helps one group by little and costs another: the search goes on unfinished.
  Search unfinished{"unfinished", 400, 400, problem, {}, {}};
  const OpId good = problem.grouping->group(GroupId(1)).ops.front();
  const OpId bad = problem.grouping->group(GroupId(2)).ops.front();
  unfinished.formula = [good](const Strategy& strategy) {
    Score score = toy::separable(strategy);
    for (const OpId op : strategy.duplicated)
      score.step_time += Nanos(op == good ? -100'000 : 900'000);
    return score;
  };
  unfinished.options.finish_always = false;
  unfinished.options.finish = [good, bad](Strategy& strategy) {
    strategy.duplicated = {std::min(good, bad), std::max(good, bad)};
  };
  all.push_back(unfinished);
  return all;
}

// A search of 200 iterations of "uniform", then one of each of these steps with 8 more: a pin (what
// was found is barred), and none (it comes back).
inline SearchTree pinned(SearchTree tree) {
  pin(tree, GroupId(0), tree.actions.back());
  return tree;
}
inline SearchTree unpinned(SearchTree tree) {
  unpin(tree, GroupId(0));
  return tree;
}

}  // namespace strato::legacy
