// The learned simulator: starts as the predefined model, and learns an order that it does not know.
#include "plugins/planners/learned/autodist/search/ranker.h"

#include "plugins/planners/learned/autodist/search/sampler.h"
#include "tests/plugins/planners/learned/autodist/kit.h"

namespace strato::autodist {
namespace {

struct Samples {
  explicit Samples(const Ground& ground, int count, std::uint64_t seed) : featurizer(ground.task) {
    Random random(seed);
    for (int i = 0; i < count; ++i) {
      plans.push_back(sample_plan(ground.task, {}, random));
      features.push_back(featurizer.of(plans.back()));
    }
  }
  std::vector<const PlanFeatures*> pointers() const {
    std::vector<const PlanFeatures*> all;
    for (const PlanFeatures& f : features) all.push_back(&f);
    return all;
  }
  double accuracy(const Ranker& ranker, const std::vector<double>& costs) const {
    const std::vector<double> scores = ranker.scores(pointers());
    std::vector<Judged> judged;
    for (std::size_t i = 0; i < scores.size(); ++i) judged.push_back({scores[i], costs[i]});
    return *ranking_accuracy(judged);
  }
  Featurizer featurizer;
  std::vector<SyncPlan> plans;
  std::vector<PlanFeatures> features;
};

// A cost that the predefined model knows nothing of: divided variables are dear, the more the
// earlier their gradients are made.
std::vector<double> odd_costs(const std::vector<SyncPlan>& plans) {
  std::vector<double> costs;
  for (const SyncPlan& plan : plans) {
    double cost = 0;
    for (std::size_t v = 0; v < plan.size(); ++v)
      cost += static_cast<double>(plan[v].parts.size()) * static_cast<double>(plan.size() - v);
    costs.push_back(cost);
  }
  return costs;
}

TEST(Ranker, StartsAsThePredefinedModel) {
  const Ground ground(2, 3);
  const Samples samples(ground, 60, 1);
  const CommunicationModel model(ground.task);
  std::vector<double> costs;
  for (const SyncPlan& plan : samples.plans) costs.push_back(model.seconds(plan));
  EXPECT_GT(samples.accuracy(Ranker({}, 1), costs), 0.999);
}

TEST(Ranker, LearnsFromTrialsAndRanksOthers) {
  const Ground ground(2, 3);
  const Samples seen(ground, 120, 1), unseen(ground, 80, 2);
  const std::vector<double> costs = odd_costs(seen.plans), others = odd_costs(unseen.plans);
  Ranker ranker({}, 1);
  const double before = unseen.accuracy(ranker, others);
  Random random(1);
  const double first = ranker.learn(seen.pointers(), costs, 1, random);
  ranker.learn(seen.pointers(), costs, 150, random);
  EXPECT_LT(ranker.learn(seen.pointers(), costs, 1, random), first / 2);
  EXPECT_GT(unseen.accuracy(ranker, others), 0.85);
  EXPECT_GT(unseen.accuracy(ranker, others), before + 0.1);
}

TEST(Ranker, GoesByTheOrderOfCostsOnly) {
  const Ground ground(2, 1);
  const Samples samples(ground, 30, 1);
  std::vector<double> costs = odd_costs(samples.plans), other;
  for (const double cost : costs) other.push_back(1e9 + cost * cost * cost);
  Ranker a({}, 1), b({}, 1);
  Random one(3), two(3);
  a.learn(samples.pointers(), costs, 5, one);
  b.learn(samples.pointers(), other, 5, two);
  EXPECT_EQ(a.scores(samples.pointers()), b.scores(samples.pointers()));
}

TEST(Ranker, LearnsNothingWhereAllIsEqual) {
  const Ground ground(2, 1);
  const Samples samples(ground, 10, 1);
  Ranker ranker({}, 1);
  Random random(1);
  ranker.learn(samples.pointers(), std::vector<double>(10, 4.0), 20, random);
  for (const double score : ranker.scores(samples.pointers())) EXPECT_TRUE(std::isfinite(score));
  EXPECT_EQ(ranker.learn({}, {}, 5, random), 0);
  EXPECT_TRUE(ranker.scores({}).empty());
}

TEST(Ranker, ServesModelsOfAnyLength) {
  for (const int layers : {1, 2, 40}) {
    const Ground ground(make_problem(toy::chain(layers, 8, 32), toy::small_cluster(2, 1), {}));
    const Samples samples(ground, 8, 1);
    Ranker ranker({}, 1);
    Random random(1);
    ranker.learn(samples.pointers(), odd_costs(samples.plans), 3, random);
    EXPECT_EQ(ranker.scores(samples.pointers()).size(), 8u);
  }
}

}  // namespace
}  // namespace strato::autodist
