// gdp as it is shipped, and its rounds.
#include "core/search/api/planner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

#include "core/base/error.h"
#include "core/schedule/dag/layers.h"
#include "core/schedule/list/placement.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/run/run_planner.h"
#include "tests/plugins/planners/learned/gdp/kit.h"
#include "tests/plugins/shipped.h"

namespace strato::gdp {
namespace {

PlanResult plan(const Problem& problem, PlannerOptions options,
                std::map<std::string, std::string> set) {
  options.set = std::move(set);
  options.floor = false;
  Observer quiet;
  return run_planner(*registry().planner("gdp"), problem, options, quiet, {});
}

PlannerOptions evaluations(std::int64_t count) {
  PlannerOptions options;
  options.iterations = count;
  return options;
}

Score expert_score(const Problem& problem) {
  const std::vector<DeviceId> devices = expert_devices(problem);
  std::vector<std::int32_t> choice_of;
  for (const DeviceId device : devices) choice_of.push_back(device.value());
  std::vector<Decision> choices;
  for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
    choices.push_back(decision_on_device(DeviceId(d)));
  return simulate_strategy(problem, strategy_by_ops(problem, choice_of, choices)).score;
}

TEST(Gdp, IsSoundAndBeatsThePersonOnEveryVariant) {
  const Problem problem = sample("lenet", 64, "gdp");
  for (const std::map<std::string, std::string>& set :
       {std::map<std::string, std::string>{{"mode", "one"}},
        {{"mode", "one"}, {"replicate", "false"}},
        {{"mode", "zero-shot"}},
        {{"mode", "one"}, {"attention", "false"}, {"superposition", "false"}},
        {{"variant", "paper"}, {"rollouts", "20"}, {"minibatches", "2"}, {"epochs", "1"}}}) {
    const PlanResult result = plan(problem, evaluations(60), set);
    const Problem own = problem_for(problem, result.strategy);
    ASSERT_TRUE(result.strategy.is_complete());
    validate(result.strategy, *own.grouping, *own.cluster);
    const Score score = simulate_strategy(problem, result.strategy).score;
    EXPECT_EQ(score.step_time, result.score.step_time);
    EXPECT_FALSE(expert_score(problem).better_than(result.score));
    EXPECT_LE(result.evaluations, 60);
    const bool whole = set.contains("variant") || set.contains("replicate");
    for (const auto& decision : result.strategy.groups)
      EXPECT_TRUE(!whole || decision->devices.size() == 1);
  }
}

// Thirty evaluations from what was learned on other models and clusters against thirty from
// nothing.
TEST(Gdp, StartsFromTheBundledWeights) {
  EXPECT_LE(std::filesystem::file_size(bundled_weights()), 8U << 20);
  EXPECT_EQ(Network::load(bundled_weights()).size(), NetworkSize());
  const Problem problem = sample("gnmt", 64, "gdp");
  const PlanResult trained = plan(problem, evaluations(30), {});
  const PlanResult fresh = plan(problem, evaluations(30), {{"mode", "one"}});
  EXPECT_EQ(trained.note.find("fresh"), std::string::npos);
  EXPECT_TRUE(trained.score.better_than(fresh.score));
  const PlanResult other = plan(problem, evaluations(5), {{"attention", "false"}});
  EXPECT_NE(other.note.find("fresh"), std::string::npos);
}

TEST(Gdp, TellsWhereItLooksWhenItPlacesAnOp) {
  const Problem problem = sample("lenet", 64, "gdp");
  const std::string name = problem.graph->op(OpId(1)).name;
  PlannerOptions options = evaluations(20);
  options.floor = false;
  options.set = {{"mode", "one"}, {"attention-of", name}};
  Observer quiet;
  const auto planned = [&] {
    return run_planner(*registry().planner("gdp"), problem, options, quiet, {});
  };
  const PlanResult result = planned();
  const auto told =
      std::ranges::find(result.facts, "Attention of " + name, &PlanResult::Fact::name);
  ASSERT_NE(told, result.facts.end());
  EXPECT_NE(told->value.find(" %"), std::string::npos);
  ASSERT_EQ(result.curves.back().title, "Attention of " + name);
  double sum = 0;
  for (const auto& [unit, percent] : result.curves.back().points) sum += percent;
  EXPECT_NEAR(sum, 100, 0.1);
  options.set["attention"] = "false";
  EXPECT_NE(planned().curves.back().title, "Attention of " + name);
  options.set["attention-of"] = "no such op";
  EXPECT_THROW(planned(), InputError);
}

// Without a search, of every op, from the weights that a search would begin with.
TEST(Gdp, TellsOfAnyOpWhereItLooks) {
  const Problem problem = sample("lenet", 64, "gdp");
  const auto planner = registry().planner("gdp");
  PlannerOptions options;
  const auto looks = planner->attention(problem, options);
  ASSERT_NE(looks, nullptr);
  std::vector<OpId> all;
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i) {
    all.emplace_back(i);
    const std::vector<double> of_one = looks->of({&all.back(), 1});
    ASSERT_EQ(of_one.size(), problem.graph->op_count());
    EXPECT_NEAR(std::accumulate(of_one.begin(), of_one.end(), 0.0), 1, 1e-4);
    EXPECT_GE(*std::ranges::min_element(of_one), 0);
  }
  const std::vector<double> mean = looks->of(all), none = looks->of({});
  EXPECT_NEAR(std::accumulate(mean.begin(), mean.end(), 0.0), 1, 1e-4);
  EXPECT_EQ(std::accumulate(none.begin(), none.end(), 0.0), 0);
  EXPECT_ANY_THROW(looks->of(std::vector{OpId(problem.graph->op_count())}));
  options.set = {{"segment", "64"}};  // the bundled weights are of another size
  EXPECT_THROW(planner->attention(problem, options), InputError);
  options.set = {{"mode", "one"}, {"attention", "false"}};
  EXPECT_EQ(planner->attention(problem, options), nullptr);
  options.set = {{"weights", "/no/such/file"}};
  EXPECT_THROW(planner->attention(problem, options), InputError);
  EXPECT_EQ(registry().planner("dp-allreduce")->attention(problem, {}), nullptr);
}

TEST(Gdp, DrawsWhatItsRoundsEarned) {
  const Problem problem = sample("lenet", 64, "gdp");
  for (const char* name : {"gdp", "hdp", "placeto"}) {
    PlannerOptions options = evaluations(70);
    options.floor = false;
    if (std::string_view(name) == "gdp") options.set = {{"mode", "one"}};
    Observer quiet;
    const PlanResult result = run_planner(*registry().planner(name), problem, options, quiet, {});
    ASSERT_EQ(result.curves.size(), 3U) << name;
    for (const PlanResult::Curve& curve : result.curves) {
      ASSERT_FALSE(curve.points.empty());
      EXPECT_LE(curve.points.back().first, 70) << name;
      for (std::size_t i = 0; i < curve.points.size(); ++i) {
        EXPECT_TRUE(std::isfinite(curve.points[i].second)) << name << " " << curve.name;
        EXPECT_TRUE(i == 0 || curve.points[i].first >= curve.points[i - 1].first) << name;
      }
    }
    const auto &mean = result.curves[0].points, &best = result.curves[1].points;
    ASSERT_EQ(mean.size(), best.size());
    for (std::size_t i = 0; i < mean.size(); ++i) {
      EXPECT_LE(mean[i].second, best[i].second + 1e-9) << name;
      EXPECT_TRUE(i == 0 || best[i].second >= best[i - 1].second) << name;
    }
    for (const auto& [at, entropy] : result.curves[2].points) EXPECT_GE(entropy, 0) << name;
    EXPECT_EQ(result.curves[0].title, result.curves[1].title);
  }
  EXPECT_TRUE(plan(problem, evaluations(0), {{"mode", "one"}}).curves.empty());
}

TEST(Gdp, DoesNotDependOnThreads) {
  const Problem problem = sample("lenet", 64, "gdp");
  PlannerOptions one = evaluations(80), four = evaluations(80);
  one.threads = 1;
  four.threads = 4;
  const PlanResult a = plan(problem, one, {}), b = plan(problem, four, {});
  EXPECT_EQ(a.strategy, b.strategy);
  PlannerOptions other = one;
  other.seed = 2;
  EXPECT_NO_THROW(plan(problem, other, {}));
}

// Zero-shot is how fine-tuning begins, however much of it follows.
TEST(Gdp, FineTunedIsNeverWorseThanZeroShot) {
  for (const auto& [model, cluster] :
       {std::pair("lenet", "gdp"), {"rnnlm", "gdp"}, {"bert_small", "tag-testbed"}})
    for (const char* replicate : {"true", "false"}) {
      const Problem problem = sample(model, 64, cluster);
      for (const std::uint64_t seed : {1, 2, 3})
        for (const std::int64_t few : {4, 11, 30}) {
          PlannerOptions options = evaluations(few);
          options.seed = seed;
          const PlanResult drawn =
              plan(problem, options, {{"mode", "zero-shot"}, {"replicate", replicate}});
          for (const std::int64_t more : {few, few + 23}) {
            options.iterations = more;
            const PlanResult tuned = plan(problem, options, {{"replicate", replicate}});
            EXPECT_FALSE(drawn.score.better_than(tuned.score))
                << model << " seed " << seed << ": " << few << ", " << more;
          }
        }
    }
}

TEST(Gdp, ZeroShotAsksForOneRound) {
  const Problem problem = sample("lenet", 64, "gdp");
  const PlanResult result = plan(problem, evaluations(1'000'000), {{"mode", "zero-shot"}});
  EXPECT_GE(result.evaluations, PpoOptions().rollouts);
  EXPECT_LE(result.evaluations, PpoOptions().rollouts + 20);
}

// A run that is begun again from what an earlier one found; five evaluations are not enough to find
// it.
TEST(Gdp, GoesOnFromWhatItFound) {
  const Problem problem = sample("gnmt", 64, "gdp");
  const PlanResult first = plan(problem, evaluations(60), {{"replicate", "false"}});
  PlannerOptions again = evaluations(5);
  EXPECT_TRUE(first.score.better_than(plan(problem, again, {{"replicate", "false"}}).score));
  again.seeds = {first.strategy};
  EXPECT_FALSE(first.score.better_than(plan(problem, again, {{"replicate", "false"}}).score));
}

TEST(Gdp, CopesWithLittle) {
  for (const int machines : {1, 2}) {
    const Problem problem = make_problem(toy::chain(1, 8, 16), toy::small_cluster(machines, 0), {});
    EXPECT_TRUE(plan(problem, evaluations(20), {}).score.feasible) << machines;
    EXPECT_TRUE(plan(problem, evaluations(0), {}).score.feasible) << machines;
  }
}

TEST(Gdp, StopsWithTheBestThatItHas) {
  const Problem problem = sample("lenet", 64, "gdp");
  std::stop_source stop;
  stop.request_stop();
  Observer quiet;
  const PlanResult result = run_planner(*registry().planner("gdp"), problem, evaluations(100'000),
                                        quiet, stop.get_token());
  EXPECT_TRUE(result.strategy.is_complete());
}

TEST(Gdp, RefusesOptions) {
  const Problem problem = make_problem(toy::chain(3, 8, 16), toy::small_cluster(2, 0), {});
  for (const auto& [key, value] : std::map<std::string, std::string>{{"mode", "both"},
                                                                     {"rollouts", "0"},
                                                                     {"epochs", "-1"},
                                                                     {"changes", "1.5"},
                                                                     {"rate", "nan"},
                                                                     {"colocate", "all"},
                                                                     {"weights", "/nowhere.bin"},
                                                                     {"segment", "1e9"}})
    EXPECT_THROW(plan(problem, evaluations(10), {{key, value}}), InputError) << key;
}

// Remembers what it was asked.
class Remembering final : public Evaluator {
 public:
  explicit Remembering(const Problem& problem)
      : Evaluator(*problem.cluster), inner_(make_simulating_evaluator(problem, 1)) {}
  std::vector<Score> score(std::span<const CompleteStrategy> strategies) override {
    for (const CompleteStrategy& strategy : strategies) asked.push_back(strategy.digest());
    return inner_->score(strategies);
  }
  std::vector<Digest> asked;

 private:
  std::unique_ptr<Evaluator> inner_;
};

// Also where the policy has become sure of itself by imitating the best.
TEST(Round, TriesHardlyAnythingTwice) {
  const Problem problem = make_problem(toy::chain(24, 64, 512), toy::small_cluster(4, 0), {});
  Remembering evaluator(problem);
  PlacementTask task(problem, evaluator, {});
  task.evaluate(task.known_placements());
  Network network = Network::make(tiny_network(), 1);
  PpoOptions options;
  options.learn.imitation = 5;
  options.learn.rate = 0.02;
  options.epochs = 10;
  RoundReport report;
  for (std::int64_t round = 0; round < 8; ++round)
    report = play_round(network, task, options, round, 1, 1'000'000);
  EXPECT_LT(report.entropy, 1e-6);
  const std::set<Digest> different(evaluator.asked.begin(), evaluator.asked.end());
  EXPECT_GT(different.size(), evaluator.asked.size() * 9 / 10);
}

// A pin to one of two equal devices tells them apart.
TEST(Round, NamesOfEqualDevicesCountWhereConstraintsNameThem) {
  const Problem problem = make_problem(toy::chain(4, 64, 512), toy::small_cluster(2, 0), {});
  for (const bool interchangeable : {true, false}) {
    Remembering evaluator(problem);
    PlacementOptions options;
    options.interchangeable = interchangeable;
    PlacementTask task(problem, evaluator, options);
    const std::size_t units = task.known_placements().front().size();
    const Placement first(units, 0), second(units, 1);
    EXPECT_TRUE(task.claim(first));
    EXPECT_FALSE(task.claim(first));
    EXPECT_EQ(task.claim(second), !interchangeable);
    EXPECT_EQ(task.canonical(second) == second, !interchangeable);
  }
}

TEST(Round, BeginsAsALongerOne) {
  const Network network = Network::make(tiny_network(), 1);
  const Problem problem = make_problem(toy::chain(24, 64, 512), toy::small_cluster(4, 0), {});
  for (const double changes : {0.0, 0.3, 0.5, 1.0}) {
    PpoOptions options;
    options.changes = changes;
    std::set<Digest> longer;
    for (const std::int64_t most : {32, 31, 17, 2, 1}) {
      Remembering evaluator(problem);
      PlacementTask task(problem, evaluator, {});
      task.evaluate(task.known_placements());
      EXPECT_EQ(try_round(network, task, options, 0, 7, most).report.trials, most);
      const std::set<Digest> asked(evaluator.asked.begin(), evaluator.asked.end());
      if (!longer.empty()) {
        EXPECT_TRUE(std::ranges::includes(longer, asked)) << changes << " " << most;
      }
      longer = asked;
    }
  }
}

TEST(Round, TriesBetterChangesTogether) {
  ToyTask toy(24, 4);
  Network network = Network::make(tiny_network(), 1);
  PpoOptions options;
  options.changes = 0.9;
  for (std::int64_t round = 0; round < 12; ++round) {
    const Score before = *toy.task.best_score();
    const RoundReport report = play_round(network, toy.task, options, round, 1, 1'000'000);
    EXPECT_EQ(report.trials, options.rollouts);
    EXPECT_FALSE(before.better_than(*toy.task.best_score()));
    if (toy.task.promising.empty()) continue;
    EXPECT_EQ(toy.task.promising.size(), static_cast<std::size_t>(toy.task.units().count));
  }
  for (const double changes : {0.0, 0.9, 1.0}) {
    options.changes = changes;
    EXPECT_EQ(play_round(network, toy.task, options, 99, 1, 5).trials, 5) << changes;
  }
}

TEST(Reward, IsWorseForLaterAndForWhatDoesNotFit) {
  ToyTask toy(6, 2);
  const Score best = *toy.task.best_score();
  EXPECT_NEAR(toy.task.reward(best), -1, 1e-9);
  Score later = best;
  later.step_time = best.step_time * 4;
  EXPECT_NEAR(toy.task.reward(later), -2, 1e-6);
  Score full = best;
  full.feasible = false;
  full.overflow = Bytes(1);
  EXPECT_LT(toy.task.reward(full), -1.99);
  Score fuller = full;
  fuller.overflow = Bytes(std::int64_t{1} << 33);
  EXPECT_LT(toy.task.reward(fuller), toy.task.reward(full));
  EXPECT_GE(toy.task.reward(fuller), -10);
}

}  // namespace
}  // namespace strato::gdp
