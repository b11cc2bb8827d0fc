#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/search/run/run_record.h"

namespace strato {
namespace {

TEST(RunCurves, ComeBackFromText) {
  const std::vector<PlanResult::Curve> curves = {
      {"Reward", "Mean", "Evaluations", "Reward", {{1, -2.5}, {1e9, 1e-9}}},
      {"Reward", "Best \"so far\"\n", "Evaluations", "Reward", {}}};
  const auto again = parse_curves(curves_text(curves), "run 1");
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].points, curves[0].points);
  EXPECT_EQ(again[1].name, curves[1].name);
  EXPECT_TRUE(again[1].points.empty());
  EXPECT_TRUE(parse_curves(curves_text({}), "run 1").empty());
}

TEST(RunCurves, WhatIsNoNumberIsLeftOut) {
  const auto again =
      parse_curves(curves_text({{"t", "n", "x", "y", {{1, NAN}, {INFINITY, 2}, {3, 4}}}}), "run 1");
  ASSERT_EQ(again[0].points.size(), 1u);
  EXPECT_EQ(again[0].points[0], std::pair(3.0, 4.0));
}

TEST(RunCurves, WhatIsDamagedIsRefused) {
  const std::string whole = curves_text({{"t", "n", "x", "y", {{1, 2}}}});
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(parse_curves(whole.substr(0, length), "run 1"), InputError) << length;
  for (const char* bad :
       {"{}", "[1]", R"([{"title":"t","name":"n","x":"x","y":"y","points":[[1]]}])",
        R"([{"title":"t","name":"n","x":"x","y":"y","points":[[1,2,3]]}])",
        R"([{"title":"t","name":"n","x":"x","y":"y","points":[[1,null]]}])",
        R"([{"title":7,"name":"n","x":"x","y":"y","points":[]}])"})
    EXPECT_THROW(parse_curves(bad, "run 1"), InputError) << bad;
}

}  // namespace
}  // namespace strato
