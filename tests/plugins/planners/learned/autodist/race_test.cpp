// Searches side by side: who gets the trials.
#include "plugins/planners/learned/autodist/search/race.h"

#include "tests/plugins/planners/learned/autodist/kit.h"

namespace strato::autodist {
namespace {

std::size_t replicas_of(const Strategy& strategy) {
  return strategy.groups.front()->devices.size();
}

// Where replicas are decides; each trial there is a little better than the one before, but on
// `flat` devices.
struct Slope {
  std::map<std::size_t, std::int64_t> start, tried;
  std::size_t flat = 0;
  std::vector<std::size_t> batches;  // devices of each

  std::vector<Score> run(std::span<const Strategy> strategies) {
    std::vector<Score> scores;
    batches.push_back(replicas_of(strategies.front()));
    for (const Strategy& strategy : strategies) {
      const std::size_t devices = replicas_of(strategy);
      EXPECT_EQ(devices, batches.back());
      const std::int64_t gain = devices == flat ? 0 : 10 * tried[devices];
      ++tried[devices];
      scores.push_back({Nanos(start.at(devices) - gain), true, Bytes(), nullptr});
    }
    return scores;
  }
};

Race::Options light() {
  Race::Options options;
  options.search.learned = false;
  return options;
}

Problem wide_problem() {
  return make_problem(toy::chain(24, 8, 512), toy::small_cluster(8, 0), {});
}

TEST(Race, BeginsEverywhereAndThenFavoursTheBest) {
  const Problem problem = wide_problem();
  Slope slope{{{8, 90'000}, {2, 100'000}, {3, 80'000}, {4, 70'000}, {6, 85'000}}, {}, 0, {}};
  Race race(problem, replications_of(problem, {}, true), {}, light(),
            [&](std::span<const Strategy> s) { return slope.run(s); });
  int found = 0;
  race.found = [&] { ++found; };
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(race.play(1000));
  EXPECT_EQ((std::vector(slope.batches.begin(), slope.batches.begin() + 5)),
            (std::vector<std::size_t>{8, 2, 3, 4, 6}));
  EXPECT_EQ(replicas_of(race.best_strategy()), 4U);
  EXPECT_GT(found, 4);
  EXPECT_GT(slope.tried[4], 200);
  EXPECT_GT(slope.tried[4], 4 * slope.tried[3]);
  EXPECT_GT(slope.tried[3], 10);  // the second has its turns
  EXPECT_LT(slope.tried[2], 20);
}

TEST(Race, WhatWasJudgedTooBadlyAtFirstGetsItsTurn) {
  const Problem problem = wide_problem();
  Slope slope{{{8, 90'000}, {2, 100'000}, {3, 70'010}, {4, 70'000}, {6, 85'000}}, {}, 4, {}};
  Race race(problem, replications_of(problem, {}, true), {}, light(),
            [&](std::span<const Strategy> s) { return slope.run(s); });
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(race.play(1000));
  EXPECT_EQ(replicas_of(race.best_strategy()), 3U);
  EXPECT_GT(slope.tried[3], slope.tried[4]);
}

TEST(Race, ItsHistoryIsThatOfItsTrialsInTheirOrder) {
  const Problem problem = wide_problem();
  Slope slope{{{8, 90'000}, {2, 100'000}, {3, 80'000}, {4, 70'000}, {6, 85'000}}, {}, 0, {}};
  std::vector<Nanos> told;
  Race race(problem, replications_of(problem, {}, true), {}, light(),
            [&](std::span<const Strategy> s) {
              std::vector<Score> scores = slope.run(s);
              for (const Score& score : scores) told.push_back(score.step_time);
              return scores;
            });
  for (const std::size_t most : {9, 1, 2, 50, 50, 3, 10, 7}) ASSERT_TRUE(race.play(most));
  const SearchHistory history = race.history();
  ASSERT_EQ(history.trials.size(), told.size());
  std::int64_t round = -1;
  for (std::size_t t = 0; t < told.size(); ++t) {
    EXPECT_EQ(history.trials[t].score.step_time, told[t]);
    EXPECT_GE(history.trials[t].round, round) << "rounds follow each other";
    round = history.trials[t].round;
    EXPECT_EQ(history.trials[t].hit, round >= 0 && told[t] < history.best_builder_score->step_time);
  }
  EXPECT_EQ(round + 1, std::ssize(history.rounds));
  // Builders are those on all devices, wherever it is faster.
  EXPECT_GE(history.best_builder_score->step_time, Nanos(80'000));
  EXPECT_FALSE(history.best_builder_score->better_than(*race.first_began_with()));
}

TEST(Race, EndsWhereThereIsLittleToTry) {
  const Problem problem = make_problem(toy::chain(1, 8, 4), toy::small_cluster(3, 0), {});
  Slope slope{{{3, 90'000}, {2, 100'000}}, {}, 0, {}};
  Race race(problem, replications_of(problem, {}, true), {}, light(),
            [&](std::span<const Strategy> s) { return slope.run(s); });
  int batches = 0;
  while (batches < 3000 && race.play(50)) ++batches;
  EXPECT_LT(batches, 3000);
  EXPECT_GT(slope.tried[2], 3);
}

TEST(Race, ReplicasAreOnWholeMachinesToo) {
  const Problem problem = make_problem(toy::chain(2, 8, 16), toy::small_cluster(5, 3), {});
  std::set<std::size_t> counts;
  for (const Strategy& strategy : on_fewer_devices(problem)) counts.insert(replicas_of(strategy));
  EXPECT_EQ(counts, (std::set<std::size_t>{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(replicas_of(replications_of(problem, {}, true).front()), 8U);
}

}  // namespace
}  // namespace strato::autodist
