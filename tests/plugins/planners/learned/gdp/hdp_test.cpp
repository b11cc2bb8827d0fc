// HDP's model against enumeration, and the planner as it is shipped.
#include "plugins/planners/learned/gdp/planners/hdp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/plugins/planners/learned/gdp/kit.h"
#include "tests/plugins/shipped.h"

namespace strato::gdp {
namespace {

// Every way to divide the units into 2 groups and to place both on 2 devices.
template <class Use>
void for_every_draw(const PlacementTask& task, Use&& use) {
  const auto units = static_cast<std::size_t>(task.units().count);
  for (std::uint32_t grouping = 0; grouping < 1U << units; ++grouping) {
    for (std::uint32_t placing = 0; placing < 4; ++placing) {
      HdpDraw draw;
      for (std::size_t u = 0; u < units; ++u)
        draw.group_of.push_back(static_cast<std::int32_t>(grouping >> u & 1U));
      draw.choice_of = {static_cast<std::int32_t>(placing & 1U),
                        static_cast<std::int32_t>(placing >> 1 & 1U)};
      use(draw);
    }
  }
}

double probability(HdpModel& model, const HdpDraw& draw) {
  constexpr double kNone = 0;  // no advantage, and a rate of 0: nothing moves
  return std::exp(-model.learn({&draw, 1}, {&kNone, 1}, 0));
}

PlacementOptions whole_devices() {
  PlacementOptions options;
  options.replicate = false;
  return options;
}

TEST(Hdp, ProbabilitiesOfAllDrawsAddUpToOne) {
  const ToyTask toy(4, 2, whole_devices());
  HdpModel model(toy.task.features(), 3);
  ASSERT_EQ(model.groups(), 2);
  double sum = 0;
  for_every_draw(toy.task, [&](const HdpDraw& draw) { sum += probability(model, draw); });
  EXPECT_NEAR(sum, 1, 1e-4);
}

TEST(Hdp, DrawsAsOftenAsItSays) {
  const ToyTask toy(4, 2, whole_devices());
  HdpModel model(toy.task.features(), 3);
  constexpr int kDraws = 4000;
  double expected = 0, seen = 0;  // that the first unit is on the first device
  for_every_draw(toy.task, [&](const HdpDraw& draw) {
    if (draw.placement()[0] == 0) expected += probability(model, draw);
  });
  Random random(5);
  for (const HdpDraw& draw : model.draw(kDraws, random)) seen += draw.placement()[0] == 0 ? 1 : 0;
  EXPECT_NEAR(seen / kDraws, expected, 5 * std::sqrt(expected * (1 - expected) / kDraws));
}

TEST(Hdp, LearnsWhatIsRewarded) {
  const ToyTask toy(4, 2, whole_devices());
  HdpModel model(toy.task.features(), 3);
  Random random(5);
  for (int round = 0; round < 150; ++round) {
    const std::vector<HdpDraw> draws = model.draw(16, random);
    std::vector<double> advantages;
    for (const HdpDraw& draw : draws) {
      double second = 0;  // units on the second device
      for (const std::int32_t choice : draw.placement()) second += choice;
      advantages.push_back(second - toy.task.units().count / 2.0);
    }
    model.learn(draws, advantages, 0.01);
  }
  double second = 0;
  for (const HdpDraw& draw : model.draw(200, random))
    for (const std::int32_t choice : draw.placement())
      second += choice / (200.0 * toy.task.units().count);
  EXPECT_GT(second, 0.9);
}

TEST(Hdp, IsSoundAsItIsShipped) { sound_plan_of("hdp"); }

}  // namespace
}  // namespace strato::gdp
