// The attention of what is selected over the graph, driven by real events.
#include <QAction>
#include <QMenu>
#include <QTest>
#include <numeric>

#include "tests/views/models/fixture.h"
#include "views/graph/group_graph_view.h"
#include "views/style/text.h"

namespace strato {
namespace {

class GraphAttentionTest : public SessionTest {
 protected:
  void SetUp() override {
    const std::vector<PluginInfo> planners = session_.plugins().list(PluginKind::Planner);
    if (std::ranges::find(planners, "gdp", &PluginInfo::name) == planners.end())
      GTEST_SKIP() << "built without LibTorch";
    open_lenet();
    view_ = std::make_unique<GroupGraphView>(session_);
    view_->resize(1000, 600);
    view_->show();
    view_->setFocus();
    laid_out();
  }
  void laid_out() {
    ASSERT_TRUE(wait_until([&] { return view_->is_laid_out(); }));
  }
  const GraphScene& scene() { return view_->canvas().scene(); }
  void click(std::size_t node) {
    view_->canvas().centre_on(static_cast<int>(node));
    QTest::mouseClick(&view_->canvas(), Qt::LeftButton, Qt::NoModifier,
                      scene().to_view(scene().layout.nodes[node].center()).toPoint());
  }
  void looks_from(const std::string& name) {
    const QString words = QStringLiteral("Attention of ") + text(name);
    ASSERT_TRUE(wait_until([&] { return view_->legend().title == words; }))
        << view_->legend().title.toStdString();
    ASSERT_EQ(scene().values.size(), scene().content.nodes.size());
  }
  double sum() { return std::accumulate(scene().values.begin(), scene().values.end(), 0.0); }
  std::string name_of_node(std::size_t node) {
    const GraphNode& at = scene().content.nodes[node];
    return at.op.valid() ? problem().graph->op(at.op).name
                         : problem().grouping->group(at.group).name;
  }
  QAction* action(const char* name) {
    for (QAction* each : view_->bar().menu().actions())
      if (each->text() == QLatin1String(name)) return each;
    return nullptr;
  }

  std::unique_ptr<GroupGraphView> view_;
};

TEST_F(GraphAttentionTest, IsThatOfWhatIsSelected) {
  view_->set_overlay(Overlay::Attention);
  EXPECT_TRUE(view_->legend().title.startsWith("Choose an op or a group"));
  EXPECT_TRUE(scene().values.empty());
  ASSERT_GT(scene().content.nodes.size(), 2U);
  click(0);
  looks_from(name_of_node(0));
  EXPECT_NEAR(sum(), 1, 1e-3);
  EXPECT_FALSE(view_->legend().ramp.empty());
  EXPECT_EQ(view_->legend().least, "0");
  const QString tooltip = view_->canvas().tooltip_of(1);
  EXPECT_TRUE(tooltip.contains("<br>Attention of ")) << tooltip.toStdString();
  EXPECT_TRUE(tooltip.endsWith(" %")) << tooltip.toStdString();
  EXPECT_TRUE(scene().marks[0].endsWith(" %"));
  const std::vector<double> first = scene().values;
  click(2);
  looks_from(name_of_node(2));
  EXPECT_NE(scene().values, first);
  click(0);
  looks_from(name_of_node(0));
  EXPECT_EQ(scene().values, first);
  EXPECT_FALSE(view_->grab().isNull());
  session_.selection().clear();
  EXPECT_TRUE(view_->legend().title.startsWith("Choose an op or a group"));
  EXPECT_TRUE(view_->legend().ramp.empty());
  EXPECT_FALSE(view_->canvas().tooltip_of(1).contains("Choose"));
  EXPECT_TRUE(scene().values.empty());
}

// Down to single ops, whose level shows what of the attention is in it.
TEST_F(GraphAttentionTest, IsThatOfASingleOp) {
  view_->open_group(GroupId(0));
  laid_out();
  const auto& nodes = scene().content.nodes;
  const auto op =
      std::ranges::find_if(nodes, [](const GraphNode& node) { return node.op.valid(); });
  ASSERT_NE(op, nodes.end());
  const auto at = static_cast<std::size_t>(op - nodes.begin());
  click(at);
  QAction* look = action("Attention of Selection");
  ASSERT_NE(look, nullptr);
  EXPECT_TRUE(look->isEnabled());
  look->trigger();
  EXPECT_EQ(view_->overlay(), Overlay::Attention);
  looks_from(name_of_node(at));
  EXPECT_GT(sum(), 0);
  EXPECT_LE(sum(), 1 + 1e-3);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].boundary) {
      EXPECT_FALSE(view_->canvas().tooltip_of(n).contains("Attention"));
    }
  }
  view_->go_up();
  laid_out();
  ASSERT_TRUE(wait_until([&] { return scene().values.size() == scene().content.nodes.size(); }));
  EXPECT_NEAR(sum(), 1, 1e-3);
}

// What was clicked here last does not count when another view selects something else.
TEST_F(GraphAttentionTest, FollowsTheSelectionOfOtherViews) {
  view_->set_overlay(Overlay::Attention);
  click(0);
  looks_from(name_of_node(0));
  session_.selection().select_group(GroupId(1), false);
  looks_from(problem().grouping->group(GroupId(1)).name);
  session_.selection().select_groups({GroupId(0), GroupId(1)});
  looks_from("2 groups");
  session_.selection().select_groups({GroupId(999)});
  EXPECT_TRUE(view_->legend().title.startsWith("Choose"));
  session_.selection().select_op(OpId(2), problem().grouping->group_of(OpId(2)));
  looks_from(problem().graph->op(OpId(2)).name);
}

// Weights that a run has named and that are gone are told; other colours are not in the way.
TEST_F(GraphAttentionTest, SaysWhyThereIsNone) {
  GraphAttention attention(session_.plugins());
  const auto& problem = session_.snapshot().problem;
  EXPECT_EQ(attention.of(problem, {{"weights", "/no/such/file"}}, {OpId(0)}), nullptr);
  ASSERT_TRUE(wait_until([&] { return !attention.why_not().isEmpty(); }));
  EXPECT_TRUE(attention.why_not().contains("/no/such/file"));
  EXPECT_EQ(attention.of(problem, {}, {OpId(0)}), nullptr);
  EXPECT_TRUE(attention.why_not().isEmpty());
  GraphAttention::Shares shares;
  ASSERT_TRUE(
      wait_until([&] { return (shares = attention.of(problem, {}, {OpId(0)})) != nullptr; }));
  EXPECT_EQ(shares->size(), problem->graph->op_count());
  // Only the latest question is answered.
  attention.of(problem, {}, {OpId(1)});
  attention.of(problem, {}, {OpId(0), OpId(1)});
  ASSERT_TRUE(wait_until([&] {
    return (shares = attention.of(problem, {}, {OpId(0), OpId(1)})) != nullptr;
  }));
  EXPECT_NEAR(std::accumulate(shares->begin(), shares->end(), 0.0), 1, 1e-3);
}

TEST_F(GraphAttentionTest, AnotherProblemOrNoneWhileItIsUnderWay) {
  view_->set_overlay(Overlay::Attention);
  session_.selection().select_group(GroupId(0), false);
  session_.regroup(4);
  session_.settle();
  laid_out();
  session_.selection().select_group(GroupId(1), false);
  looks_from(problem().grouping->group(GroupId(1)).name);
  EXPECT_NEAR(sum(), 1, 1e-3);
  session_.selection().select_group(GroupId(2), false);
  view_.reset();  // while it is looked up
  QCoreApplication::processEvents();
}

}  // namespace
}  // namespace strato
