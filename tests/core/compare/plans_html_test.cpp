// The page of several plans: every plan, cause and device is on it, and every name is safe in it.
#include "core/compare/page/plans_html.h"

#include <gtest/gtest.h>

#include "core/base/quantity_text.h"
#include "core/compare/plan_matrix.h"
#include "core/report/markup.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "tests/property/random_problem.h"

namespace strato {
namespace {

struct Side {
  std::string label;
  Problem problem;
  Strategy strategy;
  Outcome outcome;
};

Side side_of(const std::string& label, const RandomProblem& made, const Strategy& strategy) {
  const Problem problem{made.graph, made.grouping, made.cluster, made.cost};
  Side side{label, problem, complete(strategy, *problem.cluster), {}};
  side.problem = problem_for(problem, side.strategy);
  side.outcome = simulate_strategy(problem, side.strategy, false);
  return side;
}

std::vector<PlanToCompare> to_compare(const std::vector<Side>& sides) {
  std::vector<PlanToCompare> plans;
  for (const Side& side : sides)
    plans.push_back({side.label, side.problem, side.strategy, side.outcome});
  return plans;
}

std::size_t count(const std::string& page, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = page.find(what, at)) != std::string::npos; at += what.size())
    ++found;
  return found;
}

TEST(PlansHtml, HasEveryPlanAndPictureAndAddsUp) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomProblem made = random_problem(random), other = random_problem(random);
    const std::vector<Side> sides = {side_of("first", made, random_strategy(made, random)),
                                     side_of("other model", other, random_strategy(other, random)),
                                     side_of("dp", made, random_data_parallel(made, random)),
                                     side_of("last", made, random_strategy(made, random))};
    const auto plans = to_compare(sides);
    const std::string page = plans_html(plans);
    EXPECT_EQ(count(page, "<svg"), sides.size());
    EXPECT_EQ(page.find("nan"), std::string::npos);
    for (const Side& side : sides) {
      EXPECT_NE(page.find("<h3>" + side.label + "</h3>"), std::string::npos);
      EXPECT_NE(page.find(html::figure(time_text(side.outcome.timeline->step_time))),
                std::string::npos);
    }
    const PlanMatrix matrix = compare_many(plans);
    EXPECT_NE(page.find(html::escaped(sentence_of(matrix))), std::string::npos);
    for (std::size_t p = 0; p < sides.size(); ++p) {
      Nanos sum;
      for (const MatrixCause& cause : matrix.causes) {
        ASSERT_EQ(cause.times.size(), sides.size());
        sum += cause.times[p];
      }
      EXPECT_EQ(sum, sides[p].outcome.timeline->step_time);
    }
    for (const MatrixCause& cause : matrix.causes)
      EXPECT_NE(page.find(html::cell(cause.text)), std::string::npos) << cause.text;
  }
}

TEST(PlansHtml, NamesAreSafeAndHeadingsShort) {
  Random random(5);
  const RandomProblem made = random_problem(random);
  const std::string name = "<script>alert('x')</script>&\xff" + std::string(10'000, 'n');
  const std::vector<Side> sides = {side_of(name, made, random_strategy(made, random)),
                                   side_of("b", made, random_strategy(made, random)),
                                   side_of(name, made, random_strategy(made, random))};
  const std::string page = plans_html(to_compare(sides));
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_NE(page.find("…</th>"), std::string::npos);
}

TEST(PlansHtml, OfOnePlan) {
  Random random(6);
  const RandomProblem made = random_problem(random);
  const std::vector<Side> sides = {side_of("alone", made, random_strategy(made, random))};
  const std::string page = plans_html(to_compare(sides));
  EXPECT_NE(page.find("There is one plan."), std::string::npos);
  EXPECT_NE(page.find("There is one plan, alone"), std::string::npos);
}

MatrixPlan plan_of(const std::string& label, std::int64_t milliseconds, bool fits,
                   std::int64_t batch = 8) {
  MatrixPlan plan;
  plan.figures.label = label;
  plan.figures.step_time = Nanos(milliseconds * 1'000'000);
  plan.figures.fits = fits;
  plan.figures.batch = batch;
  if (!fits) plan.figures.why_not = "gpu:0 needs more";
  return plan;
}

TEST(PlansSentence, OrdersTheOthersAndTellsWhatDoesNotFit) {
  PlanMatrix matrix;
  matrix.plans = {plan_of("slow", 200, true), plan_of("large", 10, false),
                  plan_of("best", 100, true), plan_of("next", 112, true),
                  plan_of("twin", 100, true)};
  EXPECT_EQ(
      sentence_of(matrix),
      "best is the fastest of 4 plans that fit: 100 ms a step. twin takes as long, next 12.0 % "
      "longer, slow 100 % longer. large does not fit into memory: gpu:0 needs more.");
  matrix.plans = {plan_of("a", 20, false), plan_of("b", 10, false)};
  EXPECT_EQ(
      sentence_of(matrix),
      "b is the fastest of 2 plans: 10.0 ms a step. a takes 100 % longer. None of them fits into "
      "memory.");
  matrix.plans = {plan_of("a", 20, true, 8), plan_of("b", 30, true, 16)};
  EXPECT_NE(sentence_of(matrix).find("30.0 ms a step of 16 samples. By the sample, a takes 33"),
            std::string::npos)
      << sentence_of(matrix);
}

}  // namespace
}  // namespace strato
