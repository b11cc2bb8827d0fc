// The page of a comparison: every name is safe in it, whatever it is.
#include "core/compare/comparison_html.h"

#include <gtest/gtest.h>

namespace strato {
namespace {

PlanComparison hostile() {
  PlanComparison comparison;
  const std::string name = "<script>alert(\"x\")</script> & \xff\x01 \xe2\x82";
  comparison.plans.from.label = comparison.plans.to.label = name;
  comparison.plans.to.fits = false;
  comparison.plans.to.why_not = name;
  comparison.plans.from.step_time = Nanos(100);
  comparison.plans.to.step_time = Nanos(50);
  comparison.causes = {{Reason::Compute, name, Nanos(100), Nanos(50)}};
  comparison.sentence = name;
  comparison.others = {name};
  GroupChange group;
  group.name = name;
  group.decision = {name, name};
  group.differs = true;
  comparison.groups.assign(600, group);
  VariableChange variable;
  variable.name = name;
  variable.differs = true;
  comparison.variables = {variable};
  comparison.devices = {DeviceChange()};
  comparison.devices.front().name = name;
  comparison.traffic = {TrafficChange()};
  comparison.price.from = PlanPrice();
  return comparison;
}

TEST(ComparisonHtml, NamesAreSafe) {
  const std::string page = comparison_html(hostile());
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_EQ(page.find('\x01'), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
  EXPECT_NE(page.find("and 100 more"), std::string::npos);
  EXPECT_NE(page.find("</html>"), std::string::npos);
}

TEST(ComparisonHtml, OfNothing) {
  const std::string page = comparison_html(PlanComparison());
  EXPECT_NE(page.find("Nothing differs"), std::string::npos);
  EXPECT_EQ(page.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace strato
