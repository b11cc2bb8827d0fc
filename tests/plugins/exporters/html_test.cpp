// The report: a document that is well formed whatever the names are, with the figures of the plan.
#include <set>

#include "core/base/quantity_text.h"
#include "core/graph/build/graph_builder.h"
#include "tests/plugins/exporters/export_kit.h"

namespace strato {
namespace {

std::string report_of(const Exportable& what) {
  return registry().exporter("html")->write(what.input());
}

// Follows the tags to the end; what is wrong, or nothing.
std::string flaw_in(std::string_view page) {
  const std::set<std::string_view> alone{"meta", "rect", "line"};
  std::vector<std::string_view> open;
  const auto begin = page.find("<html");
  if (begin == std::string_view::npos) return "no document";
  page.remove_prefix(begin);
  while (true) {
    const auto at = page.find('<');
    const std::string_view before = page.substr(0, at);
    const bool is_style = !open.empty() && open.back() == "style";
    if (!is_style && before.find('>') != std::string_view::npos) return "a stray >";
    for (std::size_t i = 0; (i = before.find('&', i)) != std::string_view::npos; ++i)
      if (before.find(';', i) == std::string_view::npos) return "a stray &";
    if (at == std::string_view::npos)
      return open.empty() ? "" : "left open: " + std::string(open.back());
    const auto end = page.find('>', at);
    if (end == std::string_view::npos) return "a tag without end";
    const std::string_view tag = page.substr(at + 1, end - at - 1);
    page.remove_prefix(end + 1);
    if (tag.find('<') != std::string_view::npos) return "a < in a tag";
    const std::string_view name = tag.substr(
        tag.starts_with('/') ? 1 : 0, tag.find_first_of(" /", 1) - (tag.starts_with('/') ? 1 : 0));
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != name) return "closed and not open: " + std::string(name);
      open.pop_back();
    } else if (!alone.contains(name)) {
      open.push_back(name);
    }
  }
}

// A network of one op; both have this name.
Exportable named(const std::string& name) {
  GraphBuilder builder(name, 8);
  Tensor input, output;
  input.name = "x";
  input.role = TensorRole::Input;
  input.shape = output.shape = {8, 16};
  output.name = "y";
  Op op;
  op.name = name;
  op.type = "Relu";
  op.inputs = {builder.add_tensor(std::move(input))};
  op.outputs = {builder.add_tensor(std::move(output))};
  builder.add_op(std::move(op));
  Problem problem = make_problem(std::move(builder).build(), toy::small_cluster(1, 1), {});
  Strategy strategy;
  strategy.groups.resize(problem.grouping->size(), decision_on_device(DeviceId(0)));
  return {std::move(problem), std::move(strategy)};
}

TEST(HtmlReport, HasTheFiguresOfThePlan) {
  const Exportable what =
      lenet(Mode::ReplicateAllReduce, {{DeviceId(0)}, {DeviceId(1)}, {DeviceId(2)}});
  const std::string page = report_of(what);
  EXPECT_EQ(flaw_in(page), "");
  EXPECT_NE(page.find(time_text(what.outcome.score.step_time)), std::string::npos);
  EXPECT_NE(page.find("collective"), std::string::npos);
  for (std::size_t d = 0; d < what.problem.cluster->device_count(); ++d)
    EXPECT_NE(page.find(">" + what.problem.cluster->device(DeviceId(d)).name + "<"),
              std::string::npos);
  for (std::size_t g = 0; g < what.problem.grouping->size(); ++g)
    EXPECT_NE(page.find("<td>" + what.problem.grouping->group(GroupId(g)).name + "</td>"),
              std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos) << "nothing is loaded from elsewhere";
  EXPECT_EQ(page.find("Does not fit"), std::string::npos);
}

TEST(HtmlReport, IsTheSameEachTime) {
  const Exportable what = lenet(Mode::ReplicatePs, {{DeviceId(0)}, {DeviceId(1)}});
  EXPECT_EQ(report_of(what), report_of(what));
}

TEST(HtmlReport, NamesCannotBreakIt) {
  const std::string cases[] = {"</title><script>alert(1)</script>",
                               "a & b < c > d \" '",
                               "\xF0\x9F\x9A\x80 \xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D",
                               "\xFF\xFE cut \xE2\x82",
                               "\xED\xA0\x80 \xC0\xBC \x01\x1B",
                               std::string("a\0b", 3)};
  for (const std::string& name : cases) {
    const std::string page = report_of(named(name));
    EXPECT_EQ(flaw_in(page), "") << name;
    EXPECT_EQ(page.find("<script"), std::string::npos);
    EXPECT_EQ(page.find("\xED\xA0\x80"), std::string::npos);
    EXPECT_EQ(page.find("\xC0\xBC"), std::string::npos);
    EXPECT_EQ(page.find('\0'), std::string::npos);
  }
  EXPECT_NE(report_of(named(cases[2])).find(cases[2]), std::string::npos);
}

TEST(HtmlReport, TellsWhatDoesNotFit) {
  Exportable what = lenet(Mode::ReplicateAllReduce, {{DeviceId(0)}, {DeviceId(1)}});
  Timeline timeline = *what.outcome.timeline;
  timeline.devices[DeviceId(1)].capacity = Bytes(1);
  timeline.feasible = false;
  what.outcome.timeline = std::make_shared<const Timeline>(std::move(timeline));
  const std::string page = report_of(what);
  EXPECT_EQ(flaw_in(page), "");
  EXPECT_NE(page.find("Does not fit: " + what.problem.cluster->device(DeviceId(1)).name),
            std::string::npos);
}

// The picture does not grow with the number of tasks.
TEST(HtmlReport, IsSmallForALargePlan) {
  Problem problem = make_problem(sample_model("bert_large", 16), toy::small_cluster(4, 4), {});
  Strategy strategy;
  std::vector<DeviceShare> all;
  for (std::size_t d = 0; d < 8; ++d) all.push_back({DeviceId(d)});
  strategy.groups.resize(problem.grouping->size(), Decision{Mode::ReplicatePs, all});
  const Exportable what(std::move(problem), std::move(strategy));
  ASSERT_GT(what.outcome.program->tasks.size(), 10'000u);
  const std::string page = report_of(what);
  EXPECT_EQ(flaw_in(page), "");
  EXPECT_LT(page.size(), 16u * 1000 * 80 + 200'000);
}

}  // namespace
}  // namespace strato
