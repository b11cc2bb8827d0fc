// Fidelity level, rejection, and choice by score and diversity.
#include "plugins/planners/learned/autodist/plan/sync_task.h"
#include "plugins/planners/learned/autodist/search/ranker.h"
#include "tests/plugins/planners/learned/autodist/kit.h"

namespace strato::autodist {
namespace {

using Tokens = std::vector<std::vector<std::uint64_t>>;

TEST(RankingAccuracy, CountsPairsInTheRightOrder) {
  const std::vector<Judged> right = {{3, 1}, {2, 2}, {1, 3}}, wrong = {{1, 1}, {2, 2}, {3, 3}};
  EXPECT_EQ(ranking_accuracy(right), 1.0);
  EXPECT_EQ(ranking_accuracy(wrong), 0.0);
  const std::vector<Judged> one_of_three = {{2, 1}, {1, 2}, {3, 3}};
  EXPECT_DOUBLE_EQ(*ranking_accuracy(one_of_three), 1.0 / 3);
  const std::vector<Judged> undecided = {{1, 1}, {1, 2}};
  EXPECT_EQ(ranking_accuracy(undecided), 0.5);
}

TEST(RankingAccuracy, NeedsPairsThatDiffer) {
  EXPECT_FALSE(ranking_accuracy({}));
  const std::vector<Judged> equal = {{1, 5}, {2, 5}, {3, 5}};
  EXPECT_FALSE(ranking_accuracy(equal));
  EXPECT_FALSE(ranking_accuracy(std::span(equal).first(1)));
}

TEST(FidelityLevel, IsTheHighestScoreBelowWhichRankingIsRight) {
  // Scores 1 to 5 are right; among 6 to 10 the order is reversed.
  std::vector<Judged> trials;
  for (int i = 1; i <= 5; ++i) trials.push_back({double(i), 100.0 - i});
  EXPECT_EQ(fidelity_level(trials, 0.8), 5);
  for (int i = 6; i <= 10; ++i) trials.push_back({double(i), 10.0 + i});
  // All pairs across the halves are right: (45 - 10) / 45 = 0.78 for all ten; with nine it is
  // (36 - 6) / 36.
  EXPECT_EQ(fidelity_level(trials, 0.8), 9);
  EXPECT_EQ(fidelity_level(trials, 0.7), 10);
  EXPECT_EQ(fidelity_level(trials, 0.99), 6);
  EXPECT_EQ(fidelity_level(trials, 1.0), 6);
}

TEST(FidelityLevel, ThereIsNoneForGuesses) {
  const std::vector<Judged> wrong = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}};
  EXPECT_FALSE(fidelity_level(wrong, 0.8));
  const std::vector<Judged> few = {{1, 3}, {2, 2}, {3, 1}};
  EXPECT_FALSE(fidelity_level(few, 0.8));
  EXPECT_EQ(fidelity_level(few, 0.8, 2), 3);
  EXPECT_FALSE(fidelity_level({}, 0.8));
}

TEST(ChooseDiverse, GoesByScoreWhenNothingElseCounts) {
  const std::vector<double> scores = {1, 5, 3, 4};
  const Tokens tokens = {{1}, {1}, {1}, {1}};
  EXPECT_EQ(choose_diverse(scores, tokens, 3, 0), (std::vector<std::size_t>{1, 3, 2}));
  EXPECT_EQ(choose_diverse(scores, tokens, 9, 0).size(), 4u);
  EXPECT_TRUE(choose_diverse(scores, tokens, 0, 1).empty());
  EXPECT_TRUE(choose_diverse({}, {}, 3, 1).empty());
}

TEST(ChooseDiverse, PrefersWhatIsNewAtEqualScore) {
  const std::vector<double> scores = {1.0, 0.99, 0.9, 0};
  const Tokens tokens = {{1, 2}, {1, 2}, {3, 4}, {5, 6}};
  EXPECT_EQ(choose_diverse(scores, tokens, 2, 0.3), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(choose_diverse(scores, tokens, 2, 0.01), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(choose_diverse(scores, tokens, 3, 10), (std::vector<std::size_t>{0, 2, 3}));
}

// Greedy is at least 1 - 1/e of the best subset for a monotone submodular sum.
TEST(ChooseDiverse, IsCloseToTheBestSubset) {
  Random random(4);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> scores;
    Tokens tokens;
    for (int i = 0; i < 8; ++i) {
      scores.push_back(random.uniform());
      tokens.push_back({});
      for (int k = 0; k < 4; ++k) tokens.back().push_back(100 * k + random.below(3));
    }
    const auto [low, high] = std::ranges::minmax(scores);
    const auto value = [&](const std::vector<std::size_t>& subset) {
      std::set<std::uint64_t> covered;
      double sum = 0;
      for (const std::size_t i : subset) {
        sum += (scores[i] - low) / (high - low);
        covered.insert(tokens[i].begin(), tokens[i].end());
      }
      return sum + 0.7 * static_cast<double>(covered.size()) / 4;
    };
    double best = 0;
    for (std::size_t a = 0; a < 8; ++a)
      for (std::size_t b = a + 1; b < 8; ++b)
        for (std::size_t c = b + 1; c < 8; ++c) best = std::max(best, value({a, b, c}));
    EXPECT_GE(value(choose_diverse(scores, tokens, 3, 0.7)), (1 - 1 / std::exp(1.0)) * best);
  }
}

TEST(Tokens, IgnoreLabelsOfMessagesButNotTheirBorders) {
  const Ground ground;
  const SyncPlan two = build("allreduce", ground.task, {.chunk = 2});
  SyncPlan renamed = two;
  for (VariableSync& sync : renamed) sync.parts[0].merge_group += 17;
  EXPECT_EQ(tokens_of(two), tokens_of(renamed));
  const auto three = tokens_of(build("allreduce", ground.task, {.chunk = 3}));
  EXPECT_NE(tokens_of(two), three);
  EXPECT_EQ(tokens_of(two)[0], three[0]);
}

}  // namespace
}  // namespace strato::autodist
