// The page of a comparison: every name is safe in it, whatever it is.
#include <gtest/gtest.h>

#include "core/compare/page/plans_html.h"
#include "core/sim/explain/path_pieces.h"

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

bool is_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (first >= 0x80 && first < 0xC2) return false;
    for (std::size_t k = 1; k < length; ++k)
      if (i + k >= text.size() || (static_cast<unsigned char>(text[i + k]) & 0xC0U) != 0x80U)
        return false;
    i += length;
  }
  return true;
}

// Labels beside bars are cut between characters, wherever the limit falls in their bytes.
TEST(ComparisonHtml, LabelsAreCutBetweenCharacters) {
  for (const std::string letter : {"\xE4\xB9\x99", "\xC3\xA9", "\xF0\x9F\x98\x80"}) {
    for (std::size_t before = 0; before < 4; ++before) {
      for (const std::size_t count : {43, 44, 45, 60}) {
        PlanComparison comparison;
        comparison.plans.from.step_time = Nanos(100);
        std::string label(before, 'a');
        for (std::size_t i = before; i < count; ++i) label += letter;
        comparison.plans.from.label = label;
        const std::string page = comparison_html(comparison);
        EXPECT_TRUE(is_utf8(page));
        EXPECT_EQ(page.find("\xEF\xBF\xBD"), std::string::npos) << count;  // no replacement
        const std::string bar = "<text x=\"0\" y=\"19\">";
        const std::size_t at = page.find(bar) + bar.size();
        const std::string shown = page.substr(at, page.find('<', at) - at);
        EXPECT_EQ(shown == label, count <= 44) << count << ' ' << shown;
        EXPECT_EQ(shown.ends_with("…"), count > 44) << shown;
      }
    }
  }
}

}  // namespace
}  // namespace strato
